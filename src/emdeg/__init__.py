"""emdeg: the explicit equations of motion of robots, exact, compact and fast.

>>> import emdeg
>>> emdeg.mass_matrix("planar2r", [0.0, 0.5]).shape
(2, 2)

Whatever takes a robot takes what `load` gives, the name of a library robot, or the path of a file. What concerns closed
loops alone is in `emdeg.loops`, Kane's method in `emdeg.kane`, every error in `emdeg.errors`.
"""

from typing import TYPE_CHECKING

from emdeg import errors
from emdeg._version import __version__
from emdeg.errors import (
    ClosureError,
    EmdegError,
    NotCertified,
    OverBudget,
    Refuted,
    RobotError,
    ScenarioError,
    SimulationError,
    StateError,
    UnknownFunction,
)

if TYPE_CHECKING:
    from emdeg import kane, loops
    from emdeg.analysis import analyse
    from emdeg.codegen import generate, verify
    from emdeg.equations import Model, derive
    from emdeg.mechanics.functions.numeric import (
        bias,
        coriolis_matrix,
        elements,
        forward_dynamics,
        forward_dynamics_derivatives,
        forward_kinematics,
        gravity,
        inverse_dynamics,
        inverse_dynamics_derivatives,
        jacobian,
        jacobian_rate,
        kinetic_energy,
        link_transforms,
        mass_matrix,
        momenta,
        momentum,
        momentum_rates,
        potential_energy,
        regressor,
        velocities,
    )
    from emdeg.mechanics.parameters.base import base_parameters
    from emdeg.programs import Program, program
    from emdeg.programs.search.optimise import optimise
    from emdeg.reduce import abbreviate
    from emdeg.reports import report
    from emdeg.robot import Robot, library_names, load, substitute
    from emdeg.runtime import compile
    from emdeg.simulation import inverse_kinematics, linearise, simulate
    from emdeg.sweeps import sweep

# What is asked for is imported when it is asked for: `emdeg --help` needs none of it, and simulation brings half of
# SciPy along. Each function below holds the import statements of one room and returns what they bind.


def _closed_loops() -> dict[str, object]:
    import emdeg.loops as loops

    return locals()


def _kane() -> dict[str, object]:
    import emdeg.kane as kane

    return locals()


def _robot() -> dict[str, object]:
    from emdeg.robot import Robot, library_names, load, substitute

    return locals()


def _numbers() -> dict[str, object]:
    from emdeg.mechanics.functions.numeric import (
        bias,
        coriolis_matrix,
        elements,
        forward_dynamics,
        forward_dynamics_derivatives,
        forward_kinematics,
        gravity,
        inverse_dynamics,
        inverse_dynamics_derivatives,
        jacobian,
        jacobian_rate,
        kinetic_energy,
        link_transforms,
        mass_matrix,
        momenta,
        momentum,
        momentum_rates,
        potential_energy,
        regressor,
        velocities,
    )

    return locals()


def _parameters() -> dict[str, object]:
    from emdeg.mechanics.parameters.base import base_parameters

    return locals()


def _equations() -> dict[str, object]:
    from emdeg.equations import Model, derive

    return locals()


def _programs() -> dict[str, object]:
    from emdeg.programs import Program, program
    from emdeg.programs.search.optimise import optimise

    return locals()


def _runtime() -> dict[str, object]:
    from emdeg.runtime import compile

    return locals()


def _reduce() -> dict[str, object]:
    from emdeg.reduce import abbreviate

    return locals()


def _analysis() -> dict[str, object]:
    from emdeg.analysis import analyse

    return locals()


def _simulation() -> dict[str, object]:
    from emdeg.simulation import inverse_kinematics, linearise, simulate

    return locals()


def _sweeps() -> dict[str, object]:
    from emdeg.sweeps import sweep

    return locals()


def _reports() -> dict[str, object]:
    from emdeg.reports import report

    return locals()


def _codegen() -> dict[str, object]:
    from emdeg.codegen import generate, verify

    return locals()


_IMPORTS = (
    _robot,
    _numbers,
    _parameters,
    _equations,
    _programs,
    _runtime,
    _reduce,
    _analysis,
    _simulation,
    _sweeps,
    _codegen,
    _reports,
    _closed_loops,
    _kane,
)
_ROOM = {name: room for room in _IMPORTS for name in room.__code__.co_varnames}
"""Public name -> the function whose import statements bind it."""


def __getattr__(name: str) -> object:
    if name not in _ROOM:
        raise AttributeError(f"module 'emdeg' has no attribute {name!r}")
    globals().update(_ROOM[name]())
    return globals()[name]


def __dir__() -> list[str]:
    return sorted(__all__)


__all__ = [
    "ClosureError",
    "EmdegError",
    "Model",
    "NotCertified",
    "OverBudget",
    "Program",
    "Refuted",
    "Robot",
    "RobotError",
    "ScenarioError",
    "SimulationError",
    "StateError",
    "UnknownFunction",
    "__version__",
    "abbreviate",
    "analyse",
    "base_parameters",
    "bias",
    "compile",
    "coriolis_matrix",
    "derive",
    "elements",
    "errors",
    "forward_dynamics",
    "forward_dynamics_derivatives",
    "forward_kinematics",
    "generate",
    "gravity",
    "inverse_dynamics",
    "inverse_dynamics_derivatives",
    "inverse_kinematics",
    "jacobian",
    "jacobian_rate",
    "kane",
    "kinetic_energy",
    "library_names",
    "linearise",
    "link_transforms",
    "load",
    "loops",
    "mass_matrix",
    "momenta",
    "momentum",
    "momentum_rates",
    "optimise",
    "potential_energy",
    "program",
    "regressor",
    "report",
    "simulate",
    "substitute",
    "sweep",
    "velocities",
    "verify",
]
