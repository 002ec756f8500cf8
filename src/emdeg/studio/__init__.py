"""The live page: a robot, its equations, its code and its motion as one thing, served on this machine alone."""

from typing import TYPE_CHECKING

from emdeg._exports import on_demand

if TYPE_CHECKING:
    from emdeg.studio.guard import Guard
    from emdeg.studio.server import Address, serve
    from emdeg.studio.sessions import StudioFolder

on_demand(globals())
