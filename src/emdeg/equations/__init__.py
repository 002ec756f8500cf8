"""The explicit model: M, Christoffel symbols, gravity, kinematics, Jacobians and the relations among them.

Its constants and the forms a person reads: `lumped_constants`, `compact`, `hierarchy`.
"""

from emdeg.algebra import Quotient, quotient
from emdeg.equations.coefficient_relations import EntryRelation, Relations, Tally, relations
from emdeg.equations.derivation import derive
from emdeg.equations.jacobian_inverse import InverseJacobian, determinant, inverse_jacobian
from emdeg.equations.json_form import from_json, to_json
from emdeg.equations.kinematics import Kinematics
from emdeg.equations.model import Model, entry_name, lumped_constants
from emdeg.equations.reading import (
    Compact,
    CompactEntry,
    Constant,
    Hierarchy,
    Lumped,
    atom_values,
    compact,
    hierarchy,
    indices,
    lump,
)
from emdeg.equations.sections import document, model_data, write
from emdeg.robot.symbols import Known, symbolize, with_symbolic_payload

__all__ = [
    "Compact",
    "CompactEntry",
    "Constant",
    "Hierarchy",
    "InverseJacobian",
    "Kinematics",
    "Known",
    "Lumped",
    "Model",
    "Quotient",
    "EntryRelation",
    "Relations",
    "Tally",
    "atom_values",
    "compact",
    "derive",
    "determinant",
    "document",
    "entry_name",
    "from_json",
    "hierarchy",
    "indices",
    "inverse_jacobian",
    "lump",
    "lumped_constants",
    "model_data",
    "quotient",
    "relations",
    "symbolize",
    "to_json",
    "with_symbolic_payload",
    "write",
]
