"""From measurements to parameters: bench experiments, recorded motions, fitted friction."""

from typing import TYPE_CHECKING

from emdeg._exports import on_demand

if TYPE_CHECKING:
    from emdeg.identification.campaign import Campaign, Reading, read_campaign
    from emdeg.identification.campaign_template import CAMPAIGN
    from emdeg.identification.comparison import comparison_part
    from emdeg.identification.measured import Comparison, Estimate, FrictionFit, JointDeviation, compare, fit_friction
    from emdeg.identification.measuring import CampaignOutcome, MeasuredFigure, measure
    from emdeg.identification.recording import Recording, doubts, read_motion, read_recording
    from emdeg.identification.trials import Trial, run_trials

on_demand(globals())
