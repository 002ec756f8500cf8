"""The packages in one picture: docs/images/architecture.svg, from the layers in pyproject.toml and their docstrings.

python -m tools.architecture
"""

from __future__ import annotations

import ast
import textwrap
from html import escape
from pathlib import Path

from tools.walk import HOME, OWN, PLAN

PICTURE = HOME / "docs" / "images" / "architecture.svg"
SOURCE = HOME / "src" / "emdeg"
WIDTH, NAME, LINE, PAD, GAP = 900, 150, 17, 10, 8
STYLE = (
    "text{font:13px sans-serif;fill:#1f2933}.name{font-weight:bold}rect{fill:#eef3f8;stroke:#7b8794}"
    ".own rect{fill:#fff7e6}.note{font-style:italic;fill:#52606d}"
)


def sentence(package: str) -> str:
    """The purpose of a package: the first paragraph of its `__init__`."""
    body = ast.get_docstring(ast.parse((SOURCE / package / "__init__.py").read_text(encoding="utf-8"))) or ""
    return " ".join(body.split("\n\n")[0].split())


def drawn() -> str:
    """The picture: a box for each package, from the lowest layer down to the command line."""
    packages = [package for package in PLAN if (SOURCE / package / "__init__.py").exists()] + [OWN]
    boxes, y = [], 40
    for package in packages:
        said = textwrap.wrap(sentence(package), 105)
        height = max(1, len(said)) * LINE + 2 * PAD - 4
        lines = "".join(
            f'<text x="{NAME}" y="{y + PAD + 12 + LINE * k}">{escape(line)}</text>' for k, line in enumerate(said)
        )
        boxes.append(
            f"<g{' class=' + chr(34) + 'own' + chr(34) if package == 'cli' else ''}>"
            f'<rect x="10" y="{y}" width="{WIDTH - 20}" height="{height}" rx="5"/>'
            f'<text class="name" x="22" y="{y + PAD + 12}">{package}</text>{lines}</g>'
        )
        y += height + GAP
    note = "A package imports only from the packages above it, and only names that they export."
    about = f'viewBox="0 0 {WIDTH} {y}" role="img" aria-label="The packages of emdeg"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {about}>\n'
        f"<style>{STYLE}</style>\n"
        f'<text class="note" x="12" y="24">{note}</text>\n' + "\n".join(boxes) + "\n</svg>\n"
    )


def main() -> None:
    """Draw the picture again."""
    PICTURE.write_text(drawn(), encoding="utf-8")
    print(f"wrote {PICTURE.relative_to(Path.cwd()) if PICTURE.is_relative_to(Path.cwd()) else PICTURE}")


if __name__ == "__main__":
    main()
