"""Mechanisms for tests with more closure equations than they need: they move because their sizes are special."""

from __future__ import annotations

from collections.abc import Sequence

_HEAD = """
schema = 1
name = "{name}"
convention = "modified"
"""
_LINK = """
[[link]]
name = "{name}"
parent = "{parent}"
joint = {{ name = "{joint}", type = "revolute"{place} }}
inertia = {{ about = "com", mass = {mass}, com = {com}, Ixx = 0.003, Iyy = 0.004, Izz = 0.005 }}
"""
_CLOSURE = """
[[closure]]
name = "{name}"
type = "revolute"
from = {{ link = "{first}"{there} }}
to = {{ link = "{second}"{here} }}
"""


def link(name: str, parent: str, joint: str, place: str = "", mass: float = 1.0, com: str = "[0.1, 0.02, 0.01]") -> str:
    return _LINK.format(name=name, parent=parent, joint=joint, place=place, mass=mass, com=com)


def hinge(name: str, first: str, there: str, second: str, here: str) -> str:
    return _CLOSURE.format(name=name, first=first, there=there, second=second, here=here)


def ending(coordinates: str, driven: str, start: str, tool: str) -> str:
    return f'[tool]\nlink = "{tool}"\n[loops]\ncoordinates = {coordinates}\ndriven = {driven}\nstart = {{ {start} }}\n'


UPRIGHT = '[base]\nrpy = ["90 deg", 0, 0]\n'
"""A base whose z lies level, so that planar linkages carry their weight."""

LOCOMOTIVE = (
    _HEAD.format(name="locomotive")
    + UPRIGHT
    + "".join(link(f"wheel{k}", "base", f"q{k}", f", gamma = 0, a = {0.5 * (k - 1)}") for k in (1, 2, 3))
    + link("rod", "wheel1", "p", ", a = 0.2", 3.0, "[0.5, 0.01, 0]")
    + "".join(
        hinge(f"pin{k}", "rod", f", xyz = [{0.5 * (k - 1)}, 0, 0]", f"wheel{k}", ", xyz = [0.2, 0, 0]") for k in (2, 3)
    )
    + ending('["q1"]', '["q1"]', "q1 = 1, q2 = 1, q3 = 1, p = -1", "rod")
)
"""Three parallel cranks of 0.2 m on one coupling rod."""


def chain(cranks: int) -> str:
    """Two parallelograms, the second on the first one's rod, with so many cranks each."""
    text = _HEAD.format(name="parallelograms") + UPRIGHT
    for floor, ground, length in ((1, "base", 0.3), (2, "rod1", 0.25)):
        for k in range(1, cranks + 1):
            text += link(f"crank{floor}{k}", ground, f"q{floor}{k}", f", a = {0.4 * (k - 1)}")
        text += link(f"rod{floor}", f"crank{floor}1", f"p{floor}", f", a = {length}", 2.0, "[0.2, 0.03, 0]")
        for k in range(2, cranks + 1):
            there, here = f", xyz = [{0.4 * (k - 1)}, 0, 0]", f", xyz = [{length}, 0, 0]"
            text += hinge(f"pin{floor}{k}", f"rod{floor}", there, f"crank{floor}{k}", here)
    angles = {1: 1.2, 2: 0.8}
    start = ", ".join(f"q{f}{k} = {angles[f]}" for f in (1, 2) for k in range(1, cranks + 1))
    return text + ending('["q11", "q21"]', '["q11", "q21"]', f"{start}, p1 = -1.2, p2 = -0.8", "rod2")


BENNETT = (
    _HEAD.format(name="bennett")
    + link("one", "base", "t1")
    + link("two", "one", "t2", ', a = 0.2, alpha = "30 deg"')
    + link("three", "two", "t3", ', a = 0.4, alpha = "90 deg"')
    + hinge(
        "four",
        "three",
        ', xyz = [0.2, 0, 0], rpy = ["30 deg", 0, 0]',
        "base",
        ', xyz = [-0.4, 0, 0], rpy = ["-90 deg", 0, 0]',
    )
    + ending('["t1"]', '["t1"]', "t1 = 1, t2 = 2.52, t3 = -1", "two")
)
"""Lengths 0.2 and 0.4 m, twists of 30 and 90 degrees: a / sin alpha is 0.4 for both."""

