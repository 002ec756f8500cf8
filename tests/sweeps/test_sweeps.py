"""Sweeps: samples by number, statistics against Pinocchio and NumPy, chunks that do not depend on how they are cut."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pinocchio as pin
import pyarrow.parquet as pq
import pytest

import emdeg
from emdeg.analysis import capability, torque_limits
from emdeg.errors import DeviceError, SweepError
from emdeg.robot.workspaces import workspace
from emdeg.runtime.cuda import devices
from emdeg.sweeps import Compute, NamedRanges, StatedTolerances, States, Study, Vary, sweep
from emdeg.sweeps.chunk import compute_chunk
from emdeg.sweeps.plan import plan_from_json
from emdeg.sweeps.prepare import prepare
from emdeg.sweeps.sampling import permuted, samples
from emdeg.sweeps.tables import write_results
from tests.oracles import Pinocchio, relative_error
from tests.paper_device import DeviceOfPaper, use_threads_here
from tests.sweeps.studies import ARM, puma_study


def table(study: Study, folder: Path):
    """The results of a study, computed in this process."""
    plan = prepare(study)
    text = plan.to_json()
    paths = []
    for chunk in range(plan.work.chunks):
        paths.append(folder / f"{chunk}.parquet")
        paths[-1].write_bytes(compute_chunk(text, chunk)[0])
    write_results(plan, paths, folder / "results.parquet")
    return pq.read_table(folder / "results.parquet")


def columns(found, *names: str) -> list[np.ndarray]:
    return [found[name].to_numpy() for name in names]


# Samples


@pytest.mark.parametrize("size", [1, 2, 3, 100, 1000, 4097])
def test_a_permutation_takes_every_number_once(size):
    found = permuted(np.arange(size, dtype=np.uint64), size, 99)
    assert sorted(found.tolist()) == list(range(size))
    if size >= 100:
        assert (found == np.arange(size)).sum() < 10
        assert not np.array_equal(permuted(np.arange(size, dtype=np.uint64), size, 98), found)


def test_a_latin_hypercube_has_one_draw_in_every_stratum():
    vary = (Vary("mL", uniform=(2.0, 4.0)), Vary("q3.a", uniform=(-1.0, 1.0)))
    plan = prepare(puma_study(draws=500, vary=vary, tolerances=None, method="latin_hypercube"))
    values = samples(plan, 0, 500).values
    for column, (low, high) in zip(values.T, ((2, 4), (-1, 1))):
        strata = np.floor((column - low) / (high - low) * 500).astype(int)
        assert sorted(strata) == list(range(500))
    assert abs(np.corrcoef(values.T)[0, 1]) < 0.15


def test_grids_are_their_product_and_samples_do_not_depend_on_who_asks():
    grids = (Vary("mL", values=(0.0, 1.0, 2.5)), Vary("link2.mass", values=(17.0, 18.0)))
    plan = prepare(puma_study(draws=4, vary=(*grids, Vary("q3.a", normal=(0.4, 0.01))), tolerances=None))
    whole = samples(plan, 0, 24)
    assert [tuple(row[:2]) for row in whole.values[::4]] == list(itertools.product((0, 1, 2.5), (17, 18)))
    for a, b in ((0, 1), (5, 9), (23, 24)):
        assert np.array_equal(samples(plan, a, b).values, whole.values[a:b])
    assert len(set(whole.values[:, 2])) == 4  # every point of the grids sees the same draws


def test_tolerances_are_standard_deviations_or_half_widths():
    robot = emdeg.load("puma560")
    for kind, spread in (("normal", 1.0), ("uniform", 1 / np.sqrt(3))):
        plan = prepare(puma_study(draws=4000, vary=(), payloads=("none",), tolerances=StatedTolerances(kind, (2.0,))))
        values = samples(plan, 0, 4000).values
        for k, parameter in enumerate(plan.cases[0].parameters):
            deviation = float(robot.tolerances[parameter.path]) * 2 * spread
            assert values[:, k].std() == pytest.approx(deviation, rel=0.06)
            assert values[:, k].mean() == pytest.approx(parameter.numbers[0], abs=5 * deviation / np.sqrt(4000))


# Values


def test_every_state_of_every_sample_is_pinocchios(tmp_path):
    (tmp_path / "arm.urdf").write_text(ARM.format(length=0.4, mass=2.0))
    study = Study(
        "arm",
        (str(tmp_path / "arm.urdf"),),
        (Compute(function="inverse_dynamics"), Compute(function="mass_matrix")),
        vary=(Vary("fore.mass", uniform=(1.0, 3.0)), Vary("elbow.a", values=(0.3, 0.5))),
        draws=3,
        states=States(count=7, acceleration=5.0, common=False),
        output="states",
    )
    found = table(study, tmp_path)
    assert found.num_rows == 2 * 3 * 7
    for row in found.to_pylist():
        text = ARM.format(length=row["elbow.a"], mass=row["fore.mass"])
        oracle = Pinocchio(pin.buildModelFromXML(text), ["shoulder", "elbow"])
        q, qd, qdd = (np.array([row[f"{x}{j}"] for j in (1, 2)]) for x in ("q", "qd", "qdd"))
        tau = np.array([row["tau1"], row["tau2"]])
        assert relative_error(tau, oracle.inverse_dynamics(q, qd, qdd)) < 1e-11
        M = np.array([[row["M11"], row["M12"]], [row["M21"], row["M22"]]])
        assert relative_error(M, oracle.mass_matrix(q)) < 1e-11
        assert -2 <= row["q1"] <= 2
        assert -4 <= row["qd2"] <= 4
    assert len(set(found["q1"].to_pylist())) == 42


@pytest.mark.parametrize("states", [40, 4200])
def test_statistics_are_those_of_the_states(states, tmp_path):
    every = ("min", "max", "max_abs", "mean", "rms", "std", "at")
    study = puma_study(states, 2, compute=(Compute(function="bias", statistics=every),))
    (tmp_path / "states").mkdir()
    found = table(study, tmp_path)
    kept = table(replace(study, output="states"), tmp_path / "states")
    (h,) = columns(kept, "h2")
    h = h.reshape(12, states)
    wanted = (h.min(1), h.max(1), np.abs(h).max(1), h.mean(1), np.sqrt((h**2).mean(1)), h.std(1), np.abs(h).argmax(1))
    for name, value in zip(every, wanted):
        assert np.allclose(found[f"h2_{name}"].to_numpy(), value, rtol=1e-10, atol=1e-10), name


def test_results_do_not_depend_on_how_the_work_is_cut(tmp_path):
    wanted = Compute(function="inverse_dynamics", statistics=("min", "max", "at", "mean"))
    study = puma_study(20000, 1, tolerances=None, compute=(wanted,))
    cuts = []
    for chunk_states in (None, 4096, 10**6):
        folder = tmp_path / str(chunk_states)
        folder.mkdir()
        cuts.append(table(replace(study, chunk_states=chunk_states), folder))
    for name in cuts[0].column_names:
        one, *others = (cut[name].to_numpy() for cut in cuts)
        for other in others:
            if name.endswith("mean"):
                assert np.allclose(one, other, rtol=1e-12, atol=1e-13)
            else:
                assert np.array_equal(one, other)


@pytest.mark.parametrize(("count", "common", "chunk"), [(300, True, None), (9000, False, 4096)])
def test_a_gpu_gives_the_same_statistics(count, common, chunk, tmp_path, monkeypatch):
    """The kernels' threads run here; sums are added in another order, so that last digits differ."""
    there = use_threads_here(monkeypatch)
    monkeypatch.setattr("emdeg.runtime.cuda.statistics.MOST_THREADS", 1000)  # several rounds of joining
    study = Study(
        name="arm",
        robots=("planar2r",),
        vary=(Vary("link2.mass", values=(0.5, 1.0)), Vary("q2.a", uniform=(0.4, 0.45))),
        states=States(count=count, speed=1.0, acceleration=2.0, common=common),
        compute=(Compute(function="inverse_dynamics", statistics=("max_abs", "rms", "mean", "min", "at")),),
        draws=3,
        chunk_states=chunk,
    )
    here = sweep(study, tmp_path / "here", workers=0).table()
    found = sweep(study, tmp_path / "there", backend="cuda")
    assert set(there.begun) == {"draw", "join"}
    assert found.workers == 0
    for name in here.column_names:
        one, other = (table[name].to_numpy(zero_copy_only=False) for table in (here, found.table()))
        if one.dtype.kind == "f":
            np.testing.assert_allclose(other, one, rtol=1e-12, atol=1e-12, err_msg=name)
        else:
            assert (one == other).all()
    with pytest.raises(SweepError, match="other settings"):
        sweep(study, tmp_path / "there", workers=0)
    again = sweep(tmp_path / "there" / "results.parquet", tmp_path / "again")
    assert again.path.read_bytes() == found.path.read_bytes()
    back = sweep(tmp_path / "there" / "results.parquet", tmp_path / "back", backend="llvm", workers=0)
    assert back.table().equals(here)


