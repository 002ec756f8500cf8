"""The extensions that come with emdeg, registered with the core when this is imported."""

from emdeg.loops import EXTENSION as CLOSED_LOOPS
from emdeg.robot import register_kind

register_kind(CLOSED_LOOPS)