ROUNDED_BENNETT = BENNETT.replace("0.2", "0.257115043874616").replace('"30 deg"', '"40 deg"')
"""A twist of 40 degrees, whose sine is no fraction: it moves as far as doubles can tell."""

SARRUS = (
    _HEAD.format(name="sarrus")
    + link("a_low", "base", "a1", ', gamma = "-90 deg", a = 0.3, alpha = "90 deg"')
    + link("a_high", "a_low", "a2", ", a = 0.4")
    + link("table", "a_high", "a3", ", a = 0.4")
    + link("b_low", "base", "b1", ', gamma = "0 deg", a = 0.3, alpha = "90 deg"')
    + link("b_high", "b_low", "b2", ", a = 0.4")
    + hinge("b_top", "b_high", ", xyz = [0.4, 0, 0]", "table", ', xyz = [-0.3, 0, -0.3], rpy = [0, "90 deg", 0]')
    + ending('["a1"]', '["a1"]', "a1 = 0.8, a2 = 1.5416, a3 = -2.3416, b1 = 0.8, b2 = 1.5416", "table")
)

"""Two hinged walls at right angles; the table keeps level and goes straight up and down."""


def bricard(twist: str = "90 deg") -> str:
    """Six equal links, twists turn and turn about: Bricard's linkage of threefold symmetry."""
    text = _HEAD.format(name="bricard") + link("k1", "base", "t1")
    for k in range(2, 6):
        text += link(f"k{k}", f"k{k - 1}", f"t{k}", f', a = 0.3, alpha = "{twist if k % 2 else "-" + twist}"')
    return (
        text
        + hinge(
            "last",
            "k5",
            f', xyz = [0.3, 0, 0], rpy = ["-{twist}", 0, 0]',
            "base",
            f', xyz = [-0.3, 0, 0], rpy = ["-{twist}", 0, 0]',
        )
        + ending('["t1"]', '["t1"]', "t1 = 2, t2 = 0.7752, t3 = 2, t4 = 0.7752, t5 = 2", "k3")
    )


def ring(name: str, lengths: Sequence[float], twists: Sequence[float], start: Sequence[float]) -> str:
    """One loop of hinges without offsets: link k has a length [m] and a twist [degrees] from its axis to the next."""
    text, n = _HEAD.format(name=name) + link("k1", "base", "t1"), len(lengths)
    for k in range(2, n):
        text += link(f"k{k}", f"k{k - 1}", f"t{k}", f', a = {lengths[k - 2]!r}, alpha = "{twists[k - 2]} deg"')
    text += hinge(
        "last",
        f"k{n - 1}",
        f', xyz = [{lengths[n - 2]!r}, 0, 0], rpy = ["{twists[n - 2]} deg", 0, 0]',
        "base",
        f', xyz = [{-lengths[n - 1]!r}, 0, 0], rpy = ["{-twists[n - 1]} deg", 0, 0]',
    )
    angles = ", ".join(f"t{k} = {angle}" for k, angle in enumerate(start, start=1))
    return text + ending('["t1"]', '["t1"]', angles, "k3")


SPHERICAL = (
    _HEAD.format(name="spherical")
    + link("crank", "base", "t1")
    + link("coupler", "crank", "t2", ', alpha = "30 deg"')
    + link("rocker", "base", "t4", ', gamma = "20 deg", alpha = "80 deg"')
    + hinge("pole", "coupler", ', rpy = ["75 deg", 0, 0]', "rocker", ', rpy = ["60 deg", 0, 0]')
    + ending('["t1"]', '["t1"]', "t1 = 1, t2 = 1, t4 = 1", "coupler")
)
"""Four axes through one point: crank 30, coupler 75, rocker 60, ground 80 degrees. The crank turns round."""
