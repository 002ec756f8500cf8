from .printer import emit_cpp as emit_cpp
