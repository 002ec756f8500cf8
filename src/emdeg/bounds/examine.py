"""What is known of f over many boxes: an upper bound, how its slopes vary, which variable adds most to the bound.

On a box with centre x0 and half widths r in its narrow variables each wave's size |2 B_m(x0 + t)| is bounded in one of
two ways. Where 2 B_m keeps away from zero, turn it so that it is real at the centre: with p + i s = p0 + p1.t + ... + i
(s1.t + ...), |p + i s| <= p + s^2 / (2 least p), a quadratic form in t whose slope has a sign and can cancel against
the others. Else it is at most |2 B_m| + |slopes|.r + r.|curvatures| r / 2. Everything beyond second order is bounded by
the amplitudes of the Fourier coefficients. What remains is the maximum of one quadratic form (`quadratic`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from emdeg.algebra import Array
from emdeg.bounds.quadratic import highest, within_ellipsoid
from emdeg.bounds.tensors import Tensor
from emdeg.bounds.wide_angles import WithWideAngles


@dataclass
class BoxBounds:
    """What is known of a batch of boxes."""

    value: Array
    """At the centre; -inf where some angle is wide."""
    upper: Array
    slope: Array
    change: Array
    """The slope over the whole box differs from `slope` by less than this."""
    weight: Array
    """How much each variable's width adds to the bound."""


@dataclass(frozen=True)
class Turning:
    """An angle z that occurs in f only as A + C cos(h z) + S sin(h z), and whose range holds a whole period."""

    place: int
    harmonic: int
    low: float

    def covered(self, r: Array) -> NDArray[np.bool_]:
        """Which boxes with half widths r hold a whole period of z."""
        return r[:, self.place] * self.harmonic >= np.pi * (1 - 1e-12)

    def peak(self, view: WithWideAngles, c: Array) -> Array:
        """Where z makes B_0 largest at each centre, within z's range."""
        local = view.narrow.index(self.place)
        x = c[:, list(view.narrow)]
        values = []
        for quarter in range(3):
            x[:, local] = 0.5 * np.pi * quarter / self.harmonic
            values.append(view.still.values(x))
        cosine, middle = 0.5 * (values[0] - values[2]), 0.5 * (values[0] + values[2])
        period = 2 * np.pi / self.harmonic
        angle = np.arctan2(values[1] - middle, cosine) / self.harmonic
        return self.low + np.mod(angle - self.low, period)


def turning(f: Tensor) -> Turning | None:
    """The angle of that kind that moves f most; None if there is none."""
    best, found = 0.0, None
    for place, (variable, degree) in enumerate(zip(f.variables, f.degrees)):
        if not variable.is_angle:
            continue
        sums = f.amplitudes.sum(axis=tuple(k for k in range(f.dimension) if k != place))[degree + 1 :]
        (harmonics,) = np.nonzero(sums)
        if len(harmonics) != 1 or sums[harmonics[0]] <= best:
            continue
        harmonic = int(harmonics[0]) + 1
        if variable.high - variable.low >= 2 * np.pi / harmonic * (1 - 1e-12):
            best, found = float(sums[harmonics[0]]), Turning(place, harmonic, variable.low)
    return found


def empty(boxes: int, d: int) -> BoxBounds:
    return BoxBounds(np.full(boxes, -np.inf), np.empty(boxes), *(np.zeros((boxes, d)) for _ in range(3)))


def examine(view: WithWideAngles, c: Array, r: Array, goal: float, turn: Turning | None = None) -> BoxBounds:
    """Bounds over the boxes with centres c and half widths r; sharper ones where they may bring f below `goal`.

    The bounds hold over a whole period of the turning angle, if one is given; c has it where B_0 is largest. Where f
    does not fall off to both sides of there for certain, the bound is infinite.
    """
    narrow, open_ = list(view.narrow), list(view.open_)
    x, s = c[:, narrow], r[:, narrow]
    if turn is not None:
        s[:, view.narrow.index(turn.place)] = 0.0
    f, g, H = view.derivatives(x)
    rounding = view.still.rounding
    count = len(view.orders)
    alphas, T = view.cubic
    third = powers(s, alphas)
    left = third @ T.T  # beyond second order, of B_0 and of each wave
    value, slope, curvature = f[:, 0], g[:, :, 0], H[:, :, :, 0]
    rest = left.sum(axis=1) + rounding
    total = np.einsum("pij,pj->pi", np.abs(curvature), s)
    change = total.copy()
    sizes = np.empty((len(c), 0))
    steady, form, bend = value, slope, curvature
    extra = np.zeros(s.shape)
    if count:
        waves = _Waves(f, g, H, s, left[:, 1:])
        sizes = waves.size
        steady = value + waves.size.sum(axis=1)
        form, bend = slope + waves.slope, curvature + waves.curvature
        rest = rest + waves.rest
        extra = waves.extra
        change += waves.steep
    swing = None
    if turn is not None:
        swing = _Swing(view, turn, g, H, s)
        bend = bend + swing.curvature
        rest = rest + swing.rest
        change += swing.change
    upper = steady + highest(form, bend, s) + rest
    close = np.flatnonzero((upper > goal) & (steady + rest < goal))
    if len(close) and s.shape[1] > 1:
        better = steady[close] + within_ellipsoid(form[close], bend[close], s[close]) + rest[close]
        upper[close] = np.minimum(upper[close], better)
    found = empty(*c.shape)
    if not open_:
        found.value[:] = value
    found.upper = upper
    found.slope[:, narrow] = slope
    beyond = (third * T.sum(axis=0)) @ (alphas / 3.0) if narrow else np.zeros(s.shape)
    with np.errstate(divide="ignore", invalid="ignore"):
        # d(sum T r^alpha)/dr_k, tripled for alpha = 3 e_k, is at least the change of the slopes beyond first order.
        found.change[:, narrow] = change + np.where(s > 0, 3 * beyond / s, 0.0) + rounding
    found.change[:, open_] = np.inf
    if swing is not None and turn is not None:
        found.change[:, turn.place] = np.inf
    bent = 0.5 * np.einsum("pij,pj->pi", np.abs(bend), s) * s
    found.weight[:, narrow] = np.abs(form) * s + bent + extra + beyond
    if swing is not None and turn is not None:
        found.weight[:, turn.place] = swing.rest
    if count:
        involved = (view.orders != 0).astype(float)
        share = sizes @ (involved / np.maximum(involved.sum(axis=1, keepdims=True), 1.0))
        # As many waves as there are wide angles can be at their peaks together: that part of the bound is no loss.
        best = np.sort(sizes, axis=1)[:, -len(open_) :].sum(axis=1)
        whole = sizes.sum(axis=1)
        lost = np.divide(whole - best, whole, out=np.zeros(len(c)), where=whole > 0)
        found.weight[:, open_] = share * lost[:, None]
    return found


