"""Kane's equations over any scalar: partial velocities dotted into inertia forces, body by body.

The generalized speeds are the joint rates, u = qd. They enter only through `partial_velocities` and the accelerations
made from them (`accelerations`); what follows is the same for any other choice of speeds.

Kane and Levinson take forces at mass centres. Here they are taken at the link frames' origins, which is as good a
point of the body as any and keeps every line linear in a link's ten parameters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from emdeg.mechanics.formulations.coefficients import Coefficients, christoffel_zeros, frozen
from emdeg.mechanics.mechanism import BodyInertia, Frames, Mechanism, outward
from emdeg.mechanics.vectors import Scalar, Vec3, add, cross, dot, mul, scale, tmul
from emdeg.robot.model import BASE


@dataclass(frozen=True, slots=True)
class Partial:
    """How one generalized speed moves a body: partial angular velocity and partial velocity of its origin."""

    omega: Vec3
    v: Vec3


Partials = tuple[Mapping[int, Partial], ...]
"""Per body, in its own frame: speed number -> Partial; speeds that do not move the body are absent."""


def partial_velocities(mech: Mechanism, frame: Frames) -> Partials:
    """Every body's partial velocities for u = qd (Kane and Levinson (23), (44); Burdick (4), (5), (7))."""
    zero, one = mech.zero, mech.one
    none, z = (zero, zero, zero), (zero, zero, one)
    partials: list[dict[int, Partial]] = []
    for i, parent in outward(mech):
        R, p = frame.R[i], frame.p[i]
        own: dict[int, Partial] = {}
        if parent != BASE:
            for r, carried in partials[parent].items():
                v = add(carried.v, cross(carried.omega, p))
                own[r] = Partial(tmul(R, carried.omega), tmul(R, v))
        own[i] = Partial(z, none) if mech.revolute[i] else Partial(none, z)
        partials.append(own)
    return tuple(partials)


def accelerations(mech: Mechanism, partials: Mapping[int, Partial]) -> dict[tuple[int, int], Partial]:
    """What multiplies u_s u_t (s <= t) in a body's angular acceleration and its origin's, in its frame.

    A joint turns everything beyond it and nothing before it, so the derivative of a partial velocity of speed t by an
    earlier q_s is omega_s x (.), and by a later one follows from the equality of mixed derivatives.
    """
    found = {}
    order = sorted(partials)
    for at, s in enumerate(order):
        if not mech.revolute[s]:
            continue  # a shift turns nothing
        by = partials[s].omega
        for t in order[at:]:
            turning = cross(by, partials[t].v)
            if s == t:
                found[s, t] = Partial(_nothing(mech), turning)
            else:  # qd_s qd_t: once in the angular acceleration, as s t and t s in the linear one
                found[s, t] = Partial(cross(by, partials[t].omega), add(turning, turning))
    return found


def _nothing(mech: Mechanism) -> Vec3:
    return (mech.zero, mech.zero, mech.zero)


@dataclass(frozen=True, slots=True)
class InertiaForce:
    """What an acceleration asks for: force, and moment about the body frame's origin."""

    f: Vec3
    n: Vec3

    def __add__(self, other: InertiaForce) -> InertiaForce:
        return InertiaForce(add(self.f, other.f), add(self.n, other.n))

    def on(self, partial: Partial) -> Scalar:
        """Its share in the generalized force of a speed: omega_r . T + v_r . R (Kane and Levinson (78), (90))."""
        return dot(self.f, partial.v) + dot(self.n, partial.omega)


def of_acceleration(body: BodyInertia, a: Partial) -> InertiaForce:
    """m a + alpha x h and J alpha + h x a (Kane and Levinson (79), moved to the frame's origin)."""
    f = add(scale(body.m, a.v), cross(a.omega, body.h))
    return InertiaForce(f, add(mul(body.J, a.omega), cross(body.h, a.v)))


def of_turning(body: BodyInertia, s: Vec3, t: Vec3) -> InertiaForce:
    """What multiplies u_s u_t in omega x (omega x h) and omega x J omega, for s != t."""
    f = add(cross(s, cross(t, body.h)), cross(t, cross(s, body.h)))
    return InertiaForce(f, add(cross(s, mul(body.J, t)), cross(t, mul(body.J, s))))


def of_own_turning(body: BodyInertia, s: Vec3) -> InertiaForce:
    """What multiplies u_s^2 in omega x (omega x h) and omega x J omega."""
    return InertiaForce(cross(s, cross(s, body.h)), cross(s, mul(body.J, s)))


def kane_coefficients(mech: Mechanism, frame: Frames) -> Coefficients:
    """M, beta and g from the bodies' generalized inertia and active forces. Chains and trees."""
    n, zero = mech.n, mech.zero
    half = mech.algebra.number(Fraction(1, 2))
    M = [[zero] * n for _ in range(n)]
    beta = christoffel_zeros(n, zero)
    g = [zero] * n
    weight: list[Vec3] = []  # the acceleration of gravity in each body's frame
    partials = partial_velocities(mech, frame)
    for i, parent in outward(mech):
        body, own = mech.inertia[i], partials[i]
        weight.append(tmul(frame.R[i], mech.gravity if parent == BASE else weight[parent]))
        pull = InertiaForce(scale(body.m, weight[i]), cross(body.h, weight[i]))
        for r, partial in own.items():
            g[r] = g[r] - pull.on(partial)
        for s, partial in own.items():
            force = of_acceleration(body, partial)
            for r in own:
                if r <= s:
                    M[r][s] = M[r][s] + force.on(own[r])
        rates = accelerations(mech, own)
        for (s, t), rate in rates.items():
            force = of_acceleration(body, rate)
            if s == t:
                force = force + of_own_turning(body, own[s].omega)
            elif mech.revolute[t]:
                force = force + of_turning(body, own[s].omega, own[t].omega)
            for r in own:
                share = force.on(own[r])
                beta[r][s][t] = beta[r][s][t] + share
    for i in range(n):
        M[i][i] = M[i][i] + mech.drive[i]
        for j in range(i + 1, n):
            M[j][i] = M[i][j]
            for r in range(n):
                beta[r][i][j] = beta[r][j][i] = half * beta[r][i][j]
    return frozen(M, beta, g)
