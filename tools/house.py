"""The house in one picture: docs/images/house.svg, from the plan in pyproject.toml and each room's first sentence.

python -m tools.house
"""

from __future__ import annotations

import ast
import textwrap
from html import escape
from pathlib import Path

from tools.walk import HOME, OWN, PLAN

PICTURE = HOME / "docs" / "images" / "house.svg"
SOURCE = HOME / "src" / "emdeg"
WIDTH, NAME, LINE, PAD, GAP = 900, 150, 17, 10, 8
STYLE = (
    "text{font:13px sans-serif;fill:#1f2933}.name{font-weight:bold}rect{fill:#eef3f8;stroke:#7b8794}"
    ".own rect{fill:#fff7e6}.note{font-style:italic;fill:#52606d}"
)


def sentence(room: str) -> str:
    """What a room says it is for: the first paragraph of its `__init__`."""
    body = ast.get_docstring(ast.parse((SOURCE / room / "__init__.py").read_text(encoding="utf-8"))) or ""
    return " ".join(body.split("\n\n")[0].split())


def drawn() -> str:
    """The picture: a box a room, the plan from the top downward, the command line last."""
    rooms = [room for room in PLAN if (SOURCE / room / "__init__.py").exists()] + [OWN]
    boxes, y = [], 40
    for room in rooms:
        said = textwrap.wrap(sentence(room), 105)
        height = max(1, len(said)) * LINE + 2 * PAD - 4
        lines = "".join(
            f'<text x="{NAME}" y="{y + PAD + 12 + LINE * k}">{escape(line)}</text>' for k, line in enumerate(said)
        )
        boxes.append(
            f"<g{' class=' + chr(34) + 'own' + chr(34) if room == 'cli' else ''}>"
            f'<rect x="10" y="{y}" width="{WIDTH - 20}" height="{height}" rx="5"/>'
            f'<text class="name" x="22" y="{y + PAD + 12}">{room}</text>{lines}</g>'
        )
        y += height + GAP
    note = "A room imports only from the rooms above it, and what they export by name."
    about = f'viewBox="0 0 {WIDTH} {y}" role="img" aria-label="The rooms of emdeg"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {about}>\n'
        f"<style>{STYLE}</style>\n"
        f'<text class="note" x="12" y="24">{note}</text>\n' + "\n".join(boxes) + "\n</svg>\n"
    )


def main() -> None:
    """Draws it anew."""
    PICTURE.write_text(drawn(), encoding="utf-8")
    print(f"wrote {PICTURE.relative_to(Path.cwd()) if PICTURE.is_relative_to(Path.cwd()) else PICTURE}")


if __name__ == "__main__":
    main()
