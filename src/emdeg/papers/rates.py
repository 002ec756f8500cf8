"""Two rates for one program: the configuration part seldom, the rate part often (Armstrong et al., section 3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from emdeg.documents import Shown
from emdeg.programs import Count, Dependence, Program, count_by_dependence, split_rates
from emdeg.runtime import compile


@dataclass(frozen=True)
class Multirate(Shown):
    """Operations of the two parts, and the evaluations a second that so many operations a second allow."""

    configuration: Count
    rates: Count
    passed: int
    """Values that the configuration part hands over: the size of the workspace."""
    operations_per_second: float
    ratio: int

    @property
    def together(self) -> float:
        """Evaluations a second if both parts are computed every time."""
        return self.operations_per_second / max(1, self.configuration.total + self.rates.total)

    @property
    def slow(self) -> float:
        """Evaluations a second of the configuration part, once in `ratio` evaluations of the other."""
        return self.operations_per_second / max(1, self.configuration.total + self.ratio * self.rates.total)

    @property
    def fast(self) -> float:
        """Evaluations a second of the rate part."""
        return self.ratio * self.slow

    def data(self) -> dict[str, object]:
        return {
            "configuration": self.configuration.as_dict(),
            "rates": self.rates.as_dict(),
            "workspace": self.passed,
            "operations_per_second": self.operations_per_second,
            "ratio": self.ratio,
            "together_hz": self.together,
            "configuration_hz": self.slow,
            "rates_hz": self.fast,
        }


def multirate(program: Program, operations_per_second: float = 100_000.0, ratio: int = 4) -> Multirate:
    """How a program divides by what its values depend on; Table 2 for any robot.

    >>> import emdeg
    >>> found = multirate(emdeg.program(emdeg.load("planar2r"), "inverse_dynamics"))
    >>> found.fast > found.together > found.slow
    True
    """
    if ratio < 1 or operations_per_second <= 0:
        raise ValueError("the ratio must be at least 1, the operations a second positive")
    counts = count_by_dependence(program)
    first, _ = split_rates(program)
    return Multirate(
        counts[Dependence.CONFIGURATION],
        counts[Dependence.RATES],
        len(first.outputs[0].entries),
        operations_per_second,
        ratio,
    )


def holding_error(program: Program, q: NDArray, qd: NDArray, qdd: NDArray, steps: int) -> dict[str, list[float]]:
    """The extra error of computing the configuration part only every `steps` steps along a trajectory (T x n).

    Gives the largest and the root-mean-square difference of each output, in the output's unit.
    """
    if steps < 1:
        raise ValueError(f"the configuration part is held for 1, 2, ... steps, not {steps}")
    slow, fast = split_rates(program)
    held = q[(np.arange(len(q)) // steps) * steps]
    given = {"q": q, "qd": qd, "qdd": qdd}
    workspace = compile(slow)(held)
    names = [group.name for group in fast.inputs]
    arrays = {"q": held, "qd": qd, "qdd": qdd, "x": workspace}
    late = compile(fast)(*(arrays[name] for name in names))
    now = compile(program)(*(given[group.name] for group in program.inputs))
    error = np.abs(late - now)
    return {"largest": error.max(axis=0).tolist(), "rms": np.sqrt((error**2).mean(axis=0)).tolist()}
