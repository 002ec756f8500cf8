"""What the site's build makes: pages of the stored notebooks, the list of decisions, the catalogue of functions."""

from __future__ import annotations

import base64
import inspect
import json
import re
from html import escape
from pathlib import Path

from mkdocs.structure.files import File

import emdeg
from emdeg.dynamics.functions import FUNCTIONS

EXAMPLES = Path(__file__).parents[2] / "examples"


def on_files(files, config):
    """Adds a page (and its pictures) for each notebook."""
    for notebook in sorted(EXAMPLES.glob("[0-9]*.ipynb")):
        text, pictures = page(notebook)
        files.append(File.generated(config, f"examples/{notebook.stem}.md", content=text))
        for name, content in pictures.items():
            files.append(File.generated(config, f"examples/{name}", content=content))
    return files


def on_page_markdown(markdown: str, page, config, **_) -> str:
    """Fills in the lists; a bar in code inside a table is escaped for code hosts, and here it is not."""
    markdown = re.sub(r"`[^`\n]*`", lambda code: code[0].replace(r"\|", "|"), markdown)
    if page.file.src_uri == "api/index.md":
        return markdown.replace("<!-- list of functions -->", functions())
    if page.file.src_uri != "decisions/index.md":
        return markdown
    folder = Path(config["docs_dir"]) / "decisions"
    titles = [(file.name, file.read_text(encoding="utf-8").splitlines()[0]) for file in sorted(folder.glob("0*.md"))]
    rows = [f"- [{re.sub('^# ', '', title)}]({name})" for name, title in titles]
    return markdown.replace("<!-- list of decisions -->", "\n".join(rows))


def functions() -> str:
    """The functions of the catalogue that are at the top of the package, as they describe themselves."""
    parts = []
    for name, entry in FUNCTIONS.items():
        function = getattr(emdeg, name, None)
        if function is None:
            continue
        words, _, example = inspect.getdoc(function).partition(">>> ")
        parts.append(f"### `{name}(robot, {', '.join(entry.inputs)})` {{ #emdeg.{name} }}")
        parts += [words.strip(), f"```pycon\n>>> {example}\n```"]
    return "\n\n".join(parts)


def page(notebook: Path) -> tuple[str, dict[str, bytes]]:
    """The notebook as Markdown, and its pictures by name."""
    parts: list[str] = []
    pictures: dict[str, bytes] = {}
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source.replace("](../docs/", "](../"))
            continue
        parts.append(f"```python\n{source}\n```")
        for output in cell["outputs"]:
            name = f"{notebook.stem}_{len(pictures) + 1}.png"
            parts.append(shown(output, name, pictures))
    parts.append(f"*Stored in `examples/{notebook.name}`; `make notebooks` runs it again.*")
    return "\n\n".join(part for part in parts if part), pictures


def shown(output: dict, name: str, pictures: dict[str, bytes]) -> str:
    """One output of a cell: a picture, HTML, or text."""
    data = output.get("data", {})
    if "image/png" in data:
        pictures[name] = base64.b64decode(data["image/png"])
        return f"![Figure]({name})"
    if "text/html" in data:
        html = re.sub(r"\n\s*", " ", "".join(data["text/html"]))  # an empty line would end the HTML block
        return f'<div class="cell-output">{html}</div>'
    text = "".join(output.get("text", data.get("text/plain", "")))
    return f'<div class="cell-output"><pre><code>{escape(text.rstrip())}</code></pre></div>' if text else ""
