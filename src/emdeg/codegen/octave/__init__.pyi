from .printer import beside_octave as beside_octave
from .printer import emit_octave as emit_octave
from .printer import octave_class as octave_class
