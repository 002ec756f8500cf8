"""Peers from the same URDF, in the same run: GRiD's kernels, MuJoCo's MJX, Pinocchio on all of the processor's cores.

GRiD (pip `grid-rbd`, needs nvcc) is compiled for the robot when it is first asked for, which takes minutes. Its calls
are captured in a CUDA graph as emdeg's are, so that no interpreter counts. MJX is compiled by JAX; a call of many
states is timed from its beginning to its results. Pinocchio computes in double precision, each core its share of the
states. What is not there, or will not build, is said in words.
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

import emdeg
from emdeg.runtime import cores
from gpu_rates import captured_seconds, rate
from peer import ROUTINES, Pinocchio

GRID = {
    "inverse_dynamics": ("inverse_dynamics", "inverse_dynamics"),
    "forward_dynamics": ("aba", "aba"),
    "mass_matrix": ("crba", "crba"),
    "inverse_dynamics_derivatives": ("inverse_dynamics_gradient", "inverse_dynamics_gradient"),
}
"""emdeg's function -> (GRiD's method, its name among the algorithms to build)."""
SIZES = (256, 1024, 16_384, 1_048_576)


def grid_urdf() -> Path | None:
    """The iiwa14 that comes with GRiD; None where GRiD is not installed."""
    found = importlib.util.find_spec("grid_codegen")
    if found is None or found.origin is None:
        return None
    path = Path(found.origin).parent / "collision" / "assets" / "iiwa14_spherized.urdf"
    return path if path.is_file() else None


def compared(urdf: Path) -> dict[str, Any]:
    """Million states a second of emdeg and of each peer in float32, by function and number of states."""
    robot = emdeg.load(urdf)
    found: dict[str, Any] = {"robot": robot.name, "functions": {}}
    for function in GRID:
        program = emdeg.program(robot, function)
        found["functions"][function] = {
            "emdeg": {str(states): round(rate(program, "float32", states), 1) for states in SIZES}
        }
        print("emdeg", function, found["functions"][function], flush=True)
    for name, measured in (("GRiD", grid_rates), ("MJX", mjx_rates), ("Pinocchio", pinocchio_rates)):
        start = time.perf_counter()
        try:
            rates = measured(urdf, robot)
        except Exception as problem:  # a peer that does not build is a result too
            found[name] = f"not measured: {type(problem).__name__}: {str(problem).strip().splitlines()[-1][:300]}"
            print(name, found[name], flush=True)
            continue
        found[name] = f"measured; {time.perf_counter() - start:.0f} s with its building"
        for function, row in rates.items():
            here = found["functions"][function]
            here[name] = row
            here[f"emdeg / {name}"] = {
                size: round(here["emdeg"][size] / value, 1) for size, value in row.items() if size in here["emdeg"]
            }
        print(name, rates, flush=True)
    return found


def grid_rates(urdf: Path, robot: emdeg.Robot) -> dict[str, dict[str, float]]:
    """GRiD's torch operators, in a captured graph; their results are compared with emdeg's first."""
    import grid_rbd.torch
    import torch

    handle = grid_rbd.torch.register_robot(
        "peer",
        str(urdf),
        max_batch_size=SIZES[-1],
        algorithm_list=[algorithm for _, algorithm in GRID.values()],
        enable_mujoco_kernels=False,
    )
    n = robot.n
    found: dict[str, dict[str, float]] = {}
    for function, (method, _) in GRID.items():
        run = getattr(handle, method)
        count = 1 if function == "mass_matrix" else 3
        small = [torch.rand((64, n), device="cuda") * 2 - 1 for _ in range(count)]
        _need_same(robot, function, small, run(*small))
        row = {}
        for states in SIZES:
            arrays = [torch.rand((states, n), device="cuda") * 2 - 1 for _ in range(count)]
            launches = 100 if states < 1 << 20 else 4
            row[str(states)] = round(states * launches / captured_seconds(partial(run, *arrays), launches) / 1e6, 2)
        found[function] = row
    return found


def _need_same(robot: emdeg.Robot, function: str, arrays: list[Any], theirs: Any) -> None:
    """ValueError unless a peer computes the same robot: to single precision."""
    ours = emdeg.compile(emdeg.program(robot, function))(*(array.double().cpu().numpy() for array in arrays))
    ours = np.concatenate([part.reshape(len(part), -1) for part in (ours if isinstance(ours, tuple) else (ours,))], 1)
    parts = theirs if isinstance(theirs, tuple) else (theirs,)
    given = np.concatenate([part.double().cpu().numpy().reshape(len(part), -1) for part in parts], 1)
    # Matrices may come by columns: the same numbers in another order within a state.
    gap = np.abs(np.sort(given, axis=1) - np.sort(ours, axis=1)).max() / np.abs(ours).max()
    if given.shape != ours.shape or gap > 1e-3:
        raise ValueError(f"its {function} differs from emdeg's: shapes {given.shape}, {ours.shape}, gap {gap:.2g}")


def mjx_rates(urdf: Path, robot: emdeg.Robot) -> dict[str, dict[str, float]]:
    """MuJoCo's inverse and forward dynamics in JAX, over a batch."""
    import jax
    import mujoco
    from mujoco import mjx

    model = mjx.put_model(mujoco.MjModel.from_xml_string(bare(urdf)))
    one = mjx.make_data(model)
    calls: dict[str, Callable[..., Any]] = {
        "inverse_dynamics": lambda q, v, a: mjx.inverse(model, one.replace(qpos=q, qvel=v, qacc=a)).qfrc_inverse,
        "forward_dynamics": lambda q, v, t: mjx.forward(model, one.replace(qpos=q, qvel=v, qfrc_applied=t)).qacc,
    }
    found: dict[str, dict[str, float]] = {}
    for function, call in calls.items():
        run = jax.jit(jax.vmap(call))
        row = {}
        for states in SIZES[1:]:
            arrays = [jax.random.uniform(jax.random.key(k), (states, robot.n), minval=-1) for k in range(3)]
            run(*arrays).block_until_ready()
            spent = []
            for _ in range(5):
                start = time.perf_counter()
                run(*arrays).block_until_ready()
                spent.append(time.perf_counter() - start)
            row[str(states)] = round(states / min(spent) / 1e6, 2)
        found[function] = row
    return found


