"""Short models as artefacts: function and error are proved, and both are repeated by `verify`."""

from __future__ import annotations

import copy
import json
import keyword
import shutil
import subprocess

import pytest

import emdeg
from emdeg.approximation import make_approximate_artefact
from emdeg.approximation.code import recheck_approximate
from emdeg.codegen import identifier, write
from emdeg.errors import NotCertified, Refuted
from tests.emitted import STRICT


@pytest.fixture(scope="module")
def short():
    return emdeg.abbreviate("planar3r", significance=0.3)


@pytest.fixture(scope="module")
def made(short):
    return make_approximate_artefact(short, file="short.c")


def test_the_file_and_its_certificate_are_verified_again(made, tmp_path):
    (one,) = write([made], tmp_path)
    found = emdeg.verify(one.path)
    assert found["short"]["certified_error"] == made.certificate["short"]["certified_error"]
    assert max(found["short"]["certified_error"]) > 0
    assert found["false_pass_probability"] < 1e-15


def test_a_smaller_error_another_model_or_another_program_is_refused(made, short):
    text = made.text.encode()
    errors = made.certificate["short"]["certified_error"]
    worst = errors.index(max(errors))

    def forged(change):
        data = copy.deepcopy(made.certificate)
        change(data)
        return json.loads(json.dumps(data))

    def smaller_error(data):
        data["short"]["certified_error"][worst] *= 0.5

    def larger_effort(data):
        data["short"]["largest_effort"][0] *= 2

    def other_entry(data):
        data["short"]["entries"]["M33"][0][0] = "17/100"

    def no_entries(data):
        data["short"]["entries"] = {}

    def wider_box(data):
        data["short"]["box"]["speed"] = [100.0, 100.0, 100.0]

    def other_robot(data):
        data["robot"]["toml"] = data["robot"]["toml"].replace("planar3r", "planar3x")

    for change in (smaller_error, larger_effort, other_entry, no_entries, wider_box, other_robot):
        with pytest.raises(NotCertified):
            recheck_approximate(text, forged(change))
    with pytest.raises(NotCertified, match="its digest is not the certificate's"):
        recheck_approximate(text.replace(b"qdd[0]", b"qdd[1]"), made.certificate)
    exact = emdeg.program("planar3r", "inverse_dynamics")
    with pytest.raises(Refuted):
        make_approximate_artefact(short, exact, file="short.c")


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
@pytest.mark.parametrize("name", ["short", "double", "main", "sqrt", "read", "gamma", "int", "y1"])
def test_no_file_name_makes_a_function_that_c_has_already(made, short, name, tmp_path):
    artefact = make_approximate_artefact(short, file=f"{name}.c")
    (one,) = write([artefact], tmp_path)
    flags = [*STRICT, "-Wshadow", "-c", str(one.path), "-o", str(tmp_path / "it.o")]
    done = subprocess.run(["gcc", *flags], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert f"void robot_{name}(" in artefact.text


def test_no_word_of_python_is_a_name():
    assert all(identifier(word).startswith("robot_") for word in keyword.kwlist if word.islower())
    assert identifier("puma_short") == "puma_short"
