from .printer import emit_numpy as emit_numpy
