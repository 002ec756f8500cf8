from .outcome import Outcome as Outcome
from .outcome import perform as perform
from .outcome import summary as summary
from .outcome import table as table
from .scenario import Scenario as Scenario
from .scenario import load_scenario as load_scenario
from .scenario import load_trajectory as load_trajectory
from .scenario import scenario_names as scenario_names