@pytest.mark.parametrize(
    "states", [States("grid", points=66), States("grid", points=1), States("motions", 400, 11, 0.7, common=False)]
)
def test_grids_and_motions_are_made_on_a_gpu(states, tmp_path, monkeypatch):
    """The very states: the greatest magnitude is met in the same one, and is the same number."""
    there = use_threads_here(monkeypatch)
    how = (Compute(function="bias", statistics=("max", "min", "at", "mean")),)
    vary, box = (Vary("link2.mass", values=(0.5, 1.0)),), NamedRanges("box", {"q1": (0.1, 1.3), "q2": (-0.4, 0.33)})
    study = Study("arm", ("planar2r",), how, vary=vary, workspaces=(box,), states=states, chunk_states=4096)
    here = sweep(study, tmp_path / "here", workers=0).table()
    found = sweep(study, tmp_path / "there", backend="cuda").table()
    assert "draw" in there.begun
    for name in here.column_names[5:]:
        one, other = here[name].to_numpy(), found[name].to_numpy()
        np.testing.assert_allclose(other, one, rtol=1e-12, atol=1e-12, err_msg=name)
        if name.endswith("_at"):
            assert (one == other).all()


def test_analyses_on_a_gpu(tmp_path, monkeypatch):
    """Analyses are folded there, as functions are; where a tool cannot move in every direction, found here."""
    threads, paper = use_threads_here(monkeypatch), DeviceOfPaper()
    monkeypatch.setattr("emdeg.runtime.cuda.program.device", lambda number: paper)
    entrywise = ("torque_budget", "capability", "couplings")
    compute = (
        *(Compute(analysis=name, statistics=("max", "min", "mean", "at")) for name in entrywise),
        Compute(function="mass_matrix", statistics=("max", "min")),
        Compute(function="gravity", statistics=("rms",), name="weight"),
    )
    file = tmp_path / "arm.urdf"
    file.write_text(ARM.format(length=0.4, mass=2), encoding="utf-8")
    study = Study(
        name="both",
        robots=(str(file),),
        compute=compute,
        states=States(count=200, speed=3.0, acceleration=200.0),
        vary=(Vary("fore.mass", values=(2.0, 7.0)),),
    )
    tables = {}
    for extra, wanted in (("eigenvalues", False), ("tool_inertia", True)):
        more = replace(study, compute=(*compute, Compute(analysis=extra, statistics=("min",))))
        for backend in ("llvm", "cuda"):
            tables[backend] = sweep(more, tmp_path / f"{backend}{wanted}", backend=backend, workers=0).table()
        assert bool(paper.loaded) is wanted, "what is folded there never comes here"
        here, there = tables["llvm"], tables["cuda"]
        assert here.column_names == there.column_names
        for name in here.column_names[4:]:
            np.testing.assert_allclose(there[name].to_numpy(), here[name].to_numpy(), rtol=1e-11, err_msg=name)
        assert {"draw", "join"} == set(threads.begun)
    shares = tables["cuda"]["over2_mean"].to_numpy()
    assert 0 < shares[0] < shares[1] < 1


