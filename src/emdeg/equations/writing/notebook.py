"""How a model shows itself in a notebook: its mass matrix and gravity, if they are short, else its sizes."""

from __future__ import annotations

from emdeg.equations.model import Model
from emdeg.equations.writing import latex as latex_
from emdeg.equations.writing import mathml
from emdeg.equations.writing.parts import document

MAX_TERMS = 400


def latex(model: Model) -> str:
    """The equations of motion in LaTeX, the zero entries left out."""
    shown = _shown(model)
    if not shown:
        return rf"$\text{{{latex_.escape(repr(model))}}}$"
    rows = []
    for name, value in model.entries(shown).items():
        if value:
            rows.append(f"{name[0]}_{{{name[1:]}}} &= {' '.join(latex_.formula(value))}")
    return "$$\\begin{aligned}" + r" \\ ".join(rows) + "\\end{aligned}$$"


def html(model: Model) -> str:
    """The equations of motion in MathML under the model's name."""
    head = f"<p><b>{mathml.text(model.robot.name)}</b> {mathml.text(repr(model)[1:-1])}</p>"
    shown = _shown(model)
    return head + mathml.body(document(model, shown)) if shown else head


def _shown(model: Model) -> list[str]:
    """The parts that fit on a screen."""
    sizes = {part: sum(map(len, model.entries([part]).values())) for part in ("M", "b", "c", "g") if part in model.parts}
    return [part for part, size in sizes.items() if size <= MAX_TERMS]
