"""Identification: an hour at 1 kHz of a Panda, and FIGAROH on the same simulated logs of a UR10 and TIAGo's arm.

    python benchmarks/bench_identification.py [--hours 1] [--figaroh /path/to/python] [--skip hour|figaroh]

The hour is 3.6 million samples of seven joints in a Parquet file: seconds and peak memory of a process that reads,
filters and identifies it. FIGAROH (pip install figaroh, in an environment of its own) gets UR10 and TIAGo logs of 20 s
at 100 Hz with noise; stated is how far each one's predicted efforts are from the true ones along another motion (rms,
of the efforts' rms), and the seconds it took. Writes benchmarks/results/identification.json (the hour) and
identification_peers.json.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pyarrow as pa
import pyarrow.parquet

import emdeg
from emdeg.identification import identify
from record import record

HERE = Path(__file__).parent
HARMONICS = 5
CHILD = """
import json, resource, sys, time
import emdeg
from emdeg.identification import identify
start = time.perf_counter()
found = identify(emdeg.load("panda"), [sys.argv[1]])
used = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps({
    "seconds": time.perf_counter() - start,
    "processor_seconds": used.ru_utime + used.ru_stime,
    "peak_bytes": used.ru_maxrss * 1024,
    "rows": len(found.logs[0]),
    "parameters": len(found.parameters),
    "relative": {f.joint: f.noise for f in found.friction},
}))
"""


def motion(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    w = 2 * np.pi / 10 * np.arange(1, HARMONICS + 1)
    a, b = 0.5 * rng.normal(size=(2, HARMONICS, n)) / np.sqrt(np.arange(1, HARMONICS + 1))[:, None]
    return w, a, b


def along(
    t: np.ndarray, series: tuple[np.ndarray, np.ndarray, np.ndarray], middle: np.ndarray
) -> tuple[np.ndarray, ...]:
    w, a, b = series
    s, c = np.sin(t[:, None] * w), np.cos(t[:, None] * w)
    return middle + (s / w) @ a - (c / w) @ b, c @ a + s @ b, -(s * w) @ a + (c * w) @ b


def hour(hours: float) -> dict[str, Any]:
    """Seconds and memory of identifying so many hours at 1 kHz, in a process of its own."""
    robot = emdeg.load("panda")
    rng = np.random.default_rng(0)
    count = int(3.6e6 * hours)
    series, middle = motion(rng, robot.n), np.array([0, 0, 0, -1.5, 0, 1.8, 0])
    names = ["t", *(f"{what}_{joint.name}" for what in ("q", "tau") for joint in robot.joints)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "hour.parquet"
        writer = None
        for first in range(0, count, 200_000):
            t = np.arange(first, min(first + 200_000, count)) / 1000
            q, qd, qdd = along(t, series, middle)
            tau = 1.1 * emdeg.inverse_dynamics(robot, q, qd, qdd) + 0.5 * qd + 0.6 * np.sign(qd)
            noisy = [t, *(q + 1e-5 * rng.normal(size=q.shape)).T, *(tau + 0.2 * rng.normal(size=q.shape)).T]
            table = pa.table(dict(zip(names, noisy)))
            writer = writer or pyarrow.parquet.ParquetWriter(path, table.schema)
            writer.write_table(table)
        assert writer is not None
        writer.close()
        done = subprocess.run([sys.executable, "-c", CHILD, str(path)], check=True, capture_output=True, text=True)
    found = json.loads(done.stdout) | {"samples": count, "joints": robot.n}
    print(
        f"{count} samples: {found['seconds']:.1f} s ({found['processor_seconds']:.1f} s of processor), "
        f"{found['peak_bytes'] / 1e9:.2f} GB"
    )
    return found


def urdf(name: str) -> Path | None:
    """A robot of example-robot-data, where it is installed."""
    spec = find_spec("pinocchio")
    assert spec is not None
    assert spec.origin is not None
    root = next(up for up in Path(spec.origin).parents if up.name == "cmeel.prefix")
    return next((root / "share/example-robot-data/robots").glob(f"**/{name}.urdf"), None)


def peer(python: str, name: str, file: str, joints: list[str] | None) -> dict[str, Any]:
    """Both on the same log: error of the predicted efforts, seconds."""
    path = urdf(file)
    if path is None:
        return {"robot": name, "not_run": f"{file}.urdf is not here: pip install example-robot-data"}
    whole = pin.buildModelFromUrdf(str(path))
    names = joints or list(whole.names)[1:]
    held = [k for k in range(1, whole.njoints) if whole.names[k] not in names]
    model = pin.buildReducedModel(whole, held, pin.neutral(whole))
    data = model.createData()
    locks = {whole.names[k]: 0.0 for k in held} if joints else {}
    tip = names[-1].replace("_joint", "_link")
    robot = emdeg.load(str(path), lock=locks, tip=tip, allow_nonphysical=True)  # TIAGo's antennas cannot exist
    own = [joint.name for joint in robot.joints]
    if sorted(own) != sorted(names):
        return {"robot": name, "not_run": f"emdeg has the joints {own}, Pinocchio {names}"}
    rng = np.random.default_rng(3)
    middle = np.zeros(model.nv)
    t = np.arange(2000) / 100

    def efforts(q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        bodies = np.array([pin.rnea(model, data, *state) for state in zip(q, qd, qdd)])
        return bodies + 0.5 * qd + 0.8 * np.sign(qd)

    q, qd, qdd = along(t, motion(rng, model.nv), middle)
    other = along(t, motion(rng, model.nv), middle)
    tau, truth = efforts(q, qd, qdd), efforts(*other)
    tau = tau + 0.02 * np.sqrt(np.mean(tau**2, axis=0)) * rng.normal(size=tau.shape)
    q = q + 1e-5 * rng.normal(size=q.shape)
    order = [list(model.names)[1:].index(joint) for joint in own]
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log.csv"
        header = ["t", *(f"{what}_{joint}" for what in ("q", "tau") for joint in own)]
        np.savetxt(
            log,
            np.column_stack([t, q[:, order], tau[:, order]]),
            delimiter=",",
            header=",".join(header),
            comments="",
            fmt="%.12g",
        )
        start = time.perf_counter()
        found = identify(robot, [log], friction="coulomb")
        seconds = time.perf_counter() - start
        rows = emdeg.regressor(robot, *(x[:, order] for x in other), base=found.base) @ found.values
        for k, fit in enumerate(found.friction):
            values = [0.0 if v is None else v.value for v in (fit.viscous, fit.coulomb, fit.offset)]
            speed = other[1][:, order[k]]
            rows[:, k] += values[0] * speed + values[1] * np.sign(speed) + values[2]
        rest = np.sqrt(np.mean((rows - truth[:, order]) ** 2, axis=0)) / np.sqrt(np.mean(truth[:, order] ** 2, axis=0))
        result: dict[str, Any] = {
            "robot": name,
            "emdeg": {"seconds": seconds, "relative_error": rest.tolist(), "parameters": len(found.parameters)},
        }
        source, out = Path(folder) / "log.npz", Path(folder) / "out.json"
        np.savez(source, t=t, q=q, tau=tau, q_true=other[0], qd_true=other[1], qdd_true=other[2], tau_true=truth)
        words = [python, str(HERE / "figaroh_peer.py"), str(path), ",".join(names), str(source), str(out)]
        done = subprocess.run(words, capture_output=True, text=True)
        if done.returncode:
            result["figaroh"] = {"failed": (done.stderr.strip().splitlines() or ["no word"])[-1][:300]}
        else:
            tries = json.loads(out.read_text())
            good = [one for one in tries if "relative_error" in one]
            result["figaroh"] = {
                "best": min(good, key=lambda one: max(one["relative_error"]), default=None),
                "tries": tries,
            }
    peer_found = result["figaroh"].get("best") or result["figaroh"]
    print(f"{name}: emdeg {max(rest):.2%} at worst in {seconds:.2f} s; FIGAROH {peer_found}")
    return result


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--hours", type=float, default=1.0)
    parser.add_argument("--figaroh", default="", help="a Python that has figaroh")
    parser.add_argument("--skip", choices=["hour", "figaroh"])
    asked = parser.parse_args()
    if asked.skip != "hour":
        record("identification", hour(asked.hours))
    if asked.skip == "figaroh":
        return
    if not asked.figaroh:
        print("FIGAROH was not run: no --figaroh PYTHON was given")
        return
    version = "import importlib.metadata as m; print(m.version('figaroh'))"
    told = subprocess.run([asked.figaroh, "-c", version], capture_output=True, text=True)
    arm = [f"arm_{k}_joint" for k in range(1, 8)]
    robots = [
        peer(asked.figaroh, "UR10", "ur10_robot", None),
        peer(asked.figaroh, "TIAGo's arm, the rest held", "tiago_no_hand", arm),
    ]
    record("identification_peers", {"version": told.stdout.strip() or told.stderr.strip()[-200:], "robots": robots})


if __name__ == "__main__":
    main()