@pytest.mark.parametrize("analysis", ["manipulability", "tool_inertia"])
def test_what_a_tool_can_do_is_found_on_a_gpu(analysis, tmp_path, monkeypatch):
    """By rotations there, by LAPACK here."""
    there = use_threads_here(monkeypatch)
    how = (Compute(analysis=analysis, statistics=("min", "max", "mean")),)
    box = NamedRanges("box", {"q2": (0.3, 2.0)})  # away from the stretched arm
    study = Study("tool", ("scara",), how, workspaces=(box,), states=States(count=50))
    here, found = (sweep(study, tmp_path / b, backend=b, workers=0).table() for b in ("llvm", "cuda"))
    assert there.begun
    for name in here.column_names[5:]:
        np.testing.assert_allclose(found[name].to_numpy(), here[name].to_numpy(), rtol=1e-10, err_msg=name)


def test_without_a_gpu_the_error_says_so(tmp_path):
    if devices():
        pytest.skip("this machine has one")
    with pytest.raises(DeviceError, match="NVIDIA driver"):
        sweep(puma_study(10, 1), tmp_path / "out", backend="cuda")
    with pytest.raises(SweepError, match="backend must be"):
        puma_study(backend="opencl")


def test_motions_are_point_to_point_and_within_the_workspace(tmp_path):
    study = Study(
        "motions",
        ("planar2r",),
        (Compute(function="inverse_dynamics"),),
        workspaces=(NamedRanges("front", {"q1": (-0.5, 0.5)}),),
        states=States("motions", 5, 11, 2.0),
        output="states",
    )
    q1, qd1, qdd1 = (x.reshape(5, 11) for x in columns(table(study, tmp_path), "q1", "qd1", "qdd1"))
    assert np.abs(q1).max() <= 0.5
    assert np.abs(qd1[:, [0, -1]]).max() < 1e-12
    assert np.abs(qdd1[:, [0, -1]]).max() < 1e-12
    # A fifth-order point-to-point motion is fastest half way, at 15/8 of its mean speed.
    assert np.allclose(qd1[:, 5], 15 / 8 * (q1[:, -1] - q1[:, 0]) / 2.0)


