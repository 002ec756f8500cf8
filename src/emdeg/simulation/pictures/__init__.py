"""Motions to look at: figures over time, stick figures that move."""

from typing import TYPE_CHECKING

from emdeg._exports import on_demand

if TYPE_CHECKING:
    from emdeg.simulation.pictures.figures import figure_bytes
    from emdeg.simulation.pictures.skeleton import Stroke, joined, line_figure
    from emdeg.simulation.pictures.stick_figures import KINDS, animation

on_demand(globals())
