"""The section of the explicit equations: lumped constants, then every entry in them, its terms by significance."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from emdeg.algebra import Atom, Product, Sum
from emdeg.documents import (
    Formula,
    Item,
    Label,
    Note,
    Paragraph,
    Reference,
    Section,
    Statement,
    Table,
    Verbatim,
    Written,
    label,
    line,
    percent,
)
from emdeg.equations import Compact, Lumped, LumpedModel, compact, kinds_of, letters_of, lumped_model
from emdeg.equations.reading import ABBREVIATIONS, CompactEntry
from emdeg.errors import OverBudget
from emdeg.reports.items import ShadedEntries, ShadedEntry, ShadedTerm, Slider
from emdeg.reports.subject import Subject
from emdeg.reports.tradeoff import MOST_TERMS, TUNING, SliderTuning, Tradeoff, sampled_sizes, threshold_levels
from emdeg.robot import by_kind

TITLES = {
    "M": "Mass matrix M, symmetric",
    "b": "Coriolis coefficients b of products of two speeds",
    "c": "Centrifugal coefficients c of squared speeds",
    "g": "Gravity g",
}
_SUM = "<munder><mo>&#x2211;</mo><mrow>{}</mrow></munder>"


def _rate(accent: str, index: str) -> str:
    return f"<msub><mover><mi>q</mi><mo>{accent}</mo></mover><mi>{index}</mi></msub>"


def _entry_of(letter: str, indices: str) -> str:
    return f"<msub><mi>{letter}</mi><mrow>{''.join(f'<mi>{i}</mi>' for i in indices)}</mrow></msub>"


EQUATION = Statement(
    Written(
        "tau_i = sum_j M_ij qdd_j + sum_j<k b_ijk qd_j qd_k + sum_j c_ij qd_j^2 + g_i",
        r"\tau_i = \sum_j M_{ij}\,\ddot q_j + \sum_{j<k} b_{ijk}\,\dot q_j \dot q_k + \sum_j c_{ij}\,\dot q_j^2 + g_i",
        "<msub><mi>&#x3C4;</mi><mi>i</mi></msub><mo>=</mo>"
        + _SUM.format("<mi>j</mi>")
        + _entry_of("M", "ij")
        + _rate("&#xA8;", "j")
        + "<mo>+</mo>"
        + _SUM.format("<mi>j</mi><mo>&lt;</mo><mi>k</mi>")
        + _entry_of("b", "ijk")
        + _rate("&#x2D9;", "j")
        + _rate("&#x2D9;", "k")
        + "<mo>+</mo>"
        + _SUM.format("<mi>j</mi>")
        + _entry_of("c", "ij")
        + "<msubsup><mover><mi>q</mi><mo>&#x2D9;</mo></mover><mi>j</mi><mn>2</mn></msubsup><mo>+</mo>"
        + "<msub><mi>g</mi><mi>i</mi></msub>",
    )
)
OPEN = 14
"""ShadedEntries up to which a part is open at first."""
LONGEST = 1_200_000
"""Characters of formulas that a page holds; parts beyond are named with the command that prints them."""
MOST_EXPANDED = 60_000
"""Terms, expanded, up to which constants are looked for."""


@dataclass(frozen=True, slots=True)
class EquationsFound:
    """The section, and what other sections and the summary take from it."""

    section: Section
    tradeoff: Tradeoff | None = None
    constants: int = 0
    full: LumpedModel | None = None
    loops: Any = None
    """The model of a mechanism with closed loops."""


@by_kind
def equations(subject: Subject, command: str, levels: bool = True, *, tuning: SliderTuning = TUNING) -> EquationsFound:
    """The section of the explicit equations.

    Without `levels` there is no threshold slider, which takes the longest; terms are shaded by sampled sizes.
    """
    subject.progress("explicit equations")
    try:
        model = subject.model
    except OverBudget as problem:
        return EquationsFound(_without(str(problem), command))
    terms = sum(map(len, model.entries().values()))
    if terms > MOST_EXPANDED:
        return EquationsFound(_without(f"they have {terms} terms, more than {MOST_EXPANDED}", command))
    if subject.symbolic:
        lumped = model.lumped
        return EquationsFound(
            _section(subject, lumped, compact(lumped), None, None, command), None, len(lumped.constants)
        )
    full = lumped_model(model if model.general else subject.robot)
    found = threshold_levels(subject, full, tuning) if levels else Tradeoff((), {}, sampled_sizes(subject, full), ())
    section = _section(subject, full.lumped, compact(full.lumped), found, full, command, levels)
    return EquationsFound(section, found, len(full.lumped.constants), full)


def _without(why: str, command: str) -> Section:
    """The section of a robot whose equations are too long for a page."""
    items = (
        EQUATION,
        Note(f"The explicit equations are left out of the page: {why}. Parts of them are printed by"),
        Verbatim(f"emdeg derive {command} --only g"),
    )
    return Section("equations", "The equations of motion", items)


def _section(
    subject: Subject,
    lumped: Lumped,
    form: Compact,
    found: Tradeoff | None,
    full: LumpedModel | None,
    command: str,
    levels: bool = True,
) -> Section:
    own = [label(name) for name in (*form.entries, *(c.name for c in lumped.constants))]
    letters, legend = letters_of(own, lumped.algebra)
    legend = (*legend, ABBREVIATIONS) if lumped.algebra.short else legend

    def named(entry: str) -> Label:
        """An entry's label, in a letter that no symbol of the robot has."""
        usual = label(entry)
        return replace(usual, letter=letters.get(usual.letter, usual.letter))

    items: list[Item] = [
        Paragraph(
            "The effort of joint i is made of its inertia and its couplings M, Coriolis terms b, centrifugal terms c "
            "and gravity g, which depend on the configuration alone:"
        ),
        EQUATION,
        *(Paragraph(words) for words in legend),
    ]
    if found is not None and found.levels:
        items.append(_slider(subject, found))
    elif found is not None and levels:
        items.append(
            Note(
                f"The equations have {len(full.functions) if full else 0} terms, more than {MOST_TERMS}: the threshold "
                "slider is left out. Terms are shaded by their largest value on random configurations. A short model "
                f"with its error: emdeg abbreviate {command}"
            )
        )
    elif found is None:
        items.append(
            Note(
                "Its parameters are symbols: terms have no size, so there is no shading and no threshold. "
                f"With numbers (--set NAME=VALUE) there is: emdeg show {command} lists the symbols."
            )
        )
    items.append(_constants(lumped))
    room = LONGEST
    for part, title in TITLES.items():
        names = [name for name in form.entries if name[0] == part]
        length = sum(len(form[name].text) for name in names if form[name].alias is None)
        if length > room:
            items.append(
                Note(
                    f"{title}: {len(names)} entries, {length} characters, are left out of the page. They are printed by"
                )
            )
            items.append(Verbatim(f"emdeg derive {command} --only constants,{part}"))
            continue
        room -= length
        items.append(_entries(title, [form[name] for name in names], lumped, found, named))
    return Section("equations", "The equations of motion", tuple(items))


