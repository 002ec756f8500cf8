"""From measurements to parameters: bench experiments, recorded motions, fitted friction."""

from typing import TYPE_CHECKING

from emdeg._exports import on_demand

if TYPE_CHECKING:
    from emdeg.identification.comparison import comparison_part
    from emdeg.identification.consistency import Bodies, consistent_bodies
    from emdeg.identification.excitation import Excitation, PredictedParameter, excitation_files, excite
    from emdeg.identification.friction_choice import TermTest
    from emdeg.identification.identifying import Everywhere, Identification, identify
    from emdeg.identification.measured import Comparison, Estimate, FrictionFit, JointDeviation, compare, fit_friction
    from emdeg.identification.payload_fit import PayloadFit, identify_payload, payload_toml
    from emdeg.identification.recording import Log, Recording, doubts, read_log, read_motion, read_recording
    from emdeg.identification.robot_files import identified_robot, identified_urdf
    from emdeg.identification.samples import LogSamples
    from emdeg.identification.suspicions import Doubt
    from emdeg.identification.validation import JointValidation, Validation, validated

on_demand(globals())
