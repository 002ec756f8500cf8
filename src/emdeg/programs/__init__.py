"""Straight-line programs: data, tracing, counting, simplification, verification; the search is `search`."""

from typing import TYPE_CHECKING

from emdeg.programs.best import program
from emdeg.programs.ir import (
    Count,
    Dependence,
    InputGroup,
    Kind,
    Op,
    OutputGroup,
    Program,
    Ref,
    count,
    count_by_dependence,
)

if TYPE_CHECKING:
    from emdeg.programs.simplification import simplify, split_constants, split_rates
    from emdeg.programs.trace import Traced, Tracer
    from emdeg.programs.values import evaluate
    from emdeg.programs.verification import Certificate, float_error, verify, verify_program


def _tracing() -> dict[str, object]:
    """Loaded when asked for: what a stored program is counted without, and the mechanics behind it."""
    from emdeg.programs.simplification import simplify, split_constants, split_rates
    from emdeg.programs.trace import Traced, Tracer
    from emdeg.programs.values import evaluate
    from emdeg.programs.verification import Certificate, float_error, verify, verify_program

    return locals()


def __getattr__(name: str) -> object:
    if name not in _tracing.__code__.co_varnames:
        raise AttributeError(f"module 'emdeg.programs' has no attribute {name!r}")
    globals().update(_tracing())
    return globals()[name]


__all__ = [
    "Certificate",
    "Count",
    "Dependence",
    "InputGroup",
    "Kind",
    "Op",
    "OutputGroup",
    "Program",
    "Ref",
    "Traced",
    "Tracer",
    "count",
    "count_by_dependence",
    "evaluate",
    "float_error",
    "program",
    "simplify",
    "split_constants",
    "split_rates",
    "verify",
    "verify_program",
]
