"""Scenarios: files that say what a robot shall do, read, carried out, and what came of them. Some come with emdeg."""

from typing import TYPE_CHECKING

from emdeg._exports import on_demand

if TYPE_CHECKING:
    from emdeg.simulation.scenarios.outcome import Outcome, perform, summary, table
    from emdeg.simulation.scenarios.scenario import Scenario, load_scenario, load_trajectory, scenario_names

on_demand(globals())
