"""How things are written down: one document model and its formats, notebook display, files that are whole.

The model is `document` and `formula`; `formats` has its writers (text, LaTeX, MathML, Markdown, SymPy), `html` adds
figures and folds, `json_form` writes data. `notation` is the one walk over a formula, in which a format is a table.
"""

from emdeg.writing.files import write_whole
from emdeg.writing.notebook import Shown

__all__ = ["Shown", "write_whole"]
