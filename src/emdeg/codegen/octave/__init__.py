"""MATLAB text, run in GNU Octave: functions over many states at once, and a class of all of a robot's."""

from typing import TYPE_CHECKING

from emdeg._exports import on_demand

if TYPE_CHECKING:
    from emdeg.codegen.octave.printer import beside_octave, emit_octave, octave_class

on_demand(globals())
