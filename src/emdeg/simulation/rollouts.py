"""Many trajectories at once with a cost on the way, on this processor or where the arrays live: shooting, MPPI."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from emdeg.documents import Shown
from emdeg.errors import ScenarioError
from emdeg.programs import Dependence, Program, Traced, Tracer, included, simplify
from emdeg.robot import Robot, RobotLike, as_robot
from emdeg.runtime import machine_available, stream_key
from emdeg.simulation.controllers.conditioning import Conditioning
from emdeg.simulation.controllers.laws import NoEffort, ProgramLaw
from emdeg.simulation.integrators.control_loop import EffortNoise, Loop
from emdeg.simulation.integrators.fixed_step import held_program
from emdeg.simulation.integrators.methods import METHODS, OLD_NAMES, Gauss, nodes
from emdeg.simulation.integrators.rollout import compiled_rollout
from emdeg.simulation.plant.passive import with_idle_motors
from emdeg.simulation.plant.programs import accelerations, drive_rates, need_numbers, robot_program
from emdeg.simulation.run import passive_of

Backend = Literal["auto", "llvm", "cuda"]
CostFunction = Callable[..., Traced]


@dataclass(frozen=True)
class Rollouts(Shown):
    """What came of many trajectories: the states after every `every` steps, and what each has cost."""

    q: Any
    """(trajectories, records, n) [rad, m]"""
    qd: Any
    """(trajectories, records, n) [rad/s, m/s]"""
    cost: Any
    """(trajectories,): the time integral of the cost's rate; zeros without one."""
    times: np.ndarray
    """(records,) [s]"""


