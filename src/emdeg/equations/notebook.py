"""How a model shows itself in a notebook: its equations if they are short, else what they measure."""

from __future__ import annotations

from emdeg.documents import Equation, escape
from emdeg.documents import html as html_
from emdeg.documents import latex as latex_
from emdeg.equations.formulas import DYNAMICS
from emdeg.equations.model import Model
from emdeg.equations.sections import document

MAX_TERMS = 400
"""Terms of a part above which it is shown in lumped constants."""
MAX_COMPACT = 6000
"""Terms of the whole above which no part is shown: finding its constants would take seconds."""


def latex(model: Model) -> str:
    """The equations of motion in LaTeX, the zero entries left out; of a very long model only its sizes."""
    shown = _shown(model)
    if not shown:
        return rf"$\text{{{latex_.latex_escape(repr(model))}}}$"
    rows = [
        f"{item.label.latex} &= {latex_.line(item.value)}"
        for item in document(model, shown).items
        if isinstance(item, Equation)
    ]
    return "$$\\begin{aligned}" + r" \\ ".join(rows) + "\\end{aligned}$$"


def html(model: Model) -> str:
    """The sizes of the model and, in MathML, its equations where they fit on a screen."""
    head = f"<p><b>{escape(model.robot.name)}</b> {escape(repr(model)[1:-1])}</p>"
    shown = _shown(model)
    return head + html_.body(document(model, shown)) if shown else head


def _shown(model: Model) -> list[str]:
    """The parts to show: expanded if all are short, else in lumped constants, else none."""
    derived = [part for part in DYNAMICS if part in model.parts]
    sizes = [sum(map(len, model.entries([part]).values())) for part in derived]
    if all(size <= MAX_TERMS for size in sizes):
        return derived
    return ["constants", *derived] if sum(sizes) <= MAX_COMPACT else []