class _Swing:
    """What the turning angle adds when it follows the other variables instead of standing at its centre z.

    There f = A + p cos h(z' - z) + s sin h(z' - z) with p = -f_zz / h^2 and s = f_z / h, so over a period it reaches
    A + |p + i s| <= A + p + s^2 / (2 least p), and A + p is f at z itself.
    """

    def __init__(self, view: WithWideAngles, turn: Turning, g: Array, H: Array, r: Array) -> None:
        z, h = view.narrow.index(turn.place), turn.harmonic
        count = len(view.orders)
        alphas, T = view.cubic
        T = T.sum(axis=0)
        other = r.copy()
        other[:, z] = 1.0
        once, twice = alphas[:, z] == 1, alphas[:, z] == 2
        beyond = powers(other, alphas[once]) @ T[once]
        wave_slope = np.hypot(g[:, z, 1 : count + 1], g[:, z, count + 1 :]).sum(axis=1)
        wave_bend = np.hypot(H[:, z, :, 1 : count + 1], H[:, z, :, count + 1 :]).sum(axis=2)
        other[:, z] = 0.0
        sigma = H[:, z, :, 0] / h
        sigma[:, z] = 0.0
        apart = (np.abs(g[:, z, 0]) + wave_slope + (wave_bend * other).sum(axis=1) + beyond) / h
        other[:, z] = 1.0
        least = (-H[:, z, z, 0] - wave_bend[:, z] - 2 * powers(other, alphas[twice]) @ T[twice]) / h**2
        reach = (np.abs(sigma) * r).sum(axis=1)
        sure = least > 0
        inverse = np.where(sure, 1 / np.where(sure, least, 1.0), 0.0)
        never = np.where(sure, 0.0, np.inf)
        self.rest = (reach * apart + 0.5 * apart**2) * inverse + never
        self.curvature = sigma[:, :, None] * sigma[:, None, :] * inverse[:, None, None]
        # The best z' lies within (reach + apart) / (h least p) of z; the slopes change by f_kz times that.
        self.change = ((reach + apart) * inverse / h)[:, None] * view.mixed(z) + never[:, None]


class _Waves:
    """The waves' part of the bound: constants `size`, a quadratic form (slope, curvature), and a `rest`."""

    def __init__(self, f: Array, g: Array, H: Array, s: Array, left: Array) -> None:
        count = left.shape[1]
        b = f[:, 1 : count + 1] + 1j * f[:, count + 1 :]
        L = g[:, :, 1 : count + 1] + 1j * g[:, :, count + 1 :]
        Q = H[:, :, :, 1 : count + 1] + 1j * H[:, :, :, count + 1 :]
        self.size = np.abs(b)
        turned = np.conj(b) / np.maximum(self.size, 1e-300)
        L, Q = L * turned[:, None, :], Q * turned[:, None, None, :]
        steep, bent = np.abs(L), np.abs(Q)
        reach = np.einsum("pkw,pk->pw", steep, s)
        bending = np.einsum("pijw,pj->piw", bent, s)
        half = 0.5 * np.einsum("piw,pi->pw", bending, s) + left
        across, aside = np.abs(L.imag), np.abs(Q.imag)
        sideways = np.einsum("pkw,pk->pw", across, s)
        swerve = 0.5 * np.einsum("pijw,pi,pj->pw", aside, s, s) + left
        least = self.size - np.einsum("pkw,pk->pw", np.abs(L.real), s) - half
        with np.errstate(divide="ignore", invalid="ignore"):
            more = (sideways * swerve + 0.5 * swerve**2) / least
            turn = np.where(least > 0, 0.5 * sideways**2 / least + more, np.inf)
        away = turn < reach + half
        inverse = np.where(away, 1 / np.where(away, least, 1.0), 0.0)
        self.slope = np.einsum("pkw,pw->pk", L.real, away)
        self.curvature = np.einsum("pijw,pw->pij", Q.real, away) + np.einsum("piw,pjw,pw->pij", L.imag, L.imag, inverse)
        plain = ~away
        self.rest = np.where(away, more, reach + half - left).sum(axis=1)
        self.extra = np.einsum("pkw,pk,pw->pk", steep, s, plain) + 0.5 * np.einsum("piw,pi,pw->pi", bending, s, plain)
        self.steep = steep.sum(axis=2) + bending.sum(axis=2)


def powers(r: Array, alphas: NDArray[np.intp]) -> Array:
    """prod r^alpha (boxes, multi-indices)."""
    result = np.ones((len(r), len(alphas)))
    for k in range(r.shape[1]):
        steps = np.stack([r[:, k] ** e for e in range(4)], axis=1)
        result *= steps[:, alphas[:, k]]
    return result