def _constants(lumped: Lumped) -> Table:
    """Every constant with what is known of it; columns of which nothing is known are left out."""
    head = ("constant", "value", "±", "unit", "entries", "formula")
    rows: list[tuple[Label | str | Formula, ...]] = [
        (
            label(c.name),
            "" if c.value is None else f"{c.value:.6g}",
            f"{c.tolerance:.2g}" if c.tolerance else "",
            c.unit.replace("^2", "²"),
            str(len(c.uses)),
            "" if c.formula.is_number else c.formula if lumped.algebra.alike else c.expression,
        )
        for c in lumped.constants
    ]
    kept = [k for k in range(len(head)) if head[k] == "formula" or any(row[k] for row in rows)]
    title = f"{len(rows)} lumped constants: {kinds_of(lumped.constants)}"
    cells = tuple(tuple(row[k] for k in kept) for row in rows)
    return Table(tuple(head[k] for k in kept), cells, title, folded=len(rows) > 45)


def slider_levels(subject: Subject, found: Tradeoff) -> list[dict[str, Any]]:
    """What each position of the threshold slider costs and saves, as plain data."""
    names = [joint.name for joint in subject.robot.joints]
    levels = []
    whole = found.levels[0]
    for level in found.levels:
        worst = max(range(len(names)), key=lambda k: level.certified[k]) if level.certified else 0
        certified, seen = level.certified[worst] if level.certified else 0.0, max(level.found, default=0.0)
        levels.append(
            {
                "threshold": level.asked,
                "terms": level.terms,
                "mul": level.mul,
                "add": level.add,
                "saved": 1 - (level.mul + level.add) / max(1, whole.mul + whole.add),
                "certified": certified,
                "found": seen,
                "joint": names[worst] if level.certified else "",
                "threshold_text": percent(level.asked) if level.asked else "none",
                "certified_text": percent(certified, bound=True),
                "found_text": percent(seen),
            }
        )
    return levels


