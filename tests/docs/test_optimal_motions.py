"""The optimal motions of docs/derivatives.md: every form of the problem, route and method finds the same optimum."""

from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import emdeg

pytest.importorskip("casadi", reason="casadi is not installed (make test-targets)")
BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def benchmark(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    return import_module("bench_control")


def test_ipopt_in_either_form_and_dynamic_programming_agree(benchmark):
    motion = benchmark.MOTIONS["planar2r"]
    forms = {"forward": "forward_dynamics", "inverse": "inverse_dynamics"}
    found = {
        form: benchmark.solve(emdeg.casadi("planar2r", function), form, motion, 12, shortest=False)
        for form, function in forms.items()
    }
    own = benchmark.least_effort("planar2r", motion, 12)
    values = [one["objective"] for one in (*found.values(), own)]
    np.testing.assert_allclose(values, values[0], rtol=1e-7)
    assert own["iterations"] < 100


def test_limits_that_bite_are_kept_by_dynamic_programming(benchmark):
    """With hardly more torque than gravity asks for, both end at the same, dearer motion."""
    free = benchmark.MOTIONS["planar2r"]
    motion = replace(free, fastest=np.array([1.3, 1.2]))
    inverse = emdeg.casadi("planar2r", "inverse_dynamics")
    held, loose = (benchmark.solve(inverse, "inverse", one, 12, shortest=False)["objective"] for one in (motion, free))
    assert held > loose * (1 + 1e-4)
    assert benchmark.least_effort("planar2r", motion, 12)["objective"] == pytest.approx(held, rel=1e-6)


def test_a_route_from_the_robot_to_the_solved_motions(benchmark):
    row = benchmark.one_route("planar2r", "inverse", "emdeg", 8, "-O0")
    assert row["tasks"].keys() == {"effort", "time"}
    assert row["tasks"]["time"]["seconds"] < row["tasks"]["effort"]["seconds"]
    assert row["total"] > 0
    assert row["bytes"] > 1000
    assert 0 <= row["functions"] <= row["solve"] + 0.1
    assert 0 < row["megabytes_at_start"] <= row["megabytes"]


def test_the_start_is_a_motion_that_keeps_its_ends(benchmark):
    motion = benchmark.MOTIONS["panda"]
    q, qd, qdd = benchmark.smooth(motion, 400)
    np.testing.assert_allclose(q[[0, -1]], [motion.start, motion.goal])
    assert not qd[[0, -1]].any()
    h = motion.seconds / 400
    np.testing.assert_allclose(np.gradient(q, h, axis=0)[1:-1], qd[1:-1], atol=1e-3)
    np.testing.assert_allclose(np.gradient(qd, h, axis=0)[1:-1], qdd[1:-1], atol=1e-2)


def test_optima_that_differ_are_an_error(benchmark):
    tasks = [{task: {"objective": value} for task in benchmark.TASKS} for value in (1, 1.1)]
    rows = [{"robot": "r", "form": "inverse", "route": "emdeg", "tasks": one} for one in tasks]
    with pytest.raises(SystemExit, match="the optima differ"):
        benchmark.same_optimum(rows)
    rows[1]["route"] = "ddp"
    with pytest.raises(SystemExit, match="inverse ddp"):
        benchmark.same_optimum(rows)
    rows[1] |= {"form": "forward", "route": "emdeg"}
    with pytest.raises(SystemExit, match="forward emdeg"):
        benchmark.same_optimum(rows)
    rows[1]["tasks"] = tasks[0]
    benchmark.same_optimum(rows)
