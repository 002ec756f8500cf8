"""Kane's equations of a setup as functions on arrays, compiled when first used; singular configurations are named."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from emdeg.documents import table
from emdeg.dynamics import kind_of, real_array
from emdeg.dynamics.kane import Setup
from emdeg.equations.speeds import SpeedInverse, SpeedSingularity, speed_inverse
from emdeg.errors import SingularSpeeds, StateError
from emdeg.programs import Program
from emdeg.programs.kane import Function, kane_program
from emdeg.robot import Robot
from emdeg.runtime.compiled import CompiledProgram, compile

SINGULAR = 1e-9
"""A factor of det A below this share of the largest value it could have: the speeds fail."""
NEAR = 1e-2
"""Below this they are about to: rates and accelerations lose digits."""


class NearlySingularSpeeds(UserWarning):
    """The configuration is close to one in which the generalized speeds fail."""


class KaneModel:
    """A robot with generalized speeds of one's choice.

    Every method takes arrays (..., size); leading axes are states. Prescribed motions are given by name as p, pd and
    pdd, loads without a value as `loads`, symbols of the robot as `parameters`.
    """

    def __init__(self, robot: Robot, setup: Setup) -> None:
        self.robot, self.setup = robot, setup
        self._programs: dict[str, Program] = {}
        self._compiled: dict[str, CompiledProgram] = {}

    def _repr_html_(self) -> str:
        speeds = ", ".join(self.setup.names) or f"{len(self.setup.speeds)}"
        rows = [("speeds", speeds), ("they fail at", "; ".join(map(str, self.singular)) or "no configuration")]
        return table(f"{self.robot.name} by Kane's equations", rows)

    @cached_property
    def kinematics(self) -> SpeedInverse | None:
        """The kinematic equations in formulas; None with closed loops, where programs eliminate them."""
        return speed_inverse(self.robot, self.setup) if self.robot.is_tree else None

    @cached_property
    def singular(self) -> tuple[SpeedSingularity, ...]:
        """Where the speeds fail, as far as formulas say so."""
        return () if self.kinematics is None else self.kinematics.singular

    def program(self, function: Function) -> Program:
        """The program behind a method."""
        if function not in self._programs:
            self._programs[function] = kane_program(self.robot, self.setup, function, kinematics=self.kinematics)
        return self._programs[function]

    def speeds(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike | None = None, **given: ArrayLike
    ) -> tuple[NDArray, NDArray]:
        """(u, ud) of a motion of the free joints; without qdd, ud is that of rates held constant."""
        qdd = np.zeros(np.shape(qd)) if qdd is None else qdd
        found = self._run("speeds", {"q": q, "qd": qd, "qdd": qdd, **given})
        return found["u"], found["ud"]

    def rates(self, q: ArrayLike, u: ArrayLike, **given: ArrayLike) -> NDArray:
        """qd of the free joints [rad/s, m/s]."""
        return self._checked("rates", q, {"u": u, **given})["qd"]

    def torques(self, q: ArrayLike, u: ArrayLike, ud: ArrayLike, **given: ArrayLike) -> NDArray:
        """tau of the free joints' drives [N m, N] for a motion."""
        return self._checked("torques", q, {"u": u, "ud": ud, **given})["tau"]

    def accelerations(self, q: ArrayLike, u: ArrayLike, tau: ArrayLike, **given: ArrayLike) -> tuple[NDArray, NDArray]:
        """(qd, ud): what an integrator of q and u needs."""
        found = self._checked("accelerations", q, {"u": u, "tau": tau, **given})
        return found["qd"], found["ud"]

    def equations(self, q: ArrayLike, u: ArrayLike, tau: ArrayLike, **given: ArrayLike) -> tuple[NDArray, NDArray]:
        """(X, right-hand side) of X ud = right-hand side."""
        found = self._checked("equations", q, {"u": u, "tau": tau, **given})
        return found["X"], found["rhs"]

    def check(self, q: ArrayLike, p: ArrayLike | None = None, parameters: ArrayLike | None = None) -> None:
        """SingularSpeeds where the speeds fail, a warning `NearlySingularSpeeds` close to that.

        Where det A is too large to be written out nothing is checked here; `det` of the programs still tells.
        """
        for one in self.singular:
            share = float(np.min(self._share(one, q, p, parameters)))
            if share < SINGULAR:
                raise SingularSpeeds(
                    f"{self.robot.name}: the generalized speeds do not determine the joints' rates at {one.where}"
                )
            if share < NEAR:
                text = f"{self.robot.name}: close to {one.where}, where the generalized speeds fail"
                warnings.warn(text, NearlySingularSpeeds, stacklevel=3)

    def _share(self, one: SpeedSingularity, q: ArrayLike, p: ArrayLike | None, parameters: ArrayLike | None) -> NDArray:
        """|factor| against the sum of its terms' sizes."""
        assert self.kinematics is not None  # whose factor it is
        of = self.kinematics.letters
        if of.given and p is None:
            raise TypeError(f"{self.robot.name} has prescribed motions: give p, pd and pdd")
        at: dict[int, NDArray] = {}
        for name, group, values in (("q", of.free, q), ("p", of.given, p)):
            if group:
                array = _ending_in(name, values, len(group))
                at |= {letter: array[..., i] for i, letter in enumerate(group)}
        joints = np.stack(np.broadcast_arrays(*(at[k] for k in of.algebra.joints)), axis=-1)
        symbols = sorted(self.robot.symbols)
        if symbols and parameters is None:
            raise TypeError(f"{self.robot.name} has symbols: give parameters, the numbers of {', '.join(symbols)}")
        values = _ending_in("parameters", parameters, len(symbols)) if symbols else np.zeros(0)
        named: Mapping[str, Any] = {name: values[..., i] for i, name in enumerate(symbols)}
        value = one.factor.evaluate(joints, parameters=named)
        size = np.zeros_like(value)
        for coefficient, monomial in one.factor.terms():
            plain = {g: e for g, e in monomial.items() if g.kind not in ("sine", "cosine")}
            term = one.factor.algebra.from_terms([(coefficient, plain)])
            size = size + np.abs(term.evaluate(joints, parameters=named))
        return np.abs(value) / np.where(size > 0, size, 1.0)

    def _checked(self, function: Function, q: ArrayLike, inputs: dict[str, ArrayLike]) -> dict[str, NDArray]:
        self.check(q, inputs.get("p"), inputs.get("parameters"))
        if not self.robot.is_tree:
            self._check_loops(q, inputs.get("p"))
        found = self._run(function, {"q": q, **inputs})
        if not self.robot.is_tree and np.any(np.abs(found.get("det", np.ones(1))) < SINGULAR):
            raise SingularSpeeds(
                f"{self.robot.name}: the generalized speeds do not determine the rates there (det = 0)"
            )
        return found

    def _check_loops(self, q: ArrayLike, p: ArrayLike | None) -> None:
        """ClosureError where the mechanism cannot be, or is singular."""
        if self.robot.symbols:
            return
        free, given = self.setup.free(self.robot), self.setup.prescribed
        arrays = {k: _ending_in("q", q, len(free))[..., i] for i, k in enumerate(free)}
        if given:
            if p is None:
                raise TypeError(f"{self.robot.name} has prescribed motions: give p, pd and pdd")
            arrays |= {k: _ending_in("p", p, len(given))[..., i] for i, k in enumerate(given)}
        loops = self.robot.loops
        assert loops is not None
        kind_of(self.robot).need_possible(self.robot, np.stack([arrays[k] for k in loops.coordinates], -1))

    def _run(self, function: Function, inputs: dict[str, ArrayLike]) -> dict[str, NDArray]:
        program = self.program(function)
        if function not in self._compiled:
            self._compiled[function] = compile(program)
        wanted = {group.name for group in program.inputs}
        if unknown := inputs.keys() - wanted - {"p", "pd", "pdd", "loads", "parameters"}:
            raise TypeError(f"{program.name} has no input {', '.join(sorted(unknown))}")
        given: dict[str, Any] = {name: value for name, value in inputs.items() if name in wanted}
        found = self._compiled[function](**given)
        results = found if isinstance(found, tuple) else (found,)
        return {group.name: value for group, value in zip(program.outputs, results)}


def _ending_in(name: str, values: ArrayLike | None, size: int) -> NDArray:
    """The values as an array (..., size); StateError names what has another shape."""
    array = real_array(name, values)
    if array.shape[-1:] != (size,):
        raise StateError(f"{name} has the shape {array.shape}; its last axis must have {size} entries")
    return array
