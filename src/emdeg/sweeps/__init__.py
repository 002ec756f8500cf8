"""Design studies: what varies, what is computed, on all cores or a cluster, resumable; see docs/sweeps.md."""

from typing import TYPE_CHECKING

from emdeg._exports import on_demand

if TYPE_CHECKING:
    from emdeg.sweeps.cluster import cluster_map, scheduler_address
    from emdeg.sweeps.plan import Plan
    from emdeg.sweeps.read import read_study
    from emdeg.sweeps.run import Results, plan_of_results, planned, sweep
    from emdeg.sweeps.study import Compute, NamedRanges, StatedTolerances, States, Study, Vary

on_demand(globals())
