from .printer import emit_js as emit_js
