"""Charts: texts stay texts, colors are attributes, nothing else is in the SVG, and the bytes are always the same."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest

from emdeg.documents import (
    BLUE,
    ORANGE,
    ChartBar,
    Curve,
    Span,
    Trail,
    bars,
    curves,
    joint_curves,
    matrix,
    saved,
    spans,
    svg,
    trails,
)

BAD = '$x$ <b>&"\N{RIGHT-TO-LEFT OVERRIDE}'
MADE = {
    "bars": lambda: bars([ChartBar(BAD, (3.0, 1.0), "4"), ChartBar("b", (0.0, 0.0))], ("a", "b"), BAD),
    "spans": lambda: spans([Span(BAD, -2.0, 3.0, "x", 1.0), Span("b", 0.0, 0.0)], BAD, "N"),
    "log": lambda: spans([Span(BAD, 0.02, 3.0)], BAD, "N", log=True),
    "curves": lambda: curves([0.0, 1.0, 2.0], [Curve(BAD, (1.0, -2.0, 4.0), BLUE)], BAD, "time [s]", "N m"),
    "flat": lambda: curves([0.0, 1.0], [Curve("a", (0.0, 0.0), ORANGE, (2.0, 3.0))], BAD, "time [s]", "N m"),
    "trails": lambda: trails(
        [Trail(BAD, ((30.0, 5.0), (20.0, 10.0)), ("first", "second"), BLUE)], BAD, "operations", "error", (33.0, "33")
    ),
    "matrix": lambda: matrix([[None, 0.5], [2.0, None]], ["a", BAD], BAD),
}


@pytest.mark.parametrize("name", MADE)
def test_a_chart_is_plain_paths_and_texts(name):
    text = svg(MADE[name]())
    root = ElementTree.fromstring(text)
    shapes = list(root)
    assert shapes
    assert {shape.tag.rpartition("}")[2] for shape in shapes} <= {"path", "text"}
    assert not [key for shape in shapes for key in ("style", "id", "class") if shape.get(key)]
    shown = " ".join(element.text or "" for element in root.iter())
    assert '$x$ <b>&"\N{REPLACEMENT CHARACTER}' in shown + root.get("aria-label", "")
    _, _, width, height = map(float, root.get("viewBox", "").split())
    for shape in shapes:
        if shape.get("x"):
            assert 0 <= float(shape.get("x", "")) <= width
            assert 0 <= float(shape.get("y", "")) <= height


@pytest.mark.parametrize("kind", ["svg", "pdf", "png"])
def test_the_same_chart_has_the_same_bytes(kind):
    assert saved(MADE["curves"]().figure, kind) == saved(MADE["curves"]().figure, kind)


def test_a_bar_says_its_value_when_pointed_at():
    titles = [
        element.text for element in ElementTree.fromstring(svg(MADE["trails"]())).iter() if "title" in element.tag
    ]
    assert titles[-2:] == ["first", "second"]


def test_each_joint_has_its_chart_and_several_curves_their_key():
    values = np.arange(6.0).reshape(3, 2)
    one = Curve("a", values, BLUE)
    found = joint_curves("f", [0.0, 1.0, 2.0], [("q1", "N m"), ("q2", "N")], [one, one])
    assert [figure.name for part in found for figure in part.figures] == ["f_key", "f1", "f2"]
    assert len(joint_curves("f", [0.0, 1.0, 2.0], [("q1", "N m"), ("q2", "N")], [one])) == 1
