"""How things are written down: one document model and its formats, notebook display, files that are whole.

The model is `document` and `formula`; `formats` has its writers (text, LaTeX, MathML, Markdown, SymPy), `html` adds
figures and folds, `json_form` writes data. `notation` is the one walk over a formula, in which a format is a table.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
