"""Pinocchio's C++ routines, compiled from the headers inside the packages `pin` and `cmeel-eigen`.

The compilation takes about two minutes; the library stays in build/bench until its source or compiler changes.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib.util
import subprocess
from pathlib import Path

import numpy as np

from emdeg.algebra import Floats
from emdeg.dynamics.mechanism import frames, mechanism_of, positions_at_zero
from emdeg.robot.model import Robot

HERE = Path(__file__).parent
CACHE = HERE.parent / "build" / "bench"
FLAGS = [
    "-std=c++17",
    "-O3",
    "-march=native",
    "-DNDEBUG",
    "-w",
    "-shared",
    "-fPIC",
    "-DBOOST_MPL_LIMIT_LIST_SIZE=30",
    "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
    "-DBOOST_MPL_LIMIT_VECTOR_SIZE=30",
    "-DBOOST_FUSION_INVOKE_MAX_ARITY=12",
]

ROUTINES = {
    "inverse_dynamics": ("rnea",),
    "mass_matrix": ("crba", "crba_local"),
    "forward_dynamics": ("aba", "aba_local"),
    "inverse_dynamics_derivatives": ("rnea_derivatives",),
    "forward_dynamics_derivatives": ("aba_derivatives",),
    "inverse_dynamics_vjp": ("rnea_derivatives",),
    "forward_dynamics_vjp": ("aba_derivatives",),
}
"""Pinocchio's routine for each function; of two conventions the faster one counts. It has no adjoints: a row times a
Jacobian needs the Jacobian, and the product itself is not even timed."""


class NoPeer(Exception):
    """Pinocchio's headers, Eigen's or a C++ compiler are not here."""


def library(name: str = "pinocchio_peer.cpp", include: tuple[Path, ...] = (), link: tuple[str, ...] = ()) -> Path:
    """The library compiled from one of the sources beside this file; NoPeer says what is missing."""
    found = importlib.util.find_spec("pinocchio")
    if found is None or found.origin is None:
        raise NoPeer("the package `pin` is not installed")
    own = next((up / "include" for up in Path(found.origin).parents if up.name == "cmeel.prefix"), None)
    if own is None or not (own / "eigen3").is_dir():
        raise NoPeer("Eigen's headers are missing: pip install cmeel-eigen")
    source = HERE / name
    try:
        version = subprocess.run(["g++", "--version"], check=True, capture_output=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError):
        raise NoPeer("there is no g++") from None
    texts = source.read_text() + (HERE / "pinocchio_model.hpp").read_text()
    key = hashlib.sha256(f"{texts} {FLAGS} {own} {include} {version} {found.origin}".encode()).hexdigest()[:16]
    target = CACHE / f"{source.stem}-{key}.so"
    if not target.exists():
        print("compiling Pinocchio's routines (about two minutes, once) ...", flush=True)
        CACHE.mkdir(parents=True, exist_ok=True)
        part = target.with_suffix(".part")
        folders = [f"-I{folder}" for folder in (own, own / "eigen3", *include)]
        command = ["g++", *FLAGS, *folders, str(source), "-o", str(part), *link]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise NoPeer(f"g++ failed: {done.stderr[-500:]}")
        part.replace(target)
    return target


def casadi_library() -> ctypes.CDLL:
    """Pinocchio's routines over CasADi's scalars; CasADi's headers and library come in its package."""
    found = importlib.util.find_spec("casadi")
    if found is None or found.origin is None:
        raise NoPeer("the package casadi is not installed")
    import casadi  # noqa: F401  loads libcasadi

    home = Path(found.origin).parent
    link = (f"-L{home}", "-lcasadi", f"-Wl,-rpath,{home}")
    return ctypes.CDLL(str(library("pinocchio_casadi.cpp", (home / "include",), link)))


class Pinocchio:
    """A robot as Pinocchio's model, and its routines over arrays of states (states, n)."""

    def __init__(self, robot: Robot) -> None:
        arrays = model_arrays(robot)
        self._library = ctypes.CDLL(str(library()))
        self._library.peer_new.restype = ctypes.c_void_p
        self._peer = ctypes.c_void_p(self._library.peer_new(robot.n, *(pointer(a) for a in arrays)))

    def states(self, q: np.ndarray, qd: np.ndarray, x: np.ndarray) -> None:
        """The states that the routines run over; x is qdd or tau."""
        self._library.peer_states(self._peer, ctypes.c_size_t(len(q)), pointer(q), pointer(qd), pointer(x))

    def call(self, routine: str, out: np.ndarray | None = None):
        """A call without arguments that runs over all states; `out` takes the last state's result."""
        function = getattr(self._library, f"peer_{routine}")
        function.restype = None
        place = None if out is None else pointer(out)
        return lambda: function(self._peer, place)


def pointer(array: np.ndarray) -> ctypes.c_void_p:
    return array.ctypes.data_as(ctypes.c_void_p)


def model_arrays(robot: Robot) -> tuple[np.ndarray, ...]:
    """Parents, kinds, poses at joint value zero, inertias about mass centres, drive inertias, gravity."""
    mech = mechanism_of(robot, Floats())
    at_zero = frames(mech, positions_at_zero(mech))
    poses, inertias = [], []
    for i, body in enumerate(mech.inertia):
        R, p = np.array(at_zero.R[i], float), np.array(at_zero.p[i], float)
        poses.append([*R.ravel(), *p])
        m = float(body.m)
        c = np.array(body.mr, float) / m if m else np.zeros(3)
        J = np.array(body.J, float) - m * (c @ c * np.eye(3) - np.outer(c, c))
        inertias.append([m, *c, J[0, 0], J[0, 1], J[1, 1], J[0, 2], J[1, 2], J[2, 2]])
    return (
        np.array(mech.parent, np.int32),
        np.array(mech.revolute, np.int32),
        np.array(poses),
        np.array(inertias),
        np.array(mech.drive, float),
        np.array(mech.gravity, float),
    )


def python_model(robot: Robot):
    """The same model for Pinocchio's Python interface: (module, model)."""
    import pinocchio

    parent, revolute, poses, inertias, armature, gravity = model_arrays(robot)
    model = pinocchio.Model()
    for i in range(robot.n):
        place = pinocchio.SE3(poses[i, :9].reshape(3, 3), poses[i, 9:])
        m, c, (xx, xy, yy, xz, yz, zz) = inertias[i, 0], inertias[i, 1:4], inertias[i, 4:]
        body = pinocchio.Inertia(m, c, np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))
        kind = pinocchio.JointModelRZ() if revolute[i] else pinocchio.JointModelPZ()
        joint = model.addJoint(int(parent[i]) + 1, kind, place, f"j{i}")
        model.appendBodyToJoint(joint, body, pinocchio.SE3.Identity())
    model.armature = armature
    model.gravity.linear = gravity
    return pinocchio, model


def casadi_graph(robot: Robot, routine: str, path: Path) -> None:
    """Writes rnea(q, qd, qdd), aba(q, qd, tau) or aba_local as a function of CasADi's to a file."""
    arrays = [pointer(array) for array in model_arrays(robot)]
    casadi_library().save_function(routine.encode(), robot.n, *arrays, str(path).encode())
