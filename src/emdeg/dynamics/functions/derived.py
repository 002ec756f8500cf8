"""The derivatives of a function as functions, each built from the function's own entry, over any scalar.

With f of inputs x (`q`, `qd`, ...) and outputs y:

    <f>_jvp      x, tangents x_t               ->  y_t = (dy/dx) x_t
    <f>_vjp      x, cotangents y_c             ->  x_c = (dy/dx)^T y_c, the gradient of L = y_c . y
    <f>_hvp      x, y_c, x_t                   ->  x_c_t = (d2L/dx2) x_t
    <f>_hessian  x, y_c                        ->  H = d2L/dx2, lower triangle row by row, x in the order of f's inputs

Here they are computed by dual numbers, whatever formulation of f is run: that is what doubles use, and what proves.
Programs have them from sweeps over f's own operations (`emdeg.programs.differentiation`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from emdeg.algebra import derivative
from emdeg.dynamics.functions.function import INPUTS, Derivation, Function, Input, Output, Run
from emdeg.dynamics.mechanism import Rates
from emdeg.dynamics.spatial import Scalar, total
from emdeg.dynamics.state import Outputs, State

TANGENT, COTANGENT, PROBE = "_t", "_c", "_probe"
"""End the names of an array's tangent and cotangent, and of the random direction that a proof looks along."""
WITHIN, FIRST, SECOND = -1, -2, -3
"""Levels of dual numbers below those that formulations use themselves: of what a function differentiates on its own,
and of its own derivatives, the second of which is taken inside."""

_MEANINGS: Mapping[Literal["jvp", "vjp", "hvp", "hessian"], str] = {
    "jvp": "the derivative of {} along tangents of its inputs",
    "vjp": "the gradient of the outputs of {}, weighted by cotangents: its adjoint",
    "hvp": "the Hessian of the weighted outputs of {}, times tangents of its inputs",
    "hessian": "the Hessian of the weighted outputs of {} in all its inputs, lower triangle row by row",
}


Given = Mapping[str, Sequence[Scalar]]
"""Tangents, cotangents and probes by name, flat."""


def derivatives_of(entry: Function) -> Iterator[Function]:
    """The entries of a function's derivatives."""
    tangents = {
        name + TANGENT: Input(f"tangent of {name}", INPUTS[name].unit, like=INPUTS[name].like or name)
        for name in entry.inputs
    }
    cotangents = {
        one.name + COTANGENT: Input(f"cotangent of {one.name}", f"per {one.unit}", shape=one.shape)
        for one in entry.outputs
    }
    gradient = tuple(
        Output(name + COTANGENT, ("n",), f"per {INPUTS[name].unit}", (0,) if name == "tau" else ())
        for name in entry.inputs
    )
    parts: dict[Literal["jvp", "vjp", "hvp", "hessian"], tuple[dict[str, Input], tuple[Output, ...]]] = {
        "jvp": (tangents, tuple(replace(one, name=one.name + TANGENT) for one in entry.outputs)),
        "vjp": (cotangents, gradient),
        "hvp": (cotangents | tangents, tuple(replace(one, name=one.name + TANGENT) for one in gradient)),
        "hessian": (cotangents, (Output("H", ("N (N + 1) / 2",), "per two inputs' units"),)),
    }
    for kind, (arrays, outputs) in parts.items():
        yield replace(
            entry,
            name=f"{entry.name}_{kind}",
            meaning=_MEANINGS[kind].format(entry.name),
            inputs=(*entry.inputs, *arrays),
            outputs=outputs,
            derivation=Derivation(entry, kind),
            arrays=arrays,
        )


