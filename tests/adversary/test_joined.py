"""Certificates of libraries and of short programs, forged: what they say is what is checked, as of any other file."""

from __future__ import annotations

import copy
import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import emdeg
from emdeg.approximation import Approximation, make_approximate_artefact
from emdeg.approximation.code import recheck_approximate
from emdeg.bounds import CertifiedExtremum
from emdeg.codegen import verify
from emdeg.codegen.c import COptions, emit_c
from emdeg.codegen.fmu import recheck_fmu
from emdeg.codegen.verbs import CERTIFICATE
from emdeg.errors import NotCertified
from emdeg.programs import Program, count, from_data, to_data
from emdeg.robot import workspace
from tests.adversary.forging import FORGERIES


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("library")
    emdeg.generate("planar2r", ["gravity", "mass_matrix"], library=True, out=folder)
    return folder


def restated(folder: Path, change: Callable[[dict[str, Any]], None], file: str = "planar2r_shared.c") -> Path:
    """The library's file, its certificate changed."""
    beside = folder / f"planar2r_shared.c{CERTIFICATE}"
    data = json.loads(beside.read_text())
    change(data)
    (folder / f"{file}{CERTIFICATE}").write_text(json.dumps(data))
    return folder / file


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (lambda c: c.update(digest="0" * 64), "it is not planar2r_shared.c"),
        (lambda c: c.update(artefact="puma560_shared.c"), "it is not planar2r_shared.c"),
        (lambda c: c["robot"].update(name="puma560"), "different robots"),
        (lambda c: c["robot"].update(toml="nothing"), "different robots"),
        (lambda c: c.update(reviewed_by="somebody"), "says what is not checked: reviewed_by"),
        (lambda c: c["library"].update(reviewed_by="somebody"), "says what is not checked"),
        (lambda c: c.update(emdeg="trust me"), "its version is none"),
        (lambda c: c["library"].update(members=[]), "damaged"),
        (lambda c: c["library"].update(members=["planar2r_shared.c"]), "damaged|not certified|no function"),
        (lambda c: c["library"].update(members=["../planar2r_gravity.c"]), "another folder"),
        (lambda c: c["library"].update(members=["planar2r_gravity.c"] * 300), "more than 200 members"),
        (lambda c: c["library"].update(members="planar2r_gravity.c"), "cannot be read|no certificate|damaged"),
        (lambda c: c.update(library=[]), "damaged"),
        (lambda c: c.update(library=None), "damaged"),
    ],
)
def test_every_word_of_a_library_s_certificate_is_checked(change, word, library, tmp_path):
    folder = Path(shutil.copytree(library, tmp_path / "copy"))
    with pytest.raises((NotCertified, emdeg.RobotError), match=word):
        verify(restated(folder, change))


def test_a_library_s_certificate_says_nothing_about_another_file(library, tmp_path):
    folder = Path(shutil.copytree(library, tmp_path / "copy"))
    (folder / "evil.c").write_text("int main(void) { return 1; }\n")
    with pytest.raises(NotCertified, match=r"it is not planar2r_shared\.c"):
        verify(restated(folder, lambda data: None, "evil.c"))


@pytest.fixture(scope="module")
def short() -> emdeg.codegen.Artefact:
    """The exact program as a short one whose error is nothing."""
    robot, exact = emdeg.load("planar2r"), emdeg.program("planar2r", "inverse_dynamics")
    none = (CertifiedExtremum(0.0, 0.0, {}),) * 2
    found = Approximation(robot, "inverse_dynamics", exact, exact, workspace(robot), none, (1.0, 1.0), (0.0, 0.0))
    return make_approximate_artefact(found, file="short.c", command="emdeg abbreviate planar2r --emit short.c")


def forged(made: emdeg.codegen.Artefact, change: Callable[[dict[str, Any]], None]) -> tuple[bytes, dict[str, Any]]:
    """A short program's text and certificate after a change; text, digest and counts are computed again."""
    data = copy.deepcopy(made.certificate)
    change(data)
    program = from_data(data["program"])
    options = COptions(multirate=True, robot=data["robot"]["name"], command=data["short"]["command"])
    text = emit_c(program, options, name="short").encode()
    data |= {"digest": hashlib.sha256(text).hexdigest(), "operations": count(program).as_dict()}
    return text, json.loads(json.dumps(data))


def replaced(forgery: Callable[[Program], Program]) -> Callable[[dict[str, Any]], None]:
    return lambda data: data.update(program=to_data(forgery(from_data(data["program"]))))


def test_the_forger_s_copy_of_a_short_program_is_verified(short):
    assert recheck_approximate(*forged(short, lambda data: None)).functions


@pytest.mark.parametrize("name", FORGERIES)
def test_a_short_program_that_is_said_to_be_exact_is_held_to_it(name, short):
    with pytest.raises(NotCertified):
        recheck_approximate(*forged(short, replaced(FORGERIES[name])))


def swapped_labels(data: dict[str, Any]) -> None:
    for group in data["program"]["inputs"]:
        group[3] = group[3][::-1]


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (swapped_labels, "labels are not the function's"),
        (lambda c: c["short"].update(command="emdeg abbreviate puma560"), "names the library's puma560"),
        (lambda c: c["short"].update(command="rm -rf /"), "its command is not one"),
        (lambda c: c["short"].update(certified_error=["0", "0"]), "are no numbers"),
        (lambda c: c["short"].update(certified_error=[False, False]), "are no numbers"),
        (lambda c: c["short"].update(reviewed_by="somebody"), "what it says about the short program"),
        (lambda c: c.update(reviewed_by="somebody"), "says what is not checked: reviewed_by"),
        (lambda c: c.update(emdeg="0.2.0; trust me"), "its version is none"),
        (lambda c: c.update(seed=-1), "its seed is no whole number"),
        (lambda c: c.update(points=10**9), "points must be"),
        (lambda c: c.update(false_pass_probability=1e-99), "false_pass_probability is"),
        (lambda c: c.update(rounding={"states": 0, "largest": 0.0, "allowed": 32.0}), "rounding is"),
        (lambda c: c.update(float_error_ulps={"tau": -1e9}), "float_error_ulps is"),
        (lambda c: c.update(primes="2"), "primes is"),
    ],
)
def test_every_word_of_a_short_program_s_certificate_is_checked(change, word, short):
    with pytest.raises(NotCertified, match=word):
        recheck_approximate(*forged(short, change))


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (lambda c: c.update(emdeg="trust me"), "its version is none"),
        (lambda c: c.update(reviewed_by="somebody"), "says what is not checked: reviewed_by"),
        (lambda c: c["fmu"]["request"].update(command="rm -rf /"), "its command is not one"),
        (lambda c: c["fmu"]["request"].update(command="emdeg generate puma560 --target=fmu"), "the library's puma560"),
        (lambda c: c.update(fmu=[]), "damaged"),
        (lambda c: c["fmu"].update(members={}), "its functions are not those"),
        (lambda c: [one.update(robot=None) for one in c["fmu"]["members"].values()], "damaged"),
        (lambda c: [one.update(program={"ops": []}) for one in c["fmu"]["members"].values()], "damaged"),
    ],
)
def test_every_word_of_an_fmu_s_certificate_is_checked(change, word, unit):
    data = copy.deepcopy(unit.certificate)
    change(data)
    with pytest.raises(NotCertified, match=word):
        recheck_fmu(unit.text, data)


@pytest.fixture(scope="module")
def unit() -> emdeg.codegen.Artefact:
    (made,) = emdeg.generate("planar2r", None, "fmu")
    return made
