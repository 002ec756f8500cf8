from .comparison import judge as judge
from .comparison import judged_workspace as judged_workspace
from .file import PrintedModel as PrintedModel
from .file import read_printed as read_printed
from .verdict import Judgement as Judgement
from .verdict import Verdict as Verdict
