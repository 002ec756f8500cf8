from .guard import Guard as Guard
from .server import Address as Address
from .server import serve as serve
from .sessions import StudioFolder as StudioFolder