def test_robots_workspaces_and_grids_of_states(tmp_path):
    study = Study(
        "two",
        ("planar2r", "planar3r"),
        (Compute(function="gravity", statistics=("max_abs",)),),
        workspaces=(NamedRanges(), NamedRanges("narrow", {"q1": (0.0, 0.1)})),
        states=States(count=300),
    )
    found = table(study, tmp_path)
    assert found["robot"].to_pylist() == ["planar2r"] * 2 + ["planar3r"] * 2
    assert found["workspace"].to_pylist() == ["limits", "narrow"] * 2
    assert found["g3_max_abs"].null_count == 2
    with pytest.raises(emdeg.RobotError, match="cannot share a grid"):
        prepare(replace(study, states=States("grid", points=3)))
    grid = replace(study, robots=("planar2r",), states=States("grid", points=5), output="states")
    q1, q2 = columns(table(replace(grid, workspaces=(NamedRanges(),)), tmp_path), "q1", "q2")
    ranges = workspace(emdeg.load("planar2r")).ranges
    wanted = itertools.product(*(np.linspace(low, high, 5) for low, high in ranges))
    assert np.allclose(np.stack([q1, q2], axis=1), list(wanted))


def test_analyses_are_those_of_the_analysis_room(tmp_path):
    names = ("torque_budget", "capability", "manipulability", "tool_inertia", "eigenvalues", "couplings")
    study = Study(
        "analyses",
        ("puma560",),
        tuple(Compute(analysis=name) for name in names),
        states=States(count=25, speed=2.0, acceleration=3.0),
        output="states",
    )
    found = table(study, tmp_path)
    robot = emdeg.load("puma560")
    q, qd, qdd = (np.stack(columns(found, *(f"{x}{j}" for j in range(1, 7))), axis=1) for x in ("q", "qd", "qdd"))
    tau = emdeg.inverse_dynamics(robot, q, qd, qdd)
    (budget, over), limits = columns(found, "budget2", "over2"), torque_limits(robot)
    assert np.allclose(budget, np.abs(tau[:, 1]) / limits[1])
    assert np.array_equal(over, np.abs(tau[:, 1]) > limits[1])
    left = capability(robot, q).left
    assert np.allclose(columns(found, "left3")[0], np.minimum(-left[:, 2, 0], left[:, 2, 1]))
    M = emdeg.mass_matrix(robot, q)
    assert np.allclose(columns(found, "condition")[0], np.linalg.cond(M))
    assert np.allclose(columns(found, "coupling12")[0], np.abs(M[:, 0, 1]) / M[:, 0, 0])
    felt = np.linalg.eigvalsh(emdeg.analysis.operational_inertia(robot, q))
    assert np.allclose(np.stack(columns(found, *(f"tool_inertia{j}" for j in (1, 2, 3))), axis=1), felt)


