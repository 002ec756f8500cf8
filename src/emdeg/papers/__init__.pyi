from .processors import Split as Split
from .processors import split as split
from .rates import Multirate as Multirate
from .rates import holding_error as holding_error
from .rates import multirate as multirate
from .tables import general_recursion as general_recursion
from .tables import reduction_tables as reduction_tables
from .tables import totals as totals
