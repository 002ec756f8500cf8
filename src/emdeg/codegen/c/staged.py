"""The statements of a long function, stage by stage."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from emdeg.codegen.infix import Language, body
from emdeg.programs import HELD, RESULTS, Slot, Stage

STAGE = 500
"""Operations of a stage: gcc made the shortest code of programs of 3,600 and 4,400 with 400 to 600."""
_NEXT = f"EMDEG_NEXT({HELD});"
# What a stage hands on is read from memory by the next: gcc would keep all of it for the whole function instead.
BETWEEN_STAGES = (
    "#ifndef EMDEG_NEXT",
    "#if defined(__GNUC__) && !defined(__clang__)",
    '#define EMDEG_NEXT(held) __asm__ volatile("" : : "r"(held) : "memory")',
    "#else",
    "#define EMDEG_NEXT(held)",
    "#endif",
    "#endif",
)


def staged_statements(
    stages: Sequence[Stage], real: str, language: Callable[[Callable[[str, int], str]], Language]
) -> list[str]:
    """Each stage in a block of its own, and the array between them; `language` by how an array's entry is written."""
    held = max((place + 1 for stage in stages for name, place in stage.places if name == HELD), default=1)
    lines = [f"{real} {HELD}[{held}];"]
    for number, stage in enumerate(stages):

        def element(name: str, place: int, places: Sequence[Slot] = stage.places) -> str:
            array, at = places[place] if name == RESULTS else (name, place)
            return f"{array}[{at}]"

        own = body(stage.program, replace(language(element), apart=True))
        lines += [*([_NEXT] if number else []), "{", *("    " + line for line in own), "}"]
    return lines
