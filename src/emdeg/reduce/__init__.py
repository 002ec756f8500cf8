"""Short models: significance rules, certified error bounds, two rates, several processors."""

from emdeg.reduce.abbreviation import Abbreviated, abbreviate
from emdeg.reduce.processors import Split, split
from emdeg.reduce.rates_apart import Multirate, holding_error, multirate
from emdeg.reduce.short_model import FullModel, ShortModel, full_model
from emdeg.reduce.significance import significant

__all__ = [
    "Abbreviated",
    "FullModel",
    "Multirate",
    "ShortModel",
    "Split",
    "abbreviate",
    "full_model",
    "holding_error",
    "multirate",
    "significant",
    "split",
]
