"""The explicit model: M, Christoffel symbols, gravity, kinematics, Jacobians and the relations among them."""

from emdeg.equations.derive import derive
from emdeg.equations.inverse_jacobian import InverseJacobian, NotInvertible, determinant, inverse_jacobian
from emdeg.equations.json_data import BadData
from emdeg.equations.json_form import from_json, to_json
from emdeg.equations.kinematics import Kinematics
from emdeg.equations.letters import letters
from emdeg.equations.model import Known, Model, NotDerived, entry_name
from emdeg.equations.quotient import Quotient, quotient
from emdeg.equations.relations import Relation, Relations, Tally, relations
from emdeg.equations.symbolize import symbolize, with_symbolic_payload

__all__ = [
    "BadData",
    "InverseJacobian",
    "Kinematics",
    "Known",
    "Model",
    "NotDerived",
    "NotInvertible",
    "Quotient",
    "Relation",
    "Relations",
    "Tally",
    "derive",
    "determinant",
    "entry_name",
    "from_json",
    "inverse_jacobian",
    "letters",
    "quotient",
    "relations",
    "symbolize",
    "to_json",
    "with_symbolic_payload",
]
