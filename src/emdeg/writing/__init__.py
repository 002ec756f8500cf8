"""How things are written down: one document model and its formats, notebook display, files that are whole.

The model is `document` and `formula`; `formats.write` writes it as text, LaTeX, MathML, Markdown or for SymPy, `html`
with figures and folds, `json_form` as data. `notation` is the one walk over a formula, in which a format is a table.
"""

from emdeg.writing.files import write_whole
from emdeg.writing.notebook import Shown

__all__ = ["Shown", "write_whole"]
