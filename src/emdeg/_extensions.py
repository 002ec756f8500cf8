"""The extensions that come with emdeg, registered with the core when this is imported."""

from emdeg.loops import EXTENSION as CLOSED_LOOPS
from emdeg.robot import register_addition, register_kind

register_kind(CLOSED_LOOPS)
register_addition("formulations", "emdeg.papers.implementations:FORMULATIONS")
register_addition("parts", "emdeg.papers.sections:PARTS")
register_addition("records", (("short", "emdeg.approximation.code:recheck_approximate"),))
