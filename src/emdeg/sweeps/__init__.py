"""Design studies: what varies, what is computed, on all cores or a cluster, resumable; see docs/sweeps.md."""

from emdeg.sweeps.read import read_study
from emdeg.sweeps.run import Results, plan_of_results, planned, sweep
from emdeg.sweeps.study import Compute, NamedRanges, StatedTolerances, States, Study, Vary

__all__ = [
    "Compute",
    "Results",
    "States",
    "Study",
    "StatedTolerances",
    "Vary",
    "NamedRanges",
    "plan_of_results",
    "planned",
    "read_study",
    "sweep",
]
