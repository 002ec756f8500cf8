"""Robots, programs and certificates made to deceive: every digest is right, and what is said is wrong."""

from __future__ import annotations

import copy
import hashlib
import json
import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import emdeg
from emdeg.algebra import Angle, P, PrimeColumns, prime_of, residue_of
from emdeg.codegen.artefact import Request, emit
from emdeg.codegen.rechecking import recheck
from emdeg.codegen.verbs import recheck_file, write
from emdeg.errors import NotCertified
from emdeg.programs import Program, count, evaluate, from_data, reference_program, to_data
from emdeg.programs.ir import Dependence, Kind, Op
from emdeg.programs.proof import Proof
from tests.adversary.forging import FORGERIES, last_output, number, with_last_output


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
    mass = nothing_modulo([P, *PrimeColumns(0).columns], 4, 167)
    assert all(residue_of(Fraction(mass), prime) == 0 for prime in (P, *PrimeColumns(0).columns))
    path = tmp_path / "heavy.toml"
    path.write_text(heavy(mass))
    robot = emdeg.load(path)
    found = emdeg.optimise(robot, function, effort=0.3).program
    state = {group.name: np.linspace(0.3, 0.9, group.size) for group in found.inputs}
    (value,) = evaluate(found, state).values()
    np.testing.assert_allclose(value, getattr(emdeg, function)(robot, *state.values()), rtol=1e-9)


@pytest.fixture(scope="module")
def genuine() -> emdeg.codegen.Artefact:
    (made,) = emdeg.generate("planar2r", "inverse_dynamics")
    return made


def forged(genuine, program: Program | None = None, **changes: Any) -> tuple[bytes, dict[str, Any]]:
    """Text and certificate of another program, with other words in the certificate; whatever can be computed is."""
    data = copy.deepcopy(genuine.certificate) | changes
    if program is not None:
        data["program"] = to_data(program)
    program = from_data(data["program"])
    request = Request(**{**data["request"], "functions": tuple(data["request"]["functions"])})
    text = emit(program, data["robot"]["name"], request).encode()
    data["digest"] = hashlib.sha256(text).hexdigest()
    data["operations"] = count(program).as_dict()
    try:
        reference = reference_program(emdeg.load("planar2r"), request.functions)
        degree, bits, miss = Proof(program, reference, list).chance()
        data |= {"degree_bound": degree, "height_bound": bits, "false_pass_probability": miss ** data["points"]}
    except (emdeg.errors.EmdegError, ValueError):
        pass  # no proof of it could have been made
    return text, json.loads(json.dumps(data))


def refused(text: bytes, certificate: dict[str, Any], word: str) -> None:
    with pytest.raises(NotCertified, match=word):
        recheck(text, certificate)


def test_the_forger_s_own_copy_of_a_genuine_artefact_is_verified(genuine):
    text, certificate = forged(genuine)
    assert text.decode() == genuine.text
    assert recheck(text, certificate).by


def angle_as_value(program: Program) -> Program:
    """x + 5, the 5 being an angle."""
    x, n = last_output(program), program.size
    angle = Op(Kind.ANGLE, payload=Angle(radians=Fraction(5)))
    return with_last_output(program, [angle, Op(Kind.ADD, (x, n))], n + 1)


def congruent_for_the_seed(program: Program) -> Program:
    """A constant that is another one modulo the prime of the stored seed."""
    place = next(index for index, op in enumerate(program.ops) if op.kind is Kind.NUMBER)
    ops = list(program.ops)
    ops[place] = number(ops[place].number + prime_of("0 and 0 0"))
    return replace(program, ops=tuple(ops))


def root_of_a_negative(program: Program) -> Program:
    """x + r r - u with r the root of u = -1 - x^2: no real number."""
    x, n = last_output(program), program.size
    ops = [
        Op(Kind.MUL, (x, x)),
        number(-1),
        Op(Kind.SUB, (n + 1, n)),
        Op(Kind.SQRT, (n + 2,)),
        Op(Kind.MUL, (n + 3, n + 3)),
        Op(Kind.SUB, (n + 4, n + 2)),
        Op(Kind.ADD, (x, n + 5)),
    ]
    return with_last_output(program, ops, n + 6)


