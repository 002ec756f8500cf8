"""FIGAROH's identification of one log, as its examples do it; run by bench_identification.py in its own environment.

    python figaroh_peer.py ROBOT.urdf JOINTS LOG.npz OUT.json

LOG.npz holds t, q, tau of the log, and q_true, qd_true, qdd_true, tau_true of a motion without noise that is then
predicted. The cut-off of its Butterworth filter is the best of several: a user would have to find it.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pinocchio as pin
from figaroh.identification.identification_tools import (
    calculate_first_second_order_differentiation,
    low_pass_filter_data,
)
from figaroh.tools.qrdecomposition import QRDecomposer
from figaroh.tools.regressor import build_regressor_basic, build_regressor_reduced, get_index_eliminate

CUT_OFFS = (5.0, 10.0, 20.0, 40.0)


def reduced(urdf: str, joints: list[str]) -> SimpleNamespace:
    """The robot with every other joint held at zero."""
    model = pin.buildModelFromUrdf(urdf)
    held = [k for k in range(1, model.njoints) if model.names[k] not in joints]
    model = pin.buildReducedModel(model, held, pin.neutral(model))
    return SimpleNamespace(model=model, data=model.createData())


def rows(robot: SimpleNamespace, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
    options = {"has_friction": True, "has_joint_offset": True, "is_joint_torques": True}
    options |= {"act_idxv": list(range(robot.model.nv)), "act_idxq": list(range(robot.model.nq))}
    return build_regressor_basic(robot, q, qd, qdd, options)


def identified(robot: SimpleNamespace, log: dict[str, np.ndarray], cut_off: float) -> np.ndarray:
    """The efforts (m, n) that are predicted along the motion without noise."""
    step = float(np.median(np.diff(log["t"])))
    # Its filter takes the cut-off over four times what its name says.
    options = {"ts": step, "cut_off_frequency_butterworth": 4 * cut_off}
    q = low_pass_filter_data(log["q"], options)
    tau = low_pass_filter_data(log["tau"], options)
    q, qd, qdd = calculate_first_second_order_differentiation(robot.model, q, options)
    W = rows(robot, q, qd, qdd)
    names = {str(k): 0.0 for k in range(W.shape[1])}
    left_out, kept = get_index_eliminate(W, names, 1e-6)
    measured = tau[: len(q)].T.reshape(-1)
    _, _, phi, base, *_ = _decomposed(measured, build_regressor_reduced(W, left_out), kept)
    whole = build_regressor_reduced(rows(robot, log["q_true"], log["qd_true"], log["qdd_true"]), left_out)
    return (whole[:, base] @ phi).reshape(len(robot.model.lowerPositionLimit), -1).T


def _decomposed(tau: np.ndarray, W: np.ndarray, names: list[str]) -> tuple:
    """(base regressor, names, base parameters, their columns): columns chosen by its QR, fitted by least squares."""
    chosen = QRDecomposer(tolerance=1e-6)
    found = chosen.double_decomposition(tau, W, names, None)
    base_regressor = np.asarray(found[0])
    columns = [int(np.argmin(np.abs(W - column[:, None]).sum(axis=0))) for column in base_regressor.T]
    phi, *_ = np.linalg.lstsq(W[:, columns], tau, rcond=None)
    return base_regressor, found[1], phi, columns


def main() -> None:
    warnings.simplefilter("ignore")
    urdf, joints, source, out = sys.argv[1:]
    robot = reduced(urdf, joints.split(","))
    log = dict(np.load(source))
    found = []
    for cut_off in CUT_OFFS:
        start = time.perf_counter()
        try:
            predicted = identified(robot, log, cut_off)
        except Exception as problem:
            found.append({"cut_off": cut_off, "failed": f"{type(problem).__name__}: {problem}"[:200]})
            continue
        seconds = time.perf_counter() - start
        rest = np.sqrt(np.mean((predicted - log["tau_true"]) ** 2, axis=0))
        size = np.sqrt(np.mean(log["tau_true"] ** 2, axis=0))
        found.append({"cut_off": cut_off, "seconds": seconds, "relative_error": (rest / size).tolist()})
    Path(out).write_text(json.dumps(found))


if __name__ == "__main__":
    main()
