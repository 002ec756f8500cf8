from .archive import executed_fmu as executed_fmu
from .archive import of_one_program as of_one_program
from .unit import FmuRequest as FmuRequest
from .unit import make_fmu as make_fmu
from .unit import recheck_fmu as recheck_fmu
