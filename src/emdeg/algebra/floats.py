"""Values of trigonometric polynomials in doubles, one state or a batch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from emdeg.algebra.scalar import Floats
from emdeg.algebra.trig_poly import Generator, TrigPoly
from emdeg.errors import UnboundSymbol


def evaluate(formula: TrigPoly, q: Any, qd: Any, qdd: Any, parameters: Mapping[str, Any]) -> np.ndarray:
    """The formula's value for arrays (..., n) over `algebra.joints`; an array (...)."""
    joints = formula.algebra.joints
    states = {
        kind: None if given is None else _state(name, given, len(joints))
        for kind, name, given in (("position", "q", q), ("rate", "qd", qd), ("acceleration", "qdd", qdd))
    }
    shape = np.broadcast_shapes(
        *(s.shape[:-1] for s in states.values() if s is not None),
        *(np.shape(value) for value in parameters.values()),
    )

    def letter(generator: Generator) -> Any:
        if generator.kind == "parameter":
            if generator.of not in parameters:
                raise UnboundSymbol(f"the symbol {generator.of} has no value")
            return np.asarray(parameters[str(generator.of)], dtype=float)
        if not isinstance(generator.of, int):
            s, c = _constant(generator)
            return s if generator.kind == "sine" else c
        kind = generator.kind if generator.kind in ("rate", "acceleration") else "position"
        state = states[kind]
        if state is None:
            raise ValueError(f"the formula contains {generator} and no {kind} was given")
        value = state[..., joints.index(generator.of)]
        return {"sine": np.sin, "cosine": np.cos}.get(generator.kind, np.asarray)(value)

    def _constant(generator: Generator) -> tuple[Any, Any]:
        angle: Any = generator.of
        if angle.symbol is None:
            return Floats().sincos(angle)
        if angle.symbol not in parameters:
            raise UnboundSymbol(f"the angle {angle.symbol} has no value")
        value = np.asarray(parameters[angle.symbol], dtype=float)
        return np.sin(value), np.cos(value)

    return np.array(np.broadcast_to(formula.map(letter, float), shape))


def _state(name: str, given: Any, joints: int) -> np.ndarray:
    state = np.asarray(given, dtype=float)
    if state.ndim == 0 or state.shape[-1] != joints:
        raise ValueError(f"{name} has the shape {state.shape}; its last axis must have {joints} entries")
    return state
