"""Mechanisms that nobody built, with sizes drawn at random: what an oracle of free bodies is asked about."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Draw = Callable[[float, float], str]


def _draw(seed: int) -> Draw:
    rng = np.random.default_rng(seed)
    return lambda low, high: f"{rng.uniform(low, high):.4f}"


def _head(name: str, draw: Draw) -> str:
    """A base that is tilted any way, under a gravity that pulls any way."""
    return (
        f'schema = 1\nname = "{name}"\nconvention = "modified"\n'
        f"gravity = [{draw(-9, 9)}, {draw(-9, 9)}, {draw(-9, 9)}]\n"
        f'[base]\nxyz = [{draw(-1, 1)}, 0, 0]\nrpy = ["{draw(-90, 90)} deg", "{draw(-90, 90)} deg", 0]\n'
    )


def _link(draw: Draw, name: str, parent: str, joint: str, place: str = "", kind: str = "revolute") -> str:
    mass = [draw(0.5, 2), *(draw(-0.1, 0.2) for _ in range(3))]
    tensor = [draw(0.02, 0.03) for _ in range(3)]
    return (
        f'[[link]]\nname = "{name}"\nparent = "{parent}"\n'
        f'joint = {{ name = "{joint}", type = "{kind}"{place} }}\n'
        f'inertia = {{ about = "com", mass = {mass[0]}, com = [{", ".join(mass[1:])}], '
        f"Ixx = {tensor[0]}, Iyy = {tensor[1]}, Izz = {tensor[2]}, Ixy = {draw(-0.004, 0.004)} }}\n"
        f"drive = {{ inertia = {draw(0.001, 0.02)} }}\n"
    )


def _rod(draw: Draw, name: str, first: str, second: str, length: str) -> str:
    return (
        f'[[rod]]\nname = "{name}"\nlength = {length}\nmass = {draw(0.2, 0.6)}\ninertia = {draw(0.002, 0.004)}\n'
        f"com = {draw(0.3, 0.6)}\nfrom = {{ {first} }}\nto = {{ {second} }}\n"
    )


def _meet(kind: str, name: str, first: str, second: str) -> str:
    return f'[[closure]]\nname = "{name}"\ntype = "{kind}"\nfrom = {{ {first} }}\nto = {{ {second} }}\n'


def _end(coordinates: str, driven: str, start: str, tool: str) -> str:
    return (
        f'[tool]\nlink = "{tool}"\nxyz = [0.1, 0.05, -0.02]\n'
        f"[loops]\ncoordinates = [{coordinates}]\ndriven = [{driven}]\nstart = {{ {start} }}\n"
    )


def skew_cranks(seed: int) -> str:
    """RSSR: two cranks about axes that neither cross nor are parallel, a rod between their tips."""
    draw = _draw(seed)
    return (
        _head("skew_cranks", draw)
        + _link(draw, "crank", "base", "q")
        + _link(
            draw,
            "rocker",
            "base",
            "p",
            f', gamma = "{draw(10, 40)} deg", alpha = "{draw(50, 80)} deg", a = 0.9, b = 0.1',
        )
        + _rod(
            draw,
            "rod",
            f'link = "crank", xyz = [0.25, 0, {draw(-0.1, 0.1)}]',
            f'link = "rocker", xyz = [{draw(0.5, 0.6)}, 0, 0]',
            "0.95",
        )
        + _end('"q"', '"q"', "q = 1, p = 1.5", "rocker")
    )


def inclined_slider(seed: int) -> str:
    """A crank and a rod that push a slide along a skew way; the slide is a joint without a motor."""
    draw = _draw(seed)
    return (
        _head("inclined_slider", draw)
        + _link(draw, "crank", "base", "q")
        + _link(
            draw,
            "slide",
            "base",
            "s",
            f', gamma = "{draw(80, 100)} deg", alpha = "{draw(60, 85)} deg", a = 0.2, b = 0.1',
            "prismatic",
        )
        + _rod(
            draw,
            "rod",
            f'link = "crank", xyz = [0.2, 0, {draw(-0.1, 0.1)}]',
            f'link = "slide", xyz = [0.05, {draw(0, 0.1)}, 0]',
            "0.8",
        )
        + _end('"q"', '"q"', "q = 0.7, s = 0.7", "slide")
    )


def pushed_slide(seed: int) -> str:
    """The same with the motor, and the coordinate, at the slide: the crank follows."""
    return inclined_slider(seed).replace('coordinates = ["q"]\ndriven = ["q"]', 'coordinates = ["s"]\ndriven = ["s"]')


def tilting_table(seed: int) -> str:
    """A table on a gimbal, tilted by two cranks with a rod each, as a swash plate is."""
    draw = _draw(seed)
    return (
        _head("tilting_table", draw)
        + _link(draw, "gimbal", "base", "roll", ', gamma = "90 deg", alpha = "90 deg", b = 0.4')
        + _link(draw, "table", "gimbal", "pitch", ', gamma = "90 deg", alpha = "90 deg"')
        + _link(draw, "crank1", "base", "q1", f', gamma = "{draw(-10, 10)} deg", alpha = "90 deg", a = 0.3')
        + _link(draw, "crank2", "base", "q2", f', gamma = "{draw(80, 100)} deg", alpha = "90 deg", a = 0.3')
        + _rod(
            draw,
            "rod1",
            'link = "crank1", xyz = [0.12, 0, 0]',
            f'link = "table", xyz = [0.1, 0.25, {draw(-0.05, 0.05)}]',
            "0.45",
        )
        + _rod(
            draw,
            "rod2",
            'link = "crank2", xyz = [0.12, 0, 0]',
            f'link = "table", xyz = [0.25, -0.1, {draw(-0.05, 0.05)}]',
            "0.45",
        )
        + _end('"roll", "pitch"', '"q1", "q2"', "roll = 0.1, pitch = 0.1, q1 = 0.3, q2 = 0.3", "table")
    )


def six_bar(seed: int) -> str:
    """A four-bar whose coupler carries a second dyad, all pins (Stephenson's chain), redundant equations left out."""
    draw = _draw(seed)
    return (
        _head("six_bar", draw)
        + _link(draw, "crank", "base", "q")
        + _link(draw, "coupler", "crank", "p1", f", a = {draw(0.18, 0.22)}")
        + _link(draw, "rocker", "base", "p2", ", a = 0.6")
        + _link(draw, "arm", "base", "p3", ", a = 0.2, b = 0")
        + _link(draw, "forearm", "arm", "p4", f", a = {draw(0.5, 0.55)}")
        + _meet(
            "revolute",
            "knee",
            f'link = "coupler", xyz = [{draw(0.55, 0.6)}, 0, 0]',
            'link = "rocker", xyz = [0.4, 0, 0]',
        )
        + _meet(
            "revolute",
            "elbow",
            f'link = "forearm", xyz = [{draw(0.5, 0.55)}, 0, 0]',
            'link = "coupler", xyz = [0.3, 0.25, 0]',
        )
        + _end('"q"', '"q"', "q = 1, p1 = -0.5, p2 = 1.5, p3 = 2.0, p4 = -1.6", "forearm")
    )


def crane(seed: int) -> str:
    """A boom lifted by a cylinder (a slide on a hinge, driven), on a turntable, with an arm of its own at its tip."""
    draw = _draw(seed)
    return (
        _head("crane", draw)
        + _link(draw, "turntable", "base", "turn")
        + _link(draw, "boom", "turntable", "lift", ', alpha = "90 deg", a = 0.1')
        + _link(draw, "hand", "boom", "hand", f', a = 0.8, alpha = "{draw(20, 60)} deg"')
        + _link(draw, "cylinder", "turntable", "lean", f', alpha = "90 deg", a = 0.4, b = {draw(-0.1, 0)}')
        + _link(draw, "piston", "cylinder", "stroke", ', gamma = "90 deg", alpha = "90 deg"', "prismatic")
        + _meet(
            "revolute",
            "eye",
            'link = "piston", rpy = ["90 deg", 0, 0]',
            'link = "boom", xyz = [0.5, 0.02, 0], rpy = ["180 deg", 0, 0]',
        )
        + _end(
            '"turn", "lift", "hand"',
            '"turn", "stroke", "hand"',
            "turn = 0.3, lift = 0.9, hand = 0.4, lean = 0.6, stroke = 0.4",
            "hand",
        )
    )


def quick_return(seed: int) -> str:
    """A crank's pin in the slot of a rocker: a slide that no motor moves, between two that turn."""
    draw = _draw(seed)
    return (
        _head("quick_return", draw)
        + _link(draw, "crank", "base", "q")
        + _link(draw, "rocker", "base", "p", f", a = {draw(0.45, 0.5)}")
        + _link(draw, "block", "rocker", "s", ', gamma = "90 deg", alpha = "90 deg"', "prismatic")
        + _meet(
            "revolute",
            "pin",
            f'link = "crank", xyz = [{draw(0.2, 0.25)}, 0, 0]',
            'link = "block", rpy = ["-90 deg", 0, 0]',
        )
        + _end('"q"', '"q"', "q = 1, p = 1, s = 0.4", "block")
    )


def connecting_rod(seed: int) -> str:
    """A slider-crank all of links, the connecting rod on the piston's pin."""
    draw = _draw(seed)
    return (
        _head("connecting_rod", draw)
        + _link(draw, "crank", "base", "q")
        + _link(draw, "piston", "base", "s", f', gamma = "{draw(70, 110)} deg", alpha = "90 deg", b = 0', "prismatic")
        + _link(draw, "rod", "piston", "p", f', alpha = "-90 deg", a = {draw(0.02, 0.05)}')
        + _meet(
            "revolute",
            "big_end",
            f'link = "rod", xyz = [{draw(0.4, 0.5)}, 0.03, 0]',
            'link = "crank", xyz = [0.12, 0, 0]',
        )
        + _end('"q"', '"q"', "q = 0.5, s = -0.4, p = 0.1", "rod")
    )


def rod_on_the_crank(seed: int) -> str:
    """The same with the rod on the crank's pin and the loop closed at the piston."""
    draw = _draw(seed)
    return (
        _head("rod_on_the_crank", draw)
        + _link(draw, "crank", "base", "q")
        + _link(draw, "rod", "crank", "p", ", a = 0.12")
        + _link(draw, "piston", "base", "s", f', gamma = "{draw(70, 110)} deg", alpha = "90 deg"', "prismatic")
        + _meet(
            "revolute",
            "pin",
            f'link = "rod", xyz = [{draw(0.4, 0.5)}, 0.03, 0]',
            'link = "piston", xyz = [0.02, 0, 0], rpy = ["-90 deg", 0, 0]',
        )
        + _end('"q"', '"q"', "q = 0.5, p = 1, s = 0.4", "piston")
    )


def skew_five_bar(seed: int) -> str:
    """Two cranks about skew axes, forearms that meet in a ball: three freedoms of which a rod takes one."""
    draw = _draw(seed)
    return (
        _head("skew_five_bar", draw)
        + _link(draw, "left", "base", "q1")
        + _link(draw, "left_arm", "left", "p1", f', a = 0.3, alpha = "{draw(-8, 8)} deg"')
        + _link(draw, "right", "base", "q2", f', a = 0.5, alpha = "{draw(-8, 8)} deg"')
        + _rod(
            draw,
            "rod",
            'link = "left_arm", xyz = [0.4, 0, 0]',
            f'link = "right", xyz = [0.3, 0, {draw(-0.05, 0.05)}]',
            "0.35",
        )
        + _end('"q1", "q2"', '"q1", "q2"', "q1 = 2.0, q2 = 1.0, p1 = -1.2", "left_arm")
    )


def two_rods_an_arm(seed: int) -> str:
    """Clavel's Delta with both rods of every forearm: six lengths, and a platform that could turn and does not."""
    draw = _draw(seed)
    text, above = _head("two_rods_an_arm", draw), "base"
    for name in ("x", "y", "z", "roll", "pitch", "yaw"):
        kind = "prismatic" if name in "xyz" else "revolute"
        text += _link(draw, f"c{name}", above, name, ', gamma = "90 deg", alpha = "90 deg"', kind)
        above = f"c{name}"
    for k in range(3):
        angle = f"{120 * k} deg"
        text += _link(draw, f"arm{k}", "base", f"q{k}", f', gamma = "{angle}", alpha = "90 deg", a = 0.2')
        for side in (-0.05, 0.05):
            text += _rod(
                draw,
                f"rod{k}{'l' if side < 0 else 'r'}",
                f'link = "arm{k}", xyz = [0.2, 0, {side}]',
                f'link = "cyaw", turn = "{angle}", xyz = [0.08, {-side}, 0]',
                "0.5",
            )
    start = "z = -0.45, q0 = 0.2, q1 = 0.2, q2 = 0.2"
    return text + _end('"x", "y", "z"', '"q0", "q1", "q2"', start, "cyaw")


def uneven_table(seed: int) -> str:
    """Sarrus' linkage with four different walls: its table goes straight up, and parallel axes alone say so."""
    draw = _draw(seed)
    return (
        _head("uneven_table", draw)
        + _link(draw, "a_low", "base", "a1", ', gamma = "-90 deg", a = 0.3, alpha = "90 deg"')
        + _link(draw, "a_high", "a_low", "a2", ", a = 0.4")
        + _link(draw, "table", "a_high", "a3", ", a = 0.45")
        + _link(draw, "b_low", "base", "b1", ', a = 0.25, alpha = "90 deg"')
        + _link(draw, "b_high", "b_low", "b2", ", a = 0.35")
        + _meet(
            "revolute",
            "top",
            'link = "b_high", xyz = [0.5, 0, 0]',
            'link = "table", xyz = [-0.3, 0, -0.28], rpy = [0, "90 deg", 0]',
        )
        + _end('"a1"', '"a1"', "a1 = 0.9, a2 = 1.3, a3 = -2.2, b1 = 0.9, b2 = 1.5", "table")
    )


def scotch_yoke(seed: int) -> str:
    """A crank's pin whose block slides in a yoke that slides across."""
    draw = _draw(seed)
    return (
        _head("scotch_yoke", draw)
        + _link(draw, "crank", "base", "q")
        + _link(draw, "block", "crank", "p", ", a = 0.2")
        + _link(draw, "yoke", "base", "x", ', gamma = "90 deg", alpha = "90 deg"', "prismatic")
        + _meet("prismatic", "slot", 'link = "yoke", rpy = [0, "90 deg", 0]', 'link = "block", rpy = ["-90 deg", 0, 0]')
        + _end('"q"', '"q"', "q = 0.6, p = -0.6, x = 0.165", "yoke")
    )


def welded_coupler(seed: int) -> str:
    """A spatial four-bar with a ball at one end of its coupler, which is welded together of two halves."""
    draw = _draw(seed)
    text = _head("welded_coupler", draw) + _link(draw, "crank", "base", "q")
    for k, above in enumerate(("crank", "left0", "left1"), start=0):
        text += _link(draw, f"left{k}", above, f"a{k}", f', a = {"0.3" if k == 0 else "0"}, alpha = "{60 * k} deg"')
    return (
        text
        + _link(draw, "rocker", "base", "p", f', a = 0.5, alpha = "{draw(-20, 20)} deg"')
        + _link(draw, "right", "rocker", "b0", ', a = 0.35, alpha = "30 deg"')
        + _link(draw, "right1", "right", "b1", ', alpha = "90 deg"')
        + _meet(
            "fixed",
            "seam",
            'link = "left2", xyz = [0.25, 0, 0]',
            'link = "right1", xyz = [-0.2, 0.05, 0], rpy = [0.1, 0.2, 0.3]',
        )
        + _end('"q"', '"q"', "q = 1, a0 = 1.34, a1 = -1.58, a2 = 1.37, p = 1.31, b0 = -1.18, b1 = 0.42", "left2")
    )


INVENTED: dict[str, tuple[Callable[[int], str], float]] = {
    "skew_cranks": (skew_cranks, 0.6),
    "inclined_slider": (inclined_slider, 3.0),
    "pushed_slide": (pushed_slide, 0.05),
    "tilting_table": (tilting_table, 0.1),
    "six_bar": (six_bar, 0.2),
    "crane": (crane, 0.3),
    "quick_return": (quick_return, 3.0),
    "connecting_rod": (connecting_rod, 3.0),
    "rod_on_the_crank": (rod_on_the_crank, 3.0),
    "skew_five_bar": (skew_five_bar, 0.15),
    "two_rods_an_arm": (two_rods_an_arm, 0.05),
    "uneven_table": (uneven_table, 0.2),
    "scotch_yoke": (scotch_yoke, 3.0),
}
"""Name -> (text of a seed, how far from the start coordinates are drawn [rad, m])."""