def rollout(
    robot: RobotLike,
    q0: Any,
    qd0: Any,
    controller: ProgramLaw | NoEffort | Any | None = None,
    *,
    steps: int,
    dt: float,
    every: int | None = None,
    method: str = "semi_implicit",
    cost: Program | CostFunction | None = None,
    friction: bool = False,
    limits: bool = False,
    stiffness: float = 1e5,
    damping: float = 1e2,
    deviation: ArrayLike | None = None,
    seed: int = 0,
    dtype: DTypeLike = np.float64,
    backend: Backend = "auto",
    threads: int | None = None,
) -> Rollouts:
    """`steps` steps of `dt` seconds from q0, qd0 (trajectories, n), the state kept every `every` steps (the last).

    `controller` is a law (`pd`, `computed_torque`), a sequence of efforts [N m, N], (steps, motors) for all
    trajectories or (trajectories, steps, motors) for each its own, or None. `cost` is the rate of a cost, a program
    q, qd, tau -> cost or a function of the same that uses +, -, *, / on its entries; with a fourth argument it is told
    the tool's position [m] as well. With `friction` the joints' friction acts, with `limits` the position limits of the
    robot's file are springs of `stiffness` and `damping`.

    With `deviation` [N m, N] normal noise is added to the efforts, a number for each trajectory, step and joint, drawn
    where it is used from the stream of `seed`: `effort_noise` is the same as an array.

    Arrays that live on a GPU (torch, JAX, CuPy) are computed there and never visit the host; `backend="cuda"` takes
    NumPy's there too. Robot, law, method and cost are one kernel, a trajectory is one thread.

    >>> import emdeg, numpy as np
    >>> start = np.zeros((4, 2))
    >>> found = emdeg.simulation.rollout("planar2r", start, start, np.zeros((50, 2)), steps=50, dt=1e-3)
    >>> found.q.shape, found.cost.shape
    ((4, 1, 2), (4,))
    """
    robot = as_robot(robot)
    need_numbers(robot)
    method = OLD_NAMES.get(method, method)
    if method not in METHODS or isinstance(METHODS[method], Gauss):
        known = ", ".join(name for name, each in METHODS.items() if not isinstance(each, Gauss))
        raise ScenarioError(f"there is no method {method!r} for rollouts; there are {known}")
    every = steps if every is None else every
    if steps < 1 or every < 1 or steps % every:
        raise ScenarioError(f"{steps} steps cannot be recorded every {every}: give whole numbers from 1 on that divide")
    if not 0 < dt < np.inf:
        raise ScenarioError(f"the step must be positive; got {dt} s")
    if not machine_available():
        raise ScenarioError("rollouts are compiled with llvmlite, which is not installed here")
    n = robot.freedoms
    noise = None if deviation is None else _noise(deviation, seed, len(robot.driven))
    loop = _loop(robot, controller, _cost(robot, cost), friction, limits, stiffness, damping, noise is not None)
    shares = nodes(METHODS[method])
    times = dt * every * np.arange(1, steps // every + 1)
    if backend == "cuda" or (backend == "auto" and _on_device(q0)):
        states = _on_gpu(loop, method, np.dtype(dtype), q0, qd0, controller, steps, dt, every, shares, noise)
    else:
        if np.dtype(dtype) != np.float64:
            raise ScenarioError("on this processor rollouts are computed in float64")
        start = _stacked(np, np.asarray(q0, float), np.asarray(qd0, float), loop, n)
        references = _references(np, controller, steps, dt, shares, len(start), loop.motors)
        states = compiled_rollout(loop, method)(start, dt, every, steps // every, references, noise, threads=threads)
    last = states[:, -1, -1] if loop.cost is not None else 0 * states[:, -1, 0]
    return Rollouts(states[..., :n], states[..., n : 2 * n], last, times)


def _on_device(array: Any) -> bool:
    if isinstance(array, np.ndarray | list | tuple):
        return False
    from emdeg.runtime.cuda import lives_on_device  # needs llvmlite

    return lives_on_device(array)


def _loop(
    robot: Robot,
    controller: Any,
    cost: Program | None,
    friction: bool,
    limits: bool,
    stiffness: float,
    damping: float,
    noisy: bool = False,
) -> Loop:
    passive = passive_of(robot, friction, "spring" if limits else "ignore", stiffness, damping)
    if controller is None or isinstance(controller, NoEffort):
        law = None
    elif isinstance(controller, ProgramLaw):
        law = controller.program
    else:
        law = held_program(len(robot.driven))
    rubbing = with_idle_motors(robot, passive)
    return Loop(
        robot.freedoms,
        accelerations(rubbing),
        law=law,
        conditioning=Conditioning(),
        passive=passive,
        work=False,
        drives=drive_rates(rubbing),
        cost=cost,
        noisy=noisy,
    )


def effort_noise(deviation: ArrayLike, trajectories: int, steps: int, seed: int = 0, like: Any = None) -> Any:
    """(trajectories, steps, n) [N m, N]: the noise that `rollout` adds with the same deviation (n) and seed.

    `like` is an array in whose library, on whose device and in whose precision it is wanted; NumPy's without.

    >>> from emdeg.simulation import effort_noise
    >>> effort_noise([1.0, 0.5], trajectories=3, steps=4, seed=7).shape
    (3, 4, 2)
    """
    noise = _noise(deviation, seed, np.size(deviation))
    if like is None or not _on_device(like):
        return noise.efforts(trajectories, steps)
    from emdeg.simulation.integrators.device_rollout import device_noise  # needs llvmlite

    return device_noise(noise, trajectories, steps, like)


def _noise(deviation: ArrayLike, seed: int, n: int) -> EffortNoise:
    spread = np.asarray(deviation, float)
    if spread.shape != (n,) or not np.isfinite(spread).all() or (spread < 0).any():
        raise ScenarioError(f"the noise's deviation is {n} numbers that are not negative; got {spread.tolist()}")
    return EffortNoise(tuple(spread.tolist()), stream_key(seed, "efforts"))


def _cost(robot: Robot, cost: Program | CostFunction | None) -> Program | None:
    if cost is None:
        return None
    program = cost if isinstance(cost, Program) else _traced_cost(robot, cost)
    sizes = [len(group.entries) for group in program.outputs]
    if sizes != [1] or {group.name for group in program.inputs} - {"q", "qd", "tau"}:
        raise ScenarioError(f"a cost takes q, qd, tau and gives one number; {program.name} does not")
    return program


@lru_cache(maxsize=16)
def _traced_cost(robot: Robot, cost: CostFunction) -> Program:
    tracer, n = Tracer(), robot.freedoms
    q = tracer.inputs("q", n, Dependence.CONFIGURATION)
    qd = tracer.inputs("qd", n, Dependence.RATES)
    tau = tracer.inputs("tau", len(robot.driven), Dependence.RATES)
    given: list[Sequence[Traced]] = [q, qd, tau]
    if len(inspect.signature(cost).parameters) > 3:
        pose = robot_program(robot, "forward_kinematics")
        places = included(tracer, pose, {"q": q})
        T = places[[group.name for group in pose.outputs].index("T")]
        given.append([T[4 * row + 3] for row in range(3)])
    rate = cost(*given)
    if not isinstance(rate, Traced):
        raise ScenarioError(f"the cost gave {type(rate).__name__}, not an expression of q, qd and tau")
    return simplify(tracer.program("cost", {"cost": [rate]}))


def _references(
    xp: Any, controller: Any, steps: int, dt: float, shares: tuple[float, ...], trajectories: int, motors: int
) -> Any:
    """What the law is told: (steps or 1, nodes, size), one axis more where every trajectory has its own."""
    if controller is None or isinstance(controller, NoEffort):
        return None
    if isinstance(controller, ProgramLaw):
        at = np.zeros(1) if controller.constant else dt * np.arange(steps)
        return controller.reference_at(at[:, None] + dt * np.asarray(shares))
    efforts = controller if xp is not np else np.asarray(controller, float)
    shape = tuple(efforts.shape)
    if shape not in ((steps, motors), (trajectories, steps, motors)):
        raise ScenarioError(
            f"a sequence of efforts has shape {shape}; expected ({steps}, {motors}) or "
            f"({trajectories}, {steps}, {motors})"
        )
    held = efforts.reshape((*shape[:-1], 1, motors))
    return held if len(shares) == 1 else xp.concatenate([held] * len(shares), axis=-2)


def _stacked(xp: Any, q: Any, qd: Any, loop: Loop, n: int) -> Any:
    if q.ndim != 2 or q.shape[-1] != n or q.shape != qd.shape:
        shapes = f"{tuple(q.shape)} and {tuple(qd.shape)}"
        raise ScenarioError(f"q0 and qd0 have shapes {shapes}; expected (trajectories, {n})")
    rest = loop.size - 2 * n
    return xp.concatenate([q, qd, *([0 * q[:, :1]] * rest)], axis=-1)


def _on_gpu(
    loop: Loop,
    method: str,
    dtype: np.dtype,
    q0: Any,
    qd0: Any,
    controller: Any,
    steps: int,
    dt: float,
    every: int,
    shares: tuple[float, ...],
    noise: EffortNoise | None,
) -> Any:
    from emdeg.runtime.cuda import Borrowed, device, handed_back, library_of, namespace  # needs llvmlite

    library, run = library_of([q0, qd0]), _device_rollout(loop, method, dtype)
    xp = namespace(library, q0)
    if library == "numpy":
        q0, qd0 = np.asarray(q0), np.asarray(qd0)
    start = _stacked(xp, q0, qd0, loop, loop.n)
    references = _references(xp, controller, steps, dt, shares, start.shape[0], loop.motors)
    if library == "numpy":
        on = device()
        stream = on.stream()
        copies = [
            None if each is None else Borrowed.taken(np.ascontiguousarray(each, dtype), on, stream)
            for each in (start, references)
        ]
        return run(copies[0], dt, every, steps // every, copies[1], noise).fetched(stream)
    if isinstance(references, np.ndarray):
        references = xp.asarray(references.astype(dtype))
        references = references.to(start.device) if library == "torch" else references
    return handed_back(library, run(start, dt, every, steps // every, references, noise))


@lru_cache(maxsize=16)
def _device_rollout(loop: Loop, method: str, dtype: np.dtype) -> Any:
    from emdeg.simulation.integrators.device_rollout import DeviceRollout  # needs llvmlite

    return DeviceRollout(loop, method, None, dtype)
