"""Sampled control: when a law is asked, when its answer acts, and what is held in between."""

from __future__ import annotations

from collections import deque

import numpy as np

from emdeg.algebra import Array
from emdeg.simulation.conditioning import Conditioning
from emdeg.simulation.controllers import Law

SAME = 1e-9
"""Instants closer than this share of a period are one."""


def instants(duration: float, conditioning: Conditioning) -> Array:
    """The times [s] at which something changes: samples, their effect, and both ends."""
    period, delay = conditioning.period, conditioning.delay
    if period is None:
        return np.array([0.0, duration])
    samples = period * np.arange(int(np.ceil(duration / period - SAME)))
    times = np.unique(np.concatenate([samples, samples + delay, [duration]]))
    times = times[times <= duration * (1 + 1e-12)]
    keep = np.concatenate([[True], np.diff(times) > SAME * period])
    return times[keep]


class Held:
    """A sampled law with its converters and its delay; asked at every instant, it holds in between."""

    def __init__(self, law: Law, conditioning: Conditioning, n: int) -> None:
        assert conditioning.period is not None
        self._law, self._conditioning = law, conditioning
        self._period, self._samples = conditioning.period, 0
        self._pending: deque[tuple[float, Array]] = deque()
        self.tau = np.zeros(n)

    def update(self, t: float, q: Array, qd: Array) -> Array:
        """The efforts from t on."""
        slack = SAME * self._period
        if t >= self._samples * self._period - slack:
            tau = self._law(t, self._conditioning.measured(q), qd)
            self._pending.append((t + self._conditioning.delay, self._conditioning.applied(tau)))
            self._samples += 1
        while self._pending and self._pending[0][0] <= t + slack:
            self.tau = self._pending.popleft()[1]
        return self.tau