def zero_of_constants(program: Program) -> Program:
    """x d / d with d = 4 c^3 - 3 c - 1/2 and c = cos 20 degrees, which is zero and no formula says so."""
    x, n = last_output(program), program.size
    ops = [
        Op(Kind.ANGLE, payload=Angle(Fraction(1, 9))),
        Op(Kind.COS, (n,)),
        Op(Kind.MUL, (n + 1, n + 1)),
        number(Fraction(4)),
        Op(Kind.MUL, (n + 2, n + 3)),
        number(Fraction(3)),
        Op(Kind.SUB, (n + 4, n + 5)),
        Op(Kind.MUL, (n + 6, n + 1)),
        number(Fraction(1, 2)),
        Op(Kind.SUB, (n + 7, n + 8)),
        Op(Kind.MUL, (x, n + 9)),
        Op(Kind.DIV, (n + 10, n + 9)),
    ]
    return with_last_output(program, ops, n + 11)


def tower(program: Program) -> Program:
    """x + 0 * 3^(2^60), which nobody can write down."""
    x, n = last_output(program), program.size
    ops = [number(3), *(Op(Kind.MUL, (n + k, n + k)) for k in range(60))]
    ops += [Op(Kind.SUB, (n + 60, n + 60)), Op(Kind.ADD, (x, n + 61))]
    return with_last_output(program, ops, n + 62)


REASONS: dict[str, tuple[Callable[[Program], Program], str]] = {
    "vanishing_divisor": (FORGERIES["vanishing_divisor"], "divides by something"),
    "cancellation": (FORGERIES["cancellation"], "executed in floating point"),
    "congruent_constant": (FORGERIES["congruent_constant"], "differs"),
    "multiple_of_the_prime": (FORGERIES["multiple_of_the_prime"], "differs"),
    "wrong_root": (FORGERIES["wrong_root"], "takes a root"),
    "zeros": (FORGERIES["zeros"], "differs"),
    "swapped_outputs": (FORGERIES["swapped_outputs"], "differs"),
    "angle_as_value": (angle_as_value, "outside sines and cosines"),
    "congruent_for_the_seed": (congruent_for_the_seed, "differs"),
    "root_of_a_negative": (root_of_a_negative, "takes a root"),
    "zero_of_constants": (zero_of_constants, "divides by something"),
}


@pytest.mark.parametrize("name", REASONS)
def test_a_forged_program_is_refused_whatever_the_seed(name, genuine):
    forgery, word = REASONS[name]
    for seed in (0, 5):
        refused(*forged(genuine, forgery(from_data(genuine.certificate["program"])), seed=seed), word)


def test_every_forgery_of_the_poisoners_has_a_reason():
    assert set(FORGERIES) <= set(REASONS)


def test_a_tower_of_powers_is_refused_at_once(genuine):
    data = copy.deepcopy(genuine.certificate)
    data["program"] = to_data(tower(from_data(data["program"])))
    refused(genuine.text.encode(), data, "too many digits|too large a number")


@pytest.mark.parametrize("places", range(1, 26, 6))
def test_cancellation_of_every_size_that_loses_digits_is_refused(places, genuine):
    def lossy(program: Program) -> Program:
        x, n = last_output(program), program.size
        ops = [number(10**places), Op(Kind.ADD, (x, n)), Op(Kind.SUB, (n + 1, n))]
        return with_last_output(program, ops, n + 2)

    text, certificate = forged(genuine, lossy(from_data(genuine.certificate["program"])))
    if places > 4:
        refused(text, certificate, "executed in floating point")


def relabelled(genuine, change: Callable[[Any], Any]) -> Program:
    program = from_data(genuine.certificate["program"])
    return replace(program, inputs=tuple(change(group) for group in program.inputs))


def test_labels_sizes_and_rates_are_the_function_s(genuine):
    for change in (
        lambda group: replace(group, labels=group.labels[::-1]),
        lambda group: replace(group, labels=("q1", "q2") if group.name == "qd" else group.labels),
        lambda group: replace(group, labels=tuple(f"{label} [deg]" for label in group.labels)),
        lambda group: replace(group, depends=Dependence.CONFIGURATION if group.name == "qd" else group.depends),
    ):
        refused(*forged(genuine, relabelled(genuine, change)), "inputs or their labels")


