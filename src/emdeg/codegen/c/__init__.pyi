from .library import c_library as c_library
from .template import COptions as COptions
from .template import beside_c as beside_c
from .template import c_header as c_header
from .template import c_text as c_text
from .template import emit_c as emit_c