def test_certified_loads_of_every_sample(tmp_path):
    vary = (Vary("gravity.z", values=(-9.81, -1.62)),)
    study = Study("loads", ("planar2r",), (Compute(analysis="loads"),), vary=vary)
    found = table(study, tmp_path)
    q = workspace(emdeg.load("planar2r")).sample(4000)
    for row, gravity in zip(found.to_pylist(), (-9.81, -1.62)):
        robot = emdeg.load("planar2r", gravity=(0, 0, gravity))
        reached = np.abs(emdeg.gravity(robot, q)[:, 0]).max()
        assert reached <= row["g1_greatest_bound"]
        assert row["g1_greatest"] == pytest.approx(reached, rel=0.02)
        inertia = emdeg.mass_matrix(robot, q)[:, 0, 0]
        assert row["M11_least_bound"] <= inertia.min() <= inertia.max() <= row["M11_greatest_bound"]


# The whole


def test_plans_survive_json_and_results_repeat_themselves(tmp_path):
    study = puma_study(2500, 2)
    plan = prepare(study)
    assert plan_from_json(plan.to_json()) == plan
    first = sweep(study, tmp_path / "one", workers=2)
    assert first.computed == first.chunks
    again = sweep(study, tmp_path / "one", workers=0)
    assert again.computed == 0
    repeated = sweep(first.path, tmp_path / "two", workers=0)
    assert repeated.path.read_bytes() == first.path.read_bytes()
    assert repeated.manifest["chunk_sha256"] == first.manifest["chunk_sha256"]
    assert np.array_equal(first.columns("tau2_rms")["tau2_rms"], table(study, tmp_path)["tau2_rms"].to_numpy())
    assert sorted(p.name for p in first.folder.iterdir()) == [".lock", "manifest.json", "plan.json", "results.parquet"]


def test_closed_loops_vary_by_workspace_and_not_by_parameter(tmp_path):
    ranges = {"x": (-0.05, 0.05), "y": (-0.05, 0.05), "z": (-0.45, -0.4)}
    study = Study(
        "delta",
        ("delta",),
        (Compute(function="gravity"),),
        workspaces=(NamedRanges("low", ranges),),
        states=States(count=10),
        output="states",
    )
    found = table(study, tmp_path)
    q, g = (np.stack(columns(found, *(f"{x}{j}" for j in (1, 2, 3))), axis=1) for x in "qg")
    assert np.allclose(g, emdeg.gravity(emdeg.load("delta"), q), rtol=1e-9, atol=1e-9)
    with pytest.raises(emdeg.RobotError, match="closed loops, whose parameters cannot vary"):
        prepare(replace(study, vary=(Vary("gravity.z", values=(-1.0,)),)))


@pytest.mark.parametrize(
    ("old", "new"),
    [('"part_states":10000', '"part_states":0'), ('"schema":2', '"schema":7'), ('"samples":', '"samples":1')],
)
def test_a_damaged_plan_is_an_error(old, new):
    text = prepare(puma_study(10_000, 1)).to_json()
    assert old in text
    with pytest.raises(emdeg.RobotError, match="plan"):
        plan_from_json(text.replace(old, new, 1))


def test_a_study_is_the_same_wherever_its_robots_file_stands(tmp_path):
    plans = []
    for folder in ("here", "there"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "arm.urdf").write_text(ARM.format(length=0.4, mass=2.0))
        study = Study("arm", (str(tmp_path / folder / "arm.urdf"),), (Compute(function="gravity"),))
        plans.append(prepare(study))
    assert plans[0].study_digest == plans[1].study_digest
    (tmp_path / "there" / "arm.urdf").write_text(ARM.format(length=0.5, mass=2.0))
    assert prepare(study).study_digest != plans[0].study_digest
    two = replace(study, robots=tuple(str(tmp_path / folder / "arm.urdf") for folder in ("here", "there")))
    assert [case.robot for case in prepare(two).cases] == list(two.robots)  # two robots called "arm"
