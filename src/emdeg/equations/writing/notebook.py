"""How a model shows itself in a notebook: its equations if they are short, else what they measure."""

from __future__ import annotations

from emdeg.equations.model import DYNAMICS, Model
from emdeg.equations.writing import latex as latex_
from emdeg.equations.writing import mathml
from emdeg.equations.writing.parts import document

MAX_TERMS = 400


def latex(model: Model) -> str:
    """The equations of motion in LaTeX, the zero entries left out; of a long model only its sizes."""
    shown = _shown(model)
    if set(shown) != model.parts:
        return rf"$\text{{{latex_.escape(repr(model))}}}$"
    rows = []
    for name, value in model.entries(shown).items():
        if value:
            rows.append(f"{name[0]}_{{{name[1:]}}} &= {' '.join(latex_.formula(value))}")
    return "$$\\begin{aligned}" + r" \\ ".join(rows) + "\\end{aligned}$$"


def html(model: Model) -> str:
    """The sizes of the model and, in MathML, those of its parts that fit on a screen."""
    head = f"<p><b>{mathml.text(model.robot.name)}</b> {mathml.text(repr(model)[1:-1])}</p>"
    shown = _shown(model)
    return head + mathml.body(document(model, shown)) if shown else head


def _shown(model: Model) -> list[str]:
    """The parts that fit on a screen."""
    derived = [part for part in DYNAMICS if part in model.parts]
    sizes = {part: sum(map(len, model.entries([part]).values())) for part in derived}
    return [part for part, size in sizes.items() if size <= MAX_TERMS]
