"""The scalars: exact numbers and angles, trigonometric polynomials, residues modulo a prime, doubles."""

from emdeg.algebra.angle import Angle
from emdeg.algebra.arrays import Array
from emdeg.algebra.exact import Exact, is_symbol_name, parse_number
from emdeg.algebra.generator import Generator
from emdeg.algebra.prime_field import P, PrimeField, Residue
from emdeg.algebra.scalar import Algebra, Floats, add_angles, multiple_angle
from emdeg.algebra.trig_algebra import TrigAlgebra
from emdeg.algebra.trig_poly import TrigPoly

__all__ = [
    "Algebra",
    "Angle",
    "Array",
    "Exact",
    "Floats",
    "Generator",
    "P",
    "PrimeField",
    "Residue",
    "TrigAlgebra",
    "TrigPoly",
    "add_angles",
    "is_symbol_name",
    "multiple_angle",
    "parse_number",
]
