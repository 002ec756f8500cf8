"""Formulas as text, LaTeX, MathML, Markdown and SymPy source."""
