"""Terms of loops and of fractions are apart in the page's order, and their largest sizes are of the workspace."""

from __future__ import annotations

import numpy as np

import emdeg
from emdeg.loops.equations import LOOP_PARTS, derive_loops
from emdeg.programs import evaluate
from emdeg.reports import HtmlReportWriter, Subject
from emdeg.studio.parts import EXPANDED, JACOBIAN, of_loops, shown_part
from emdeg.studio.shading import sized, states, terms_of


def test_every_formula_of_a_mechanism_is_shown_in_terms_also_below_the_line_and_under_a_root() -> None:
    robot = emdeg.load("delta")
    found = shown_part(robot, EXPANDED + "J", lambda text: None)
    terms = terms_of(found.sections)
    assert any(one.below for one in terms)
    assert any(one.entry.root for one in terms)
    assert found.values is not None
    html = HtmlReportWriter().sections(found.sections)
    assert html.count('class="t"') == len(terms) == len(found.values.outputs[0].entries) == len(found.units)
    state = {"q": np.array([0.02, -0.01, -0.5]), "qd": np.zeros(3)}
    values = evaluate(found.values, state)["T"]
    roots: dict[str, float] = {}
    for one, value in zip(terms, values):
        if one.entry.root:
            roots[one.entry.name] = roots.get(one.entry.name, 0.0) + float(value)
    assert len(roots) == 3
    assert min(roots.values()) > 0


def test_a_named_jacobian_has_its_terms_apart() -> None:
    robot = emdeg.load("fourbar")
    model = derive_loops(robot)
    block = next(one for one in model.blocks if one.symbol == "L" and any(x for row in one.here for x in row))
    found = of_loops(model, [LOOP_PARTS["blocks"](model)])
    names = {one.entry.name for one in terms_of(found.sections)}
    assert any(name.startswith(f"J_L{block.number}_") for name in names)


def test_largest_sizes_are_found_at_states_of_the_workspace_and_where_loops_close() -> None:
    robot = emdeg.load("planar2r")
    found = shown_part(robot, JACOBIAN, lambda text: None)
    assert found.values is not None
    shares: dict[str, list[float]] = {one.entry.name: [] for one in terms_of(found.sections)}
    for one in terms_of(sized(found.sections, found.values, Subject(robot))):
        shares[one.entry.name].append(one.term.share or 0.0)
    assert max(shares["J11"]) == 1.0
    assert all(0.95 < share <= 1 for share in shares["J11"])  # a1 = a2 = 1 m, and all angles are in reach
    delta = Subject(emdeg.load("delta"))
    low, high = states(delta)["q"].min(axis=0), states(delta)["q"].max(axis=0)
    assert (low < high).all()
    expanded = shown_part(delta.robot, EXPANDED + "G", lambda text: None)
    assert expanded.values is not None
    sizes = [one.term.share for one in terms_of(sized(expanded.sections, expanded.values, delta))]
    assert None not in sizes
