"""Pinocchio and MuJoCo asked the same questions as emdeg, joints in emdeg's order.

Neither knows our code: they load the same file text, or a model built from the same plain numbers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
import pinocchio as pin

GRAVITY = np.array([0.0, 0.0, -9.81])


@dataclass
class Pinocchio:
    """A Pinocchio model whose one-variable joints are addressed in the order of `joints`."""

    model: Any
    joints: Sequence[str]

    def __post_init__(self) -> None:
        self.model.gravity.linear = GRAVITY
        self.data = self.model.createData()
        self.joint = [self.model.joints[self.model.getJointId(name)] for name in self.joints]
        self.v = [joint.idx_v for joint in self.joint]

    @staticmethod
    def joint_names(model: Any) -> list[str]:
        return list(model.names)[1:]

    def _position(self, q: np.ndarray) -> np.ndarray:
        full = pin.neutral(self.model)
        for joint, value in zip(self.joint, q):
            if joint.nq == 2:  # an unbounded revolute joint is kept as (cosine, sine)
                full[joint.idx_q : joint.idx_q + 2] = np.cos(value), np.sin(value)
            else:
                full[joint.idx_q] = value
        return full

    def _rates(self, values: np.ndarray) -> np.ndarray:
        full = np.zeros(self.model.nv)
        full[self.v] = values
        return full

    def inverse_dynamics(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        tau = pin.rnea(self.model, self.data, self._position(q), self._rates(qd), self._rates(qdd))
        return np.array(tau)[self.v]

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        upper = np.triu(pin.crba(self.model, self.data, self._position(q)))
        return (upper + np.triu(upper, 1).T)[np.ix_(self.v, self.v)]

    def forward_dynamics(self, q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> np.ndarray:
        qdd = pin.aba(self.model, self.data, self._position(q), self._rates(qd), self._rates(tau))
        return np.array(qdd)[self.v]


@dataclass
class Mujoco:
    """A MuJoCo model of hinges and slides, in the order of `joints`; no constraint, friction or damping."""

    model: Any
    joints: Sequence[str]

    def __post_init__(self) -> None:
        m = self.model
        m.opt.gravity[:] = GRAVITY
        m.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
        m.dof_damping[:] = 0
        m.dof_frictionloss[:] = 0
        m.jnt_stiffness[:] = 0
        self.data = mujoco.MjData(m)
        self.v = [int(m.joint(name).dofadr[0]) for name in self.joints]
        assert m.nq == m.nv == len(self.v)

    def _place(self, q: np.ndarray, qd: np.ndarray) -> None:
        self.data.qpos[self.v] = q
        self.data.qvel[self.v] = qd

    def inverse_dynamics(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        self._place(q, qd)
        self.data.qacc[self.v] = qdd
        mujoco.mj_inverse(self.model, self.data)
        return np.array(self.data.qfrc_inverse)[self.v]

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        self._place(q, np.zeros(len(q)))
        mujoco.mj_forward(self.model, self.data)
        columns = np.zeros((len(q), len(q)))
        for k, unit in enumerate(np.eye(len(q))):
            mujoco.mj_mulM(self.model, self.data, columns[k], unit)
        return columns[np.ix_(self.v, self.v)]

    def forward_dynamics(self, q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> np.ndarray:
        self._place(q, qd)
        self.data.qfrc_applied[self.v] = tau
        mujoco.mj_forward(self.model, self.data)
        return np.array(self.data.qacc)[self.v]


def relative_error(ours: np.ndarray, theirs: np.ndarray) -> float:
    """The largest difference, as a share of the largest value."""
    scale = float(np.abs(theirs).max())
    return float(np.abs(ours - theirs).max()) / scale if scale else float(np.abs(ours).max())


def without_meshes(urdf: str) -> str:
    """The URDF's text without what can be seen or touched: no mesh is looked for."""
    urdf = re.sub(r"<!--.*?-->", "", urdf, flags=re.DOTALL)
    return re.sub(r"<(visual|collision)\b[^>]*?(/>|>.*?</\1\s*>)", "", urdf, flags=re.DOTALL)


def with_joints_fixed(urdf: str, joints: Sequence[str]) -> str:
    """The URDF's text with the named joints made fixed at zero."""
    for name in joints:
        pattern = rf"(<joint\b(?=[^>]*\bname=\"{re.escape(name)}\")[^>]*\btype=)\"\w+\"([^>]*>.*?</joint\s*>)"
        urdf, found = re.subn(pattern, r'\1"fixed"\2', urdf, flags=re.DOTALL)
        assert found, f"the joint {name} was not found in the text"
    return re.sub(r"<mimic\b[^>]*?(/>|>.*?</mimic\s*>)", "", urdf, flags=re.DOTALL)


def without_fusing(urdf: str) -> str:
    """The URDF's text with the word that keeps MuJoCo from fusing fixed links.

    Fusing, it drops the tensor of a link without mass.
    """
    return re.sub(r"(<robot\b[^>]*>)", r'\1<mujoco><compiler fusestatic="false"/></mujoco>', urdf, count=1)
