"""Smoothing and differentiation that shift nothing in time: symmetric filters, and where a signal ends in noise.

A filter of 2 m + 1 taps loses m samples at each end and delays nothing; a log's ends are cut, not guessed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from emdeg.algebra import Array

ATTENUATION = 110.0
"""[dB] of the stop band, where derivatives are taken."""
DEGREE = 4
"""Polynomials up to this degree pass the filters exactly."""
WIDEST = 0.8
"""Of half the sampling rate: no pass band is wider."""
ABOVE_FLOOR = 4.0
"""A band that holds so many times the power of noise holds signal."""
NO_PART = 1e-8
"""A share of the accelerations' power that may be lost."""
LONGEST_LOOK = 2**17
"""Samples at which a signal's spectrum is looked at."""


@dataclass(frozen=True)
class SmoothingFilter:
    """Symmetric taps [h0, h1, h2] of a low pass and of the first and second derivative behind it."""

    taps: tuple[Array, Array, Array]

    @property
    def reach(self) -> int:
        """The samples that are lost at each end."""
        return (len(self.taps[0]) - 1) // 2

    def at(self, x: Array, order: int = 0) -> Array:
        """The smoothed signal's derivative of an order, at every sample that has all its neighbours.

        x is (m, ...) in steps of the filter; the result begins `reach` samples behind the first.
        """
        from scipy.signal import oaconvolve

        h = self.taps[order]
        if not self.reach:
            return x.copy()
        return oaconvolve(x, h.reshape(-1, *(1,) * (x.ndim - 1)), mode="valid", axes=0)

    def thinned(self, x: Array, every: int) -> Array:
        """(count, k) the smoothed signal (m, k) at every so many-th sample that has all its neighbours.

        The taps are cut into groups of `every`: their products with the samples, cut alike, are one product of
        matrices, and what a row needs lies on its diagonals.
        """
        h = self.taps[0]
        count = -(-(len(x) - len(h) + 1) // every)
        groups = -(-len(h) // every)
        taps = np.zeros(groups * every)
        taps[: len(h)] = h
        need = (count + groups - 1) * every
        whole = x[:need] if len(x) >= need else np.concatenate([x, np.zeros((need - len(x), x.shape[1]))])
        cut = np.ascontiguousarray(whole.reshape(count + groups - 1, every, -1).transpose(0, 2, 1))
        parts = (cut.reshape(-1, every) @ taps.reshape(groups, every).T).reshape(len(cut), -1, groups)
        found = np.zeros((count, x.shape[1]))
        for g in range(groups):
            found += parts[g : g + count, :, g]
        return found


def smoothing_filter(step: float, passed: float, stopped: float, attenuation: float = ATTENUATION) -> SmoothingFilter:
    """The filter for samples `step` [s] apart that passes up to one frequency [Hz] and stops from another on [dB]."""
    edge = math.pi * step * (passed + stopped)  # halfway, in rad a sample
    width = 2 * math.pi * step * (stopped - passed)
    m = max(DEGREE, math.ceil((attenuation - 8) / (2.285 * width) / 2))
    beta = 0.1102 * (attenuation - 8.7)
    k = np.arange(-m, m + 1, dtype=np.float64)
    window = np.kaiser(2 * m + 1, beta)
    low = _exact_on_polynomials(edge / math.pi * np.sinc(edge / math.pi * k) * window, k, window, 0)
    # The derivatives are the low pass and then (i w)^order, its response cut where the low pass has died away.
    response = np.fft.rfft(np.roll(np.pad(low, (0, 7 * len(low))), -m))
    w = 2 * math.pi * np.arange(len(response)) / (8 * len(low))
    taps = [low]
    for order in (1, 2):
        whole = np.fft.irfft((1j * w) ** order * response, 8 * len(low))
        h = np.concatenate([whole[-m:], whole[: m + 1]])
        taps.append(_exact_on_polynomials(h, k, window, order) / step**order)
    return SmoothingFilter((taps[0], taps[1], taps[2]))


def _exact_on_polynomials(h: Array, k: Array, window: Array, order: int) -> Array:
    """The taps at places k, changed least under their window, whose convolution differentiates polynomials exactly."""
    m = float(k[-1])
    powers = np.stack([(-k / m) ** j for j in range(DEGREE + 1)])
    wanted = np.zeros(DEGREE + 1)
    wanted[order] = math.factorial(order) / m**order
    sides = powers * window
    return h + sides.T @ np.linalg.solve(powers @ sides.T, wanted - powers @ h)


def signal_band(x: Array, step: float) -> tuple[float, float]:
    """(the frequency [Hz] beyond which a signal is lost in white noise, that noise's standard deviation)."""
    from scipy.ndimage import uniform_filter1d

    x = x[:LONGEST_LOOK]
    n = len(x)
    # The ends are joined, and a window whose leakage lies below any sensor's noise.
    window = np.kaiser(n, 20.0)
    line = np.polyval(np.polyfit(np.arange(n), x, 1), np.arange(n))
    power = np.abs(np.fft.rfft((x - line) * window)) ** 2 / np.sum(window**2)
    frequency = np.fft.rfftfreq(n, step)
    floor = float(np.median(power[-max(4, len(power) // 3) :])) / math.log(2)
    floor = max(floor, 1e-31 * float(np.sum(power)))
    smooth = uniform_filter1d(power, max(31, n // 200), mode="constant")
    above = np.flatnonzero(smooth > ABOVE_FLOOR * floor)
    band = float(frequency[above[-1]]) if len(above) else 0.0
    # Of a log without noise: what lies higher has no part in the accelerations.
    rates = np.cumsum(power * frequency**4)
    band = min(band, float(frequency[np.searchsorted(rates, (1 - NO_PART) * rates[-1])]))
    return max(band, 2 / (n * step)), math.sqrt(floor)
