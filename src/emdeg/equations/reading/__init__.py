"""An explicit model as a person writes it down: lumped constants, the compact form, EMDEG's hierarchical form."""

from typing import TYPE_CHECKING

from emdeg._exports import on_demand

if TYPE_CHECKING:
    from emdeg.equations.reading.compact_form import (
        ABBREVIATIONS,
        Compact,
        CompactEntry,
        abbreviated,
        atom_values,
        compact,
        in_parameters,
    )
    from emdeg.equations.reading.hierarchical_form import Hierarchy, hierarchy
    from emdeg.equations.reading.lumped import Constant, Lumped, indices, lump, own_letter
    from emdeg.equations.reading.tolerances import widened

on_demand(globals())
