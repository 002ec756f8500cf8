"""Straight-line programs: data, tracing, counting, simplification, verification."""

from emdeg.program.build import UnknownFunction, program
from emdeg.program.count import Count, count, count_by_dependence
from emdeg.program.evaluate import evaluate
from emdeg.program.functions import FUNCTIONS
from emdeg.program.ir import Dependence, InputGroup, Kind, Op, OutputGroup, Program, Ref
from emdeg.program.reference import verify_program
from emdeg.program.simplify import simplify
from emdeg.program.split import split_constants, split_rates
from emdeg.program.trace import Traced, Tracer
from emdeg.program.verify import Certificate, Refuted, float_error, verify

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
    "Refuted",
    "Traced",
    "Tracer",
    "UnknownFunction",
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