def test_another_robot_under_the_library_s_name_is_refused_by_its_command(genuine, tmp_path):
    robot = emdeg.load("planar2r", gravity=(0, -5, 0))
    (made,) = emdeg.generate(robot, "inverse_dynamics", words=["planar2r", "--gravity=0,-5,0"])
    assert recheck(made.text.encode(), made.certificate)
    request = made.certificate["request"]
    request = request | {"command": request["command"].replace(" --gravity=0,-5,0", "")}
    refused(*forged(made, request=request), "names the library's planar2r, and its robot is another")
    (one,) = write([made], tmp_path)
    with pytest.raises(NotCertified, match="it is not of this robot"):
        emdeg.verify(one.path, of="planar2r")
    assert emdeg.verify(one.path, of=robot)["robot_note"] == "it is planar2r"
    assert "not the library's" in emdeg.verify(one.path)["robot_note"]


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"command": "emdeg generate puma560 --function=inverse_dynamics --target=c --out=."}, "its command is not"),
        ({"command": "emdeg generate planar2r --function=gravity --target=c --out=."}, "its command is not"),
        ({"command": "rm -rf / # emdeg generate planar2r"}, "its command is not"),
        ({"command": "emdeg generate planar2r '"}, "No closing quotation"),
        ({"command": "emdeg"}, "its command is not"),
        ({"robot_name": "puma560"}, "its command is not"),
        ({"functions": ["inverse_dynamics", "gravity"]}, "its command is not"),
        ({"batch": True}, "its command is not"),
    ],
)
def test_the_header_s_command_makes_this_file_and_no_other(change, word, genuine):
    refused(*forged(genuine, request=genuine.certificate["request"] | change), word)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"units": {"q": "deg", "qd": "rad/s", "qdd": "rad/s^2", "tau": "N m"}}, "units is"),
        ({"units": {}}, "units is"),
        ({"reviewed_by": "somebody"}, "says what is not checked: reviewed_by"),
        ({"emdeg": "0.2.0; trust me"}, "its version is none"),
        ({"artefact": "puma560_inverse_dynamics.c"}, "artefact is"),
        ({"rounding": {"states": 40, "largest": 0.0, "allowed": 1e9}}, "rounding is"),
        ({"rounding": {"states": 0, "largest": 0.0, "allowed": 32.0}}, "rounding is"),
        ({"rounding": "none"}, "rounding is"),
        ({"divides_by": [[3, "nobody"]]}, "divides_by is"),
        ({"roots_of": [[3, "nobody"]]}, "roots_of is"),
        ({"points": 10**9}, "points must be"),
        ({"seed": -1}, "its seed is no whole number"),
    ],
)
def test_every_word_of_a_certificate_is_checked(change, word, genuine):
    refused(*forged(genuine, **change), word)


def test_a_robot_is_its_normal_form_under_its_name(genuine):
    robot = genuine.certificate["robot"]
    for change in (
        {"name": "puma560"},
        {"toml": robot["toml"] + "# masses in grams\n"},
        {"toml": robot["toml"].replace('name = "planar2r"', 'name = "planar2r"\ntitle = "PUMA 560"')},
        {"digest": "0" * 64},
        {"more": "words"},
    ):
        refused(*forged(genuine, robot=robot | change), "stored robot|its robot is")


@pytest.mark.parametrize(
    "edit",
    [
        lambda ops, outputs: ops.__setitem__(0, "number nan"),
        lambda ops, outputs: ops.__setitem__(0, "number inf"),
        lambda ops, outputs: ops.__setitem__(0, "number 1e400"),
        lambda ops, outputs: ops.__setitem__(0, "number 1/0"),
        lambda ops, outputs: outputs.append(copy.deepcopy(outputs[0])),
        lambda ops, outputs: outputs[0].__setitem__(0, "q"),
        lambda ops, outputs: ops.append("exec 1 2"),
    ],
)
def test_what_is_no_program_is_damaged(edit, genuine):
    data = copy.deepcopy(genuine.certificate)
    edit(data["program"]["ops"], data["program"]["outputs"])
    refused(genuine.text.encode(), data, "damaged")


def test_json_says_everything_once_and_in_numbers(genuine, tmp_path):
    (one,) = write([genuine], tmp_path)
    beside = Path(f"{one.path}.certificate.json")
    text = beside.read_text()
    for old, new in (
        ('"seed": 0', '"seed": 0, "seed": 0'),
        ('"seed": 0', '"seed": NaN'),
        ('"seed": 0', '"seed": Infinity'),
    ):
        beside.write_text(text.replace(old, new, 1))
        with pytest.raises(NotCertified, match="is no JSON"):
            recheck_file(one.path)
