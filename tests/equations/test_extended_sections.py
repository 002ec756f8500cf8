"""Extended bodies in print: each line computes with those before it, and what comes out is M."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import emdeg
from emdeg.documents import Equation, MatrixEquation
from emdeg.equations import document
from tests import commands

TWO_ARMS = Path(__file__).parents[1] / "data" / "robots" / "two_arms.urdf"
SCHEMES = ("diagonal", "across", "down")


@pytest.mark.parametrize("name", ["planar3r", "scara", "stanford_arm", "puma560_emdeg"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_lines_compute_the_mass_matrix_each_from_those_before(name, scheme):
    model = emdeg.derive(name, "M")
    random = np.random.default_rng(6)
    q = random.uniform(-3, 3, model.n)
    known = {parameter: random.uniform(0.5, 2) for parameter in model.algebra.parameters}
    found = {}
    (section,) = document(model, ["extended"], scheme=scheme).sections
    for item in section.items:
        if isinstance(item, MatrixEquation):
            rows = [[float(entry.evaluate(q, parameters=known)) for entry in row] for row in item.rows]
            for a, row in zip("xyz", rows):
                for b, value in zip("xyz" if len(row) > 1 else ("",), row):
                    known[f"{item.label}{a}{b}"] = value
        elif isinstance(item, Equation):
            found[str(item.label)] = float(item.value.evaluate(q, parameters=known))
    for i in range(model.n):
        for j in range(i, model.n):
            truth = float(model.M[i][j].evaluate(q, parameters=known))
            assert found[f"M{i + 1}{j + 1}"] == pytest.approx(truth, rel=1e-9, abs=1e-9)


def test_a_robot_that_branches_has_no_extended_bodies_and_is_told_so():
    done = commands.run("derive", str(TWO_ARMS), "--only", "extended")
    assert done.returncode == 3
    assert "extended bodies are for serial robots; this one branches" in done.stderr


def test_the_schemes_differ():
    texts = [commands.run("derive", "scara", "--only", "extended", "--scheme", one).stdout for one in SCHEMES]
    assert len(set(texts)) == 3
    assert all("U1 =" in text and "I12" in text and "M11 = " in text for text in texts)


def test_json_has_them_too():
    done = commands.run("derive", "scara", "--only", "extended", "--scheme", "down", "--json")
    assert done.returncode == 0, done.stderr
    assert "extended" in json.loads(done.stdout)["result"]["sections"]
