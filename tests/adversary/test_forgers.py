"""Robots, programs and certificates made to deceive: every digest is right, and what is said is wrong."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import emdeg
from emdeg.algebra import P, residue_of
from emdeg.programs import evaluate
from emdeg.programs.search.fingerprint import primes


def nothing_modulo(moduli: list[int], near: int, decimals: int) -> str:
    """A number about `near`, in decimals, that every modulus divides."""
    product = math.prod(moduli)
    digits = -(-near * 10**decimals // product) * product
    return f"{digits // 10**decimals}.{digits % 10**decimals:0{decimals}d}"


def heavy(mass: str) -> str:
    return f"""schema = 1
name = "heavy"
convention = "modified"

[[link]]
name = "upper"
joint = {{ name = "shoulder", type = "revolute", alpha = "90 deg" }}
inertia = {{ about = "com", mass = 2, com = [0.3, 0, 0], Ixx = 0.1, Iyy = 0.1, Izz = 0.1 }}

[[link]]
name = "fore"
joint = {{ name = "elbow", type = "revolute", a = 1 }}
inertia = {{ about = "com", mass = {mass}, com = [0.5, 0, 0] }}
"""


@pytest.mark.parametrize("function", ["gravity", "inverse_dynamics", "mass_matrix"])
def test_a_mass_that_is_nothing_modulo_known_primes_weighs_what_it_weighs(function, tmp_path):
    """A number of many decimals may be a multiple of any prime that is known before: 2^61 - 1, and the search's."""
    mass = nothing_modulo([P, *primes()], 4, 167)
    assert all(residue_of(Fraction(mass), prime) == 0 for prime in (P, *primes()))
    path = tmp_path / "heavy.toml"
    path.write_text(heavy(mass))
    robot = emdeg.load(path)
    found = emdeg.optimise(robot, function, effort=0.3).program
    state = {group.name: np.linspace(0.3, 0.9, group.size) for group in found.inputs}
    (value,) = evaluate(found, state).values()
    np.testing.assert_allclose(value, getattr(emdeg, function)(robot, *state.values()), rtol=1e-9)
