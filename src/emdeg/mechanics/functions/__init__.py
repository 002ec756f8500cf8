"""The catalogue of functions, and its run over doubles."""

from emdeg.mechanics.functions.catalogue import FUNCTIONS
from emdeg.mechanics.functions.function import INPUTS, Function, Input, Output, Ways
from emdeg.mechanics.functions.lookup import functions_of, inputs_of, known_functions, measures_of, ways_of
from emdeg.mechanics.functions.numeric import NumericFunction, evaluate

__all__ = [
    "FUNCTIONS",
    "INPUTS",
    "Function",
    "Input",
    "NumericFunction",
    "Output",
    "Ways",
    "evaluate",
    "functions_of",
    "inputs_of",
    "known_functions",
    "measures_of",
    "ways_of",
]
