"""Bench measurement of a robot's parameters: readings of a campaign, their formulas, the robot that follows."""

from typing import TYPE_CHECKING

from emdeg._exports import on_demand

if TYPE_CHECKING:
    from emdeg.papers.bench.bodies import central, place
    from emdeg.papers.bench.campaign import Campaign, Reading, read_campaign
    from emdeg.papers.bench.formulas import Measured
    from emdeg.papers.bench.measuring import CampaignOutcome, MeasuredFigure, measure, nine_digits, with_inertia
    from emdeg.papers.bench.template import CAMPAIGN
    from emdeg.papers.bench.trials import Trial, run_trials

on_demand(globals())
