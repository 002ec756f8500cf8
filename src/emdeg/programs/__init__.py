"""Straight-line programs: data, tracing, counting, simplification, verification; the search is `search`."""

from emdeg.mechanics.functions import FUNCTIONS
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
from emdeg.programs.proofs import verify_program
from emdeg.programs.simplify import simplify
from emdeg.programs.split import split_constants, split_rates
from emdeg.programs.trace import Traced, Tracer
from emdeg.programs.values import evaluate
from emdeg.programs.verify import Certificate, float_error, verify

__all__ = [
    "FUNCTIONS",
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
