from .figures import figure_bytes as figure_bytes
from .skeleton import Stroke as Stroke
from .skeleton import joined as joined
from .skeleton import line_figure as line_figure
from .stick_figures import KINDS as KINDS
from .stick_figures import animation as animation
