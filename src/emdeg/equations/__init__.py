"""The explicit model: M, Christoffel symbols, gravity, kinematics, Jacobians and the relations among them.

Its constants and the forms a person reads: `lumped_constants`, `compact`, `hierarchy`.
"""

from typing import TYPE_CHECKING

from emdeg._exports import on_demand

if TYPE_CHECKING:
    from emdeg.algebra import Quotient, quotient
    from emdeg.equations.coefficient_relations import EntryRelation, Relations, Tally, relations
    from emdeg.equations.formulas import Formulas, descendants
    from emdeg.equations.jacobian_inverse import InverseJacobian, determinant, inverse_jacobian
    from emdeg.equations.json_form import formula, from_json, model_data, to_json
    from emdeg.equations.kinematic_sections import AddedPart, Choice
    from emdeg.equations.kinematics import Kinematics, Matrix
    from emdeg.equations.model import Model, derive, entry_name, lumped_constants
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
    from emdeg.equations.sections import DEFAULT_PARTS, NEEDS, PARTS, document, kinds_of, letters_of, write
    from emdeg.equations.singular import Singularity, singularities
    from emdeg.equations.terms import Expansion, LumpedModel, Term, exact_value, lumped_model
    from emdeg.robot import Known, symbolize, with_symbolic_payload

on_demand(globals())
