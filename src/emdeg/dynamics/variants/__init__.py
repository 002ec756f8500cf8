"""What an optimiser may vary without changing the function."""

from typing import TYPE_CHECKING

from emdeg._exports import on_demand

if TYPE_CHECKING:
    from emdeg.dynamics.variants.regrouping import (
        SPLITS,
        Axial,
        Joints,
        drives_in_links,
        inertia_handed_inwards,
        slide_choices,
        turn_back_choices,
    )
    from emdeg.dynamics.variants.variation import Variation, no_variation, varied

on_demand(globals())
