"""What an entry of the catalogue says: a function's inputs and outputs, who computes it, and what proves it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from emdeg.dynamics.spatial import Scalar
from emdeg.dynamics.state import Balance, Outputs

Run = Callable[[Any], Outputs | None]
"""A state -> the outputs, over any algebra; None where a formulation does not serve such a mechanism."""


@dataclass(frozen=True, slots=True)
class Input:
    """An array that a function takes. `of` says what its entries follow: the configuration alone, or the motion.

    `like` is the array of a state that it has the size of; where that is none, its shape says the size, row by row.
    """

    meaning: str
    unit: str
    of: Literal["configuration", "motion"] = "motion"
    like: str | None = None
    shape: tuple[str, ...] = ("n",)


INPUTS: Mapping[str, Input] = {
    "q": Input("coordinates", "rad, m", "configuration"),
    "qd": Input("speeds", "rad/s, m/s"),
    "qdd": Input("accelerations", "rad/s^2, m/s^2"),
    "tau": Input("efforts of the driven joints", "N m, N"),
    "p": Input("generalized momenta", "kg m^2/s, kg m/s"),
}
"""Every input, in the order in which functions take them. Units: of a turning joint, of a sliding one."""


_ANGLES = ("rad", "position", "speed", "acceleration", "inputs")
"""In the units of arrays: angles, and the words for what an angle may be."""


def in_radians(unit: str) -> bool:
    """Whether an array of this unit has other numbers where angles are measured otherwise."""
    return any(word in unit for word in _ANGLES)


@dataclass(frozen=True, slots=True)
class Output:
    """An array that a function yields; its shape in letters, n being the number of speeds.

    `efforts` are the axes along which n counts the driven joints: these may be more than the speeds.
    """

    name: str
    shape: tuple[str, ...]
    unit: str
    efforts: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Ways:
    """How one kind of mechanism computes a function.

    `formulations`: name -> run. `plain` names those that are tried for the plain program, the smallest of which is
    taken (by default the first); `searched` those that an optimiser starts from, all of which bear variation
    (`emdeg.dynamics.variants`). `reference` is independent of every formulation: what proves a program. `numbers`
    is what doubles run, by default the first formulation; `rotors` the same with gyroscopic terms. `balance` is what
    the outputs satisfy, where a function is the solution of an equation. `inputs` are what this kind takes, where that
    is not what the function says. `gradient`, of a state, the outputs and weights of theirs row by row, is that of the
    weighted sum in all inputs, where a way is known that is shorter than sweeping back over a formulation. `law` is the
    function that says which of its efforts friction takes. `solves` are the functions f and A of x and y where the
    outputs solve f(x, y) = tau, linear in y with the matrix A; `jacobian` those that together are its Jacobian by all
    inputs.
    """

    formulations: Mapping[str, Run]
    reference: tuple[str, Run]
    plain: tuple[str, ...] = ()
    searched: tuple[str, ...] = ()
    numbers: Run | None = None
    rotors: Run | None = None
    balance: Callable[[Any, Outputs], Balance] | None = None
    inputs: tuple[str, ...] = ()
    gradient: Callable[[Any, Sequence[Scalar], Sequence[Scalar]], Sequence[Scalar]] | None = None
    law: str = "friction"
    solves: tuple[str, ...] = ()
    jacobian: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        first = next(iter(self.formulations))
        object.__setattr__(self, "plain", self.plain or (first,))
        object.__setattr__(self, "numbers", self.numbers or self.formulations[first])


@dataclass(frozen=True, slots=True)
class Derivation:
    """Which function's derivative a function is, and which: `emdeg.dynamics.functions.derived` says what they are."""

    of: Function
    kind: Literal["jvp", "vjp", "hvp", "hessian"]


_ORDERS = {"jvp": 1, "vjp": 1, "hvp": 2, "hessian": 2}


@dataclass(frozen=True, slots=True)
class Function:
    """A function of a model: what `emdeg NAME` means, whoever runs it.

    `ways`: kind of mechanism -> how it is computed there. `regroups`: base parameters may stand for the inertias,
    since only efforts count. `divides`: it has no value where the mass matrix is singular. `slopes`: how often
    it differentiates by q itself. `rubs`: robots whose files
    state no friction do not have it. `square`: robots whose Jacobian is not 6 x 6 do not. A function that is a
    `derivation` of another has the other's `ways`. `arrays` say what the inputs are; those of a state may be left out.
    """

    name: str
    meaning: str
    inputs: tuple[str, ...]
    outputs: tuple[Output, ...]
    ways: Mapping[str, Ways] = field(repr=False)
    regroups: bool = True
    divides: bool = False
    slopes: int = 0
    rubs: bool = False
    square: bool = False
    derivation: Derivation | None = None
    arrays: Mapping[str, Input] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        taken = dict.fromkeys((*self.inputs, *(name for way in self.ways.values() for name in way.inputs)))
        object.__setattr__(self, "arrays", {name: self.arrays.get(name) or INPUTS[name] for name in taken})

    @property
    def order(self) -> int:
        """How often what follows from q is differentiated by it."""
        return self.slopes + (0 if self.derivation is None else _ORDERS[self.derivation.kind])

    @property
    def differentiable(self) -> bool:
        """Whether it has derivatives: it takes the same arrays of every kind of mechanism."""
        return not any(way.inputs for way in self.ways.values())
