from .printer import emit_python as emit_python
