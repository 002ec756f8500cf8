"""Run the notebooks of this folder and store their outputs.

    python -m examples.run_notebooks [NAME ...]

`make notebooks` does it for all. `differences` says how a new run differs from what is stored, which the tests ask.
Cells tagged `varies` (times) may differ. Needs the extra `docs`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent
SECONDS = 300


def notebooks() -> list[Path]:
    return sorted(FOLDER.glob("[0-9]*.ipynb"))


def read(path: Path) -> Any:
    import nbformat

    return nbformat.read(path, as_version=4)


def executed(path: Path) -> Any:
    """The notebook with the outputs of a run from the beginning, and nothing else that changes from run to run."""
    from nbclient import NotebookClient

    notebook = read(path)
    NotebookClient(
        notebook, timeout=SECONDS, kernel_name="python3", resources={"metadata": {"path": str(FOLDER)}}
    ).execute()
    notebook.metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    for number, cell in enumerate(notebook.cells, 1):
        cell.id = f"cell-{number}"
        cell.metadata = {"tags": cell.metadata["tags"]} if "tags" in cell.metadata else {}
        if cell.cell_type == "code":
            cell.execution_count = None
            cell.outputs = joined(cell.outputs)
            for output in cell.outputs:
                if output.output_type == "execute_result":
                    output["execution_count"] = None
                output.get("metadata", {}).clear()
    return notebook


def joined(outputs: list[Any]) -> list[Any]:
    """Lines printed one after the other as one output: how a kernel cuts them depends on the clock."""
    found: list[Any] = []
    for output in outputs:
        last = found[-1] if found else None
        if last is not None and output.output_type == last.output_type == "stream" and output.name == last.name:
            last.text += output.text
        else:
            found.append(output)
    return found


def differences(stored: Any, new: Any) -> list[str]:
    """What a reader of the stored notebook would not see today, cell by cell."""
    found = []
    for number, (old_cell, new_cell) in enumerate(zip(stored.cells, new.cells, strict=True), 1):
        if old_cell.cell_type == "code" and "varies" not in old_cell.metadata.get("tags", ()):
            old, now = shown(old_cell), shown(new_cell)
            if old != now:
                found.append(f"cell {number} shows\n{now}\nand stored is\n{old}")
    return found


def shown(cell: Any) -> str:
    """A cell's outputs as text; of a picture only that it is there."""
    parts = []
    for output in cell.outputs:
        data = output.get("data", {})
        if "image/png" in data:
            parts.append("[picture]")
        else:
            parts.append("".join(output.get("text", data.get("text/html", data.get("text/plain", "")))))
    return "\n".join(parts)


def main(names: list[str]) -> None:
    import nbformat

    for path in notebooks():
        if not names or path.stem in names:
            nbformat.write(executed(path), path)
            print(f"{path.name}: {path.stat().st_size / 1024:.0f} KiB")


if __name__ == "__main__":
    main(sys.argv[1:])