def _slider(subject: Subject, found: Tradeoff) -> Slider:
    where = subject.where
    text = (
        "Hide the terms that stay below a share of the greatest in their equation, or below a tenth of that share of "
        "their joint's constant inertia. The error is of a joint's effort, as a share of that joint's largest, over "
        f"all positions of the workspace, speeds up to {where.speed[0]:g} and accelerations up to "
        f"{where.acceleration[0]:g} (rad or m, s). Operations are those of the inverse dynamics written from these "
        "equations, without further search."
    )
    return Slider(tuple(slider_levels(subject, found)), text)


def _entries(
    title: str,
    found: Sequence[CompactEntry],
    lumped: Lumped,
    sizes: Tradeoff | None,
    named: Callable[[str], Label],
) -> ShadedEntries:
    constants = {c.name for c in lumped.constants}
    entries: list[ShadedEntry] = []
    zeros: list[Label] = []
    for entry in found:
        if not entry.expression.terms:
            zeros.append(named(entry.name))
        elif entry.alias is not None:
            factor, other = entry.alias
            same = Reference(named(other), factor, replace(entry, alias=None).shown)
            entries.append(ShadedEntry(named(entry.name), (), same, entry.name))
        else:
            products = list(flattened(entry.expression, constants))
            own = {c: sizes.sizes.get((entry.name, c), 0.0) for c, _ in products} if sizes else {}
            most = max(own.values(), default=0.0)
            terms = tuple(
                ShadedTerm(
                    product,
                    own[c] / most if most else None,
                    sizes.goes.get((entry.name, c)) if sizes else None,
                    c,
                    entry.written_out,
                )
                for c, product in products
            )
            entries.append(ShadedEntry(named(entry.name), terms, name=entry.name))
    few = len(entries) <= OPEN or title.startswith(("Mass", "Gravity"))
    short = sum(len(line(e.sum)) for e in entries) < 20_000
    return ShadedEntries(title, tuple(entries), tuple(zeros), open=few and short)


def flattened(expression: Sum, constants: Iterable[str]) -> Iterable[tuple[str, Product]]:
    """(constant, its summand) of an entry: brackets such as 2 (I1 ... + I2 ...) are multiplied out, functions stay."""
    known = set(constants)
    for product in expression.terms:
        first = product.factors[0] if product.factors else None
        if isinstance(first, Atom) and first.kind in known and not first.angle:
            yield first.kind, product
        elif len(product.factors) == 1 and isinstance(first, Sum):
            for inner in first.terms:
                scaled = Product(product.coefficient * inner.coefficient, inner.factors)
                yield from flattened(Sum((scaled,)), known)
        else:
            yield "", product
