from .execution import executed_object as executed_object
from .processors import PROCESSORS as PROCESSORS
from .processors import Processor as Processor
from .writer import beside_object as beside_object
from .writer import emit_object as emit_object
from .writer import instructions as instructions
