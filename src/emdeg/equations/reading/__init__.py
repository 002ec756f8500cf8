"""An explicit model as a person writes it down: lumped constants, the compact form, EMDEG's hierarchical form."""

from emdeg.equations.reading.compact_form import Compact, CompactEntry, atom_values, compact
from emdeg.equations.reading.hierarchical_form import Hierarchy, hierarchy
from emdeg.equations.reading.lumped import Constant, Lumped, indices, lump

__all__ = [
    "Compact",
    "CompactEntry",
    "Constant",
    "Hierarchy",
    "Lumped",
    "atom_values",
    "compact",
    "hierarchy",
    "indices",
    "lump",
]