def derived_outputs(how: Derivation, run: Run, s: State, given: Given) -> Outputs | None:
    """The outputs of a derivative of the function that `run` computes."""
    inputs, zero = how.of.inputs, s.tree.zero
    if how.kind == "jvp":
        found = run(s.varied(_along(inputs, given, TANGENT), FIRST))
        return None if found is None else _each(found, lambda x: derivative(x, 0, zero, FIRST))
    units, sizes = _units(s, inputs)
    inner: State = s
    if how.kind != "vjp":
        inner = s.varied(_along(inputs, given, TANGENT) if how.kind == "hvp" else units, SECOND)
    found = run(inner.varied(units, FIRST))
    if found is None:
        return None
    slope = [derivative(_weighted(how.of, found, given), k, zero, FIRST) for k in range(sum(sizes))]
    if how.kind == "hessian":
        return {"H": [derivative(slope[i], j, zero, SECOND) for i in range(len(slope)) for j in range(i + 1)]}
    ending = COTANGENT
    if how.kind == "hvp":
        slope, ending = [derivative(x, 0, zero, SECOND) for x in slope], COTANGENT + TANGENT
    ends = [sum(sizes[: k + 1]) for k in range(len(sizes))]
    return {name + ending: slope[end - size : end] for name, size, end in zip(inputs, sizes, ends)}


def probed_outputs(how: Derivation, run: Run, s: State, given: Given) -> Outputs:
    """What a derivative yields along directions that no program knows: its own outputs, or one number of them.

    The tangents of outputs as they are. A gradient times a probe p of the inputs, a Hessian's product with tangents
    times p, a Hessian between p and p: each is a derivative along lines, which needs no more than one direction a
    level, and since it must be right for every p, it says everything about the gradient and the Hessian. Dual numbers
    go through the closure of loops themselves.
    """
    zero = s.tree.zero
    if how.kind == "jvp":
        found = run(s.varied(_along(how.of.inputs, given, TANGENT), FIRST, closing=True))
        assert found is not None
        return _each(found, lambda x: derivative(x, 0, zero, FIRST))
    probe = _along(how.of.inputs, given, PROBE)
    inner: State = s
    if how.kind != "vjp":
        inner = s.varied(_along(how.of.inputs, given, TANGENT) if how.kind == "hvp" else probe, SECOND, closing=True)
    found = run(inner.varied(probe, FIRST, closing=True))
    assert found is not None
    slope = derivative(_weighted(how.of, found, given), 0, zero, FIRST)
    if how.kind != "vjp":
        slope = derivative(slope, 0, zero, SECOND)
    return {probe_name(how): slope}


def probe_name(how: Derivation) -> str:
    """The output that stands for a derivative in a proof."""
    return f"{how.of.name}_{how.kind}{PROBE}"


def flat(values: Any) -> list[Any]:
    """Nested sequences row by row."""
    return [x for row in values for x in flat(row)] if isinstance(values, list | tuple) else [values]


def _along(inputs: Sequence[str], given: Given, ending: str) -> dict[str, list[Rates]]:
    return {name: [{0: x} for x in given[name + ending]] for name in inputs}


def _units(s: State, inputs: Sequence[str]) -> tuple[dict[str, list[Rates]], list[int]]:
    """Every entry of every input in a direction of its own; the inputs' sizes."""
    sizes = [s.n if name == "q" else len(getattr(s, name)) for name in inputs]
    starts = [sum(sizes[:k]) for k in range(len(sizes))]
    one = s.tree.one
    return {name: [{start + k: one} for k in range(size)] for name, size, start in zip(inputs, sizes, starts)}, sizes


def _weighted(entry: Function, found: Outputs, given: Given) -> Scalar:
    terms = [
        c * y for one in entry.outputs for c, y in zip(given[one.name + COTANGENT], flat(found[one.name]), strict=True)
    ]
    return total(terms)


def _each(found: Outputs, take: Callable[[Any], Any]) -> Outputs:
    def taken(values: Any) -> Any:
        return [taken(row) for row in values] if isinstance(values, list | tuple) else take(values)

    return {name + TANGENT: taken(values) for name, values in found.items()}
