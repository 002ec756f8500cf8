"""Inverse Jacobians as they are printed: read back they are the inverse, in factors, whatever the robot's symbols."""

from __future__ import annotations

import re

import numpy as np
import pytest
import sympy

import emdeg
from emdeg.algebra import Exact, parse_number
from emdeg.equations import write
from emdeg.equations.model import Model
from emdeg.robot import substitute
from emdeg.robot.model import Robot
from tests.equations import printed

VALUE = {"a2": "0.43", "a3": "-0.02", "d2": "0.24", "d3": "-0.09", "d4": "0.43"}
TWO_BARS = """
schema = 1
name = "bars"
convention = "modified"
[[link]]
name = "upper"
joint = {{ name = "j1", type = "revolute", alpha = "90 deg" }}
[[link]]
name = "fore"
joint = {{ name = "j2", type = "revolute", a = "{0}" }}
[tool]
xyz = ["{1}", "{2}", 0]
"""


def read_back(model: Model, rows: tuple[int, ...] | None = None) -> tuple[sympy.Matrix, str]:
    """(the inverse as a reader would understand the page, the page)."""
    page = write(model, parts=["Jinv"], frame="base", rows=rows)
    assert not re.search(r"[-*/]-[\w(]", page)  # one sign a term
    n = model.n
    body = re.sub(r"\n +(?=[-+/] )", " ", page)
    if (whole := re.search(r"^(\w+) =\n((?:  \[ .* \]\n)+)", body, re.M)) is not None:
        cells = [re.split(r" {3,}", row.strip(" []")) for row in whole[2].strip().splitlines()]
        body += "".join(f"\n  [{i},{j}] = {cell}" for i, row in enumerate(cells, 1) for j, cell in enumerate(row, 1))
    body = re.sub(r"^  \[(\d),(\d)\] = ", r"entry_\1_\2 = ", body, flags=re.M)
    found = printed.definitions(printed.text_equations(body), printed.names_of(model, page, False))
    return sympy.Matrix(n, n, lambda i, j: found.get((f"entry_{i + 1}_{j + 1}", ""), 0)), page


def agrees(robot: Robot, inverse: sympy.Matrix, values: dict[str, str], rows: tuple[int, ...]) -> None:
    q = np.random.default_rng(5).uniform(0.4, 1.3, robot.n)
    at = {sympy.Symbol(f"q{k}", real=True): value for k, value in enumerate(q, 1)}
    at |= {sympy.Symbol(name, real=True): sympy.Rational(value) for name, value in values.items()}
    numbers = {name: Exact.of(parse_number(value)) for name, value in values.items()}
    J = emdeg.jacobian(substitute(robot, numbers), q)[[row - 1 for row in rows]]
    found = np.array(inverse.subs(at).evalf(), dtype=float)
    np.testing.assert_allclose(found, np.linalg.inv(J), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("ur5e", None),
        ("stanford_arm", None),
        ("jpl_rrp", None),
        ("planar3r", (1, 3, 5)),
        ("scara", (1, 2, 3, 6)),
    ],
)
def test_the_printed_inverse_is_the_inverse(name, rows):
    inverse, page = read_back(emdeg.derive(name, "g"), rows)
    agrees(emdeg.load(name), inverse, {}, rows or tuple(range(1, 7)))
    assert max(map(len, page.splitlines())) < 260


def test_the_pumas_inverse_is_printed_in_the_determinants_factors():
    robot = emdeg.load("puma560_symbolic")
    lengths = substitute(robot, {name: Exact.of(0) for name in robot.symbols - VALUE.keys()})
    inverse, page = read_back(emdeg.derive(lengths, "g"))
    agrees(lengths, inverse, VALUE, tuple(range(1, 7)))
    page = write(emdeg.derive(robot, "g"), parts=["Jinv"])
    assert "detJ = -a2*S5*detJ_1*detJ_2\n" in page
    assert "  [2,1] = a3 / (a2*detJ_1)\n" in page
    assert "  [2,3] = (d2 + d3)*(a3*C23 + d4*S23) / (a2*detJ_1*detJ_2)\n" in page


@pytest.mark.parametrize("names", [("detJ_1", "detJ", "s2"), ("a", "S12", "C1"), ("detJ", "sigma1", "c_2")])
def test_no_name_of_a_factor_is_taken_for_the_robots(names, tmp_path):
    file = tmp_path / "bars.toml"
    file.write_text(TWO_BARS.format(*names))
    inverse, _ = read_back(emdeg.derive(file, "g"), (1, 3))
    agrees(emdeg.load(file), inverse, dict(zip(names, ("0.4", "0.3", "0.1"))), (1, 3))


@pytest.mark.parametrize("form", ["latex", "mathml", "markdown"])
def test_typeset_the_inverse_has_the_same_factors(form):
    page = write(emdeg.derive("puma560_symbolic", "g"), form, parts=["Jinv"])
    fraction = {"mathml": "<mfrac>"}.get(form, r"\frac{a_{3}}{a_{2}\,\mathrm{detJ}_{1}}")
    assert fraction in page
