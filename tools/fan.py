"""One program becoming many, in one picture: docs/images/targets.svg, from the table of targets.

python -m tools.fan
"""

from __future__ import annotations

import ast
import re
from html import escape

from emdeg.codegen import TARGETS
from tools.architecture import HOME, SOURCE, STYLE

PICTURE = HOME / "docs" / "images" / "targets.svg"
WIDTH, ROW, RIGHT, LEFT = 900, 30, 400, 250


def said(target: str) -> str:
    """What a target's folder says it is: the first line of its `__init__`, its first clause."""
    text = (SOURCE / "codegen" / target / "__init__.py").read_text(encoding="utf-8")
    line = (ast.get_docstring(ast.parse(text)) or "").splitlines()[0]
    return re.split(r"[,;] |\.$", line.split(": ", 1)[-1])[0]


def drawn() -> str:
    """The picture: the proved program on the left, a line to every target."""
    height = ROW * len(TARGETS) + 20
    middle = height / 2
    lines = [
        f'<rect x="10" y="{middle - 46:g}" width="{LEFT - 10}" height="92" rx="5"/>',
        f'<text class="name" x="24" y="{middle - 20:g}">one program</text>',
        f'<text x="24" y="{middle + 2:g}">a straight line of operations,</text>',
        f'<text x="24" y="{middle + 20:g}">proved modulo random primes</text>',
    ]
    for place, name in enumerate(TARGETS):
        y = 10 + ROW * place
        across = f"M{LEFT} {middle:g} C{LEFT + 80} {middle:g} {RIGHT - 80} {y + 12} {RIGHT} {y + 12}"
        lines += [
            f'<path d="{across}" fill="none" stroke="#7b8794"/>',
            f'<g class="own"><rect x="{RIGHT}" y="{y}" width="{WIDTH - RIGHT - 10}" height="{ROW - 6}" rx="5"/></g>',
            f'<text class="name" x="{RIGHT + 10}" y="{y + 17}">{escape(name)}</text>',
            f'<text x="{RIGHT + 80}" y="{y + 17}">{escape(said(name))}</text>',
        ]
    about = f'viewBox="0 0 {WIDTH} {height}" role="img" aria-label="One program becomes code for every target"'
    body = "\n".join(lines)
    return f'<svg xmlns="http://www.w3.org/2000/svg" {about}>\n<style>{STYLE}</style>\n{body}\n</svg>\n'


def main() -> None:
    """Draws it anew."""
    PICTURE.write_text(drawn(), encoding="utf-8")
    print(f"wrote {PICTURE}")


if __name__ == "__main__":
    main()
