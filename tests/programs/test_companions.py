"""What CasADi looks for beside a function: blocks of nonzeros that are the function's derivatives."""

import numpy as np
import pytest

import emdeg
from emdeg.dynamics import kind_of
from emdeg.dynamics.functions import evaluate as numbers
from emdeg.programs import companions_of, count, evaluate, slopes_on_file
from emdeg.programs.build import plain_program


def full(pattern, entries):
    matrix = np.zeros((pattern.rows, pattern.columns))
    for (i, j), value in zip(pattern.places, entries, strict=True):
        matrix[i, j] = value
    return matrix


def outputs_of(one, given):
    found = {}
    for program in (one.program, one.jacobian):
        if program is not None:
            found |= evaluate(program, {group.name: given[group.name] for group in program.inputs})
    nonzeros = {name: found[array][list(places)] for name, (array, places) in one.taken.items()}
    return {name: full(pattern, nonzeros.get(name, ())) for name, pattern in one.outputs}


@pytest.mark.parametrize(
    ("name", "function"), [("scara", "forward_dynamics"), ("puma560", "gravity"), ("fourbar", "gravity")]
)
def test_companions_are_the_derivatives_by_dual_numbers(name, function):
    robot = emdeg.load(name)
    program = plain_program(robot, function)
    (y,), (size,) = zip(*((group.name, len(group.entries)) for group in program.outputs))
    rng = np.random.default_rng(1)
    x = {group.name: rng.uniform(-1, 1, group.size) for group in program.inputs}
    c, t = rng.standard_normal(size), {a: rng.standard_normal(len(v)) for a, v in x.items()}
    given = {**x, f"adj_{y}": c, f"adj_fwd_{y}": c, **{f"fwd_{a}": v for a, v in t.items()}}
    found = {one.prefix: outputs_of(one, given) for one in companions_of(program)}
    jvp = numbers(f"{function}_jvp", robot, {**x, **{f"{a}_t": v for a, v in t.items()}})
    np.testing.assert_allclose(found["fwd1"][f"fwd_{y}"][:, 0], jvp, atol=1e-9)
    blocks = [found["jac"][f"jac_{y}_{a}"] for a in x]
    np.testing.assert_allclose(sum(J @ t[a] for J, a in zip(blocks, x)), jvp, atol=1e-9)
    for J, a in zip(blocks, x):
        np.testing.assert_allclose(found["adj1"][f"adj_{a}"][:, 0], c @ J, atol=1e-9)
        np.testing.assert_allclose(found["jac_adj1"][f"jac_adj_{a}_adj_{y}"], J.T, atol=1e-9)
        assert not found["jac_adj1"][f"jac_adj_{a}_out_{y}"].any()
    lower = numbers(f"{function}_hessian", robot, {**x, f"{y}_c": c})
    H = np.block([[found["jac_adj1"][f"jac_adj_{a}_{b}"] for b in x] for a in x])
    np.testing.assert_allclose(H[np.tril_indices(len(H))], lower, atol=1e-8)
    np.testing.assert_allclose(H, H.T)
    bent = numbers(f"{function}_hvp", robot, {**x, f"{y}_c": c, **{f"{a}_t": v for a, v in t.items()}})
    for (a, J), expected in zip(zip(x, blocks), bent if len(x) > 1 else [bent]):
        np.testing.assert_allclose(found["adj1_fwd1"][f"adj_{a}"][:, 0], expected, atol=1e-8)
        np.testing.assert_allclose(found["adj1_fwd1"][f"adj_fwd_{a}"][:, 0], c @ J, atol=1e-9)
    assert ("fwd1_jac" in found) == (sum(map(len, x.values())) == 1)
    if "fwd1_jac" in found:
        ((a, v),) = t.items()
        np.testing.assert_allclose(c @ found["fwd1_jac"][f"fwd_jac_{y}_{a}"], H @ v, atol=1e-8)


def test_what_is_zero_for_every_state_is_left_out():
    (jacobian, *_) = companions_of(plain_program(emdeg.load("puma560"), "gravity"))
    ((name, pattern),) = jacobian.outputs
    assert (name, pattern.rows, pattern.columns) == ("jac_g_q", 6, 6)
    # Turning about gravity, or about the last axis, changes nothing; nothing turns the last joint.
    assert all(row != 5 and column not in (0, 5) for row, column in pattern.places)
    assert list(pattern.places) == sorted(pattern.places, key=lambda place: place[::-1])


def test_the_package_s_short_jacobians_take_the_place_of_longer_ones():
    robot = emdeg.load("ur5e")
    program, slopes = emdeg.program(robot, "inverse_dynamics"), slopes_on_file(robot, ["inverse_dynamics"])
    own, handed = (next(iter(companions_of(program, one))) for one in (None, slopes))
    assert handed.inputs == own.inputs
    assert [name for name, _ in handed.outputs] == [name for name, _ in own.outputs]
    assert count(handed.program).total < 0.7 * count(own.program).total
    # Open parameters are differentiated by too, and no arm's mass matrix is a mechanism's.
    assert slopes_on_file(emdeg.load("ur5e", payload="mass=mL,com=0:0:0@link6"), ["inverse_dynamics"]) is None
    assert slopes_on_file(emdeg.load("delta"), ["inverse_dynamics"]) is None


@pytest.mark.parametrize(
    ("name", "function"),
    [("puma560", "gravity"), ("puma560", "kinetic_energy"), ("ur5e", "inverse_dynamics"), ("palletiser", "bias")],
)
def test_every_place_of_a_pattern_has_an_entry_somewhere(name, function):
    """What vanishes for all inputs is left out, also where no operation shows it: nothing turns about the vertical."""
    robot, rng = emdeg.load(name), np.random.default_rng(2)
    program = plain_program(robot, function)
    home = kind_of(robot).home(robot)
    for one in companions_of(program):
        if not one.prefix.startswith("jac"):
            continue
        largest = {}
        for _ in range(6):
            inputs = [*one.program.inputs, *([] if one.jacobian is None else one.jacobian.inputs)]
            given = {group.name: rng.uniform(-0.5, 0.5, group.size) for group in inputs}
            given["q"] = given["q"] + home
            for block, matrix in outputs_of(one, given).items():
                largest[block] = np.maximum(largest.get(block, 0.0), np.abs(matrix))
        for block, pattern in one.outputs:
            assert all(largest[block][place] > 1e-10 for place in pattern.places), block
