from .functions import applied_torques as applied_torques
from .functions import elements_by as elements_by
