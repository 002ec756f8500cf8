from .execution import executed_ptx as executed_ptx
from .loader import beside_ptx as beside_ptx
from .loader import emit_loader as emit_loader
from .printer import emit_ptx as emit_ptx
