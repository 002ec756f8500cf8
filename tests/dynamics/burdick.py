"""A serial arm in the letters of Burdick's paper, from its definitions and from Newton-Euler; indices count from 1.

Nothing here uses the recursions under test: axes, arms and dyadics are sums over the links, M and the Christoffel
symbols come from `newton_euler_coefficients`.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from emdeg.algebra import Floats
from emdeg.dynamics.formulations.coefficients import newton_euler_coefficients
from emdeg.dynamics.mechanism import frames, mechanism_of
from emdeg.robot import Robot

X, Y, Z = np.eye(3)


def hat(v):
    """The tensor with hat(v) u = v x u."""
    x, y, z = v
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])


def braces(a, b):
    return hat(a) @ hat(b) + hat(b) @ hat(a)


class Arm:
    """A robot without drives at a configuration q (complex q give complex-step derivatives)."""

    def __init__(self, robot: Robot, q) -> None:
        self.robot, self.q, self.N = robot, np.asarray(q), robot.n
        self._mech = mechanism_of(robot, Floats())
        position = [(np.sin(v), np.cos(v)) if r else v for v, r in zip(self.q, self._mech.revolute)]
        self._frame = frames(self._mech, position)
        self._R = [np.array(R) for R in self._frame.R]
        self._p = [np.array(p) for p in self._frame.p]

    def revolute(self, i: int) -> bool:
        return self._mech.revolute[i - 1]

    def parallel(self, p: int) -> bool:
        return p < self.N and bool(np.allclose(self.R(p, p + 1) @ Z, Z))

    def moved(self, k: int, by: complex) -> Arm:
        q = self.q.astype(complex)
        q[k - 1] += by
        return Arm(self.robot, q)

    def derivative(self, function, k: int):
        """d/dq_k of function(arm), to rounding."""
        h = 1e-30
        return np.imag(function(self.moved(k, 1j * h))) / h

    # Geometry. `at` names the frame in whose axes the vector is written.

    def R(self, i: int, j: int):
        """Takes components in C_j to components in C_i."""
        if i > j:
            return self.R(j, i).T
        product = np.eye(3)
        for k in range(i, j):
            product = product @ self._R[k]
        return product

    def P(self, i: int, at: int | None = None):
        """From origin i - 1 to origin i; in C_{i-1} unless `at` says otherwise."""
        p = self._p[i - 1]
        return p if at is None else self.R(at, i - 1) @ p

    def z(self, i: int, at: int):
        return self.R(at, i) @ Z

    def Lo(self, i: int, j: int, at: int):
        """From origin i to origin j."""
        return sum((self.R(at, k) @ self.P(k + 1) for k in range(i, j)), np.zeros(3))

    def L(self, i: int, k: int, at: int):
        """L*: from origin i to the mass centre of link k (Burdick (6))."""
        return self.Lo(i, k, at) + self.R(at, k) @ self.r(k)

    # Masses.

    def m(self, k: int) -> float:
        return self._mech.inertia[k - 1].m

    def r(self, k: int):
        return np.array(self._mech.inertia[k - 1].mr) / self.m(k)

    def I_star(self, k: int, at: int):
        """Link k's inertia about its mass centre, in C_at."""
        R = self.R(at, k)
        about_origin = np.array(self._mech.inertia[k - 1].J)
        return R @ (about_origin + self.m(k) * hat(self.r(k)) @ hat(self.r(k))) @ R.T

    def mass_from(self, j: int) -> float:
        return sum(self.m(k) for k in range(j, self.N + 1))

    def U(self, j: int, at: int | None = None):
        """The first moment of the links from j on, about origin j (Burdick (20), its definition)."""
        return sum(self.m(k) * self.L(j, k, at or j) for k in range(j, self.N + 1))

    def U_bar(self, j: int):
        """What of U_j no joint beyond j moves: m_j r_j + M_{j+1} P_{j+1}, in C_j."""
        return self.m(j) * self.r(j) + self.mass_from(j + 1) * self.P(j + 1)

    def K(self, j: int):
        """K_jj (Burdick (20))."""
        r, P = self.r(j), self.P(j + 1)
        return self.I_star(j, j) - self.m(j) * hat(r) @ hat(r) - self.mass_from(j + 1) * hat(P) @ hat(P)

    def dyadic(self, i: int, j: int):
        """I_ij, i <= j, in C_j: the brackets of Burdick (17) and (18)."""
        total = np.zeros((3, 3))
        for k in range(j, self.N + 1):
            left = hat(self.L(i, k, j)) if self.revolute(i) else hat(self.R(j, i) @ Y)
            right = hat(self.L(j, k, j)) if self.revolute(j) else hat(Y)
            total = total - self.m(k) * left @ right
            if self.revolute(i) and self.revolute(j):
                total = total + self.I_star(k, j)
        return total

    def eta(self, i: int, j: int):
        """eta_ij (Burdick, after (24))."""
        return -self.z(i, j) @ hat(self.P(i, at=j)) @ hat(self.U(j)) @ Z

    def zU(self, k: int, at: int):
        """R^k z^ U_k: what the paper's (31)-(35) are written with."""
        return self.R(at, k) @ np.cross(Z, self.U(k))

    def zP(self, p: int, at: int):
        """R^p z^ P_{p+1}."""
        return self.R(at, p) @ np.cross(Z, self.P(p + 1))

    # Newton-Euler's answer.

    @cached_property
    def _oracle(self):
        found = newton_euler_coefficients(self._mech, self._frame)
        return np.array(found.M), np.array(found.beta)

    def M(self, i: int, j: int) -> float:
        return self._oracle[0][i - 1, j - 1]

    def beta(self, i: int, j: int, k: int) -> float:
        return self._oracle[1][i - 1, j - 1, k - 1]

    def dM(self, i: int, j: int, k: int) -> float:
        """dM_ij/dq_k: the sum of two Christoffel symbols."""
        return self.beta(i, j, k) + self.beta(j, i, k)

    def b(self, i: int, j: int, k: int) -> float:
        return 2 * self.beta(i, j, k)

    def c(self, i: int, j: int) -> float:
        return self.beta(i, j, j)