def pinocchio_rates(_: Path, robot: emdeg.Robot) -> dict[str, dict[str, float]]:
    """Pinocchio's C++ on all cores, a model for each; of two conventions the faster one counts."""
    peers, rng = [Pinocchio(robot) for _ in range(cores())], np.random.default_rng(1)
    found: dict[str, dict[str, float]] = {function: {} for function in GRID}
    with ThreadPoolExecutor(len(peers)) as pool:
        for states in SIZES:
            arrays = [rng.uniform(-1, 1, (states, robot.n)) for _ in range(3)]
            for peer, *share in zip(peers, *(np.array_split(array, len(peers)) for array in arrays)):
                peer.states(*map(np.ascontiguousarray, share))
            for function, row in found.items():
                spent = []
                for routine in ROUTINES[function]:
                    _need_same_last(robot, function, [array[-1] for array in arrays], peers[-1], routine)
                    calls = [peer.call(routine) for peer in peers]
                    for _ in range(5):
                        start = time.perf_counter()
                        list(pool.map(lambda call: call(), calls))
                        spent.append(time.perf_counter() - start)
                row[str(states)] = round(states / min(spent) / 1e6, 2)
    return found


def _need_same_last(robot: emdeg.Robot, function: str, state: list[Any], peer: Pinocchio, routine: str) -> None:
    """ValueError unless Pinocchio finds the last state's result as emdeg does."""
    program = emdeg.program(robot, function)
    ours = emdeg.compile(program)(*(array[None] for array in state[: len(program.inputs)]))
    expected = np.concatenate([np.ravel(part) for part in (ours if isinstance(ours, tuple) else (ours,))])
    out = np.empty(robot.n + 3 * robot.n**2)
    peer.call(routine, out)()
    if not np.allclose(out[: expected.size], expected, rtol=1e-8, atol=1e-9 * np.abs(expected).max()):
        raise ValueError(f"its {routine} differs from emdeg's {function}")


def bare(urdf: Path) -> str:
    """The URDF without shapes: MuJoCo would look for their files and for contacts between them."""
    root = ElementTree.parse(urdf).getroot()
    for link in root.iter("link"):
        for shape in [*link.findall("visual"), *link.findall("collision")]:
            link.remove(shape)
    return ElementTree.tostring(root, encoding="unicode")
