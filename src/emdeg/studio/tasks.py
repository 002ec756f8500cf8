"""What the studio works out of a robot: each task takes and yields plain data, a robot being its file's text.

A task runs in a process of its own (`work`), so it may take its time; `tell` says how far it is.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from emdeg.codegen import TARGETS, Artefact, Request, generate, make_artefact
from emdeg.codegen.js import emit_js
from emdeg.documents import label
from emdeg.dynamics.functions import RUBBING, WITH_FRICTION, functions_of
from emdeg.errors import BadRequest, EmdegError, RobotError
from emdeg.programs import Program, count, optimise, program, term_program
from emdeg.reports import (
    MOST_TERMS,
    HtmlReportWriter,
    Subject,
    equations,
    report,
    robot_scene,
    robot_tables,
    slider_levels,
    threshold_levels,
)
from emdeg.robot import Robot, by_kind, letter_paths, load, load_text, to_toml
from emdeg.studio import units
from emdeg.studio.dead_points import WORDS, DeadPoint
from emdeg.studio.meshes import link_meshes
from emdeg.studio.motions import moved
from emdeg.studio.parameters import tables
from emdeg.studio.parts import ShownPart, offered, shown_equations, shown_part
from emdeg.studio.shading import products, sized, terms_of

Data = dict[str, Any]
Tell = Callable[[Any], None]

LIVE = ("mass_matrix", "gravity", "inverse_dynamics", "jacobian")
"""What the page computes itself at every state."""
MOST_LIVE_TERMS = 8_000
"""Terms whose values the page follows."""
NO_SIZES = "terms have sizes in chains and trees of numbers only"
NO_DEAD_POINTS = "dead points are of mechanisms with closed loops, in numbers"
LONGEST_PART = 4_000_000
"""Characters of a part that a page shows."""
FILE = "robot.toml"
_SHOWN = frozenset(name for name, printing in TARGETS.items() if printing.is_text)
"""Targets whose files a page can show."""
BROKEN = "nonphysical: "
"""How a note begins that says which rule of physics a body breaks."""


def robot_of(data: Mapping[str, Any]) -> Robot:
    """The robot of the page: what it breaks of physics is told on the page and hinders nothing."""
    return load_text(str(data["text"]), FILE, snap=0.0, allow_nonphysical=True)


def opened(data: Data, tell: Tell) -> Data:
    """A library robot by `name`, or the file `file` with its `content`, as the text of a file in normal form."""
    if "content" in data:
        robot = load_text(str(data["content"]), str(data["file"]), allow_nonphysical=True)
    else:
        robot = load(str(data["name"]), allow_nonphysical=True)
    return {"text": to_toml(robot), "name": robot.name}


def checked(data: Data, tell: Tell) -> Data:
    """The file's text in normal form; what is wrong with it is the reader's error.

    With what it was `before`: a rule of physics that it did not break then is an error, too.
    """
    robot = robot_of(data)
    if "before" in data:
        had = {note for note in robot_of({"text": data["before"]}).notes if note.startswith(BROKEN)}
        new = [note for note in robot.notes if note.startswith(BROKEN) and note not in had]
        if new:
            raise RobotError(new[0].removeprefix(BROKEN))
    return {"text": to_toml(robot)}


def model(data: Data, tell: Tell) -> Data:
    """What the page needs at once: the scene, the programs of its numbers, the table."""
    robot = robot_of(data)
    subject = Subject(robot)
    item = robot_scene(subject)
    programs = {} if subject.symbolic else _live(robot)
    limits = [joint.drive.max_torque or joint.limits.effort for joint in robot.driven]
    return {
        "name": robot.name,
        "title": robot.title or robot.name,
        "kind": f"{robot_tables.kind(robot)} of {robot.n} joints",
        "notes": list(robot.notes[:200]),
        "scene": dict(item.data),
        "limits": [None if limit is None or subject.symbolic else float(limit) for limit in limits],
        "symbols": sorted(robot.symbols),
        "modules": "\n".join(emit_js(one, name=name) for name, one in programs.items()),
        "functions": sorted(programs),
        "operations": {name: str(count(one)) for name, one in programs.items()},
        "tables": tables(str(data["text"])),
        "emitted": sorted(name for name in functions_of(robot) if not name.endswith(WITH_FRICTION)),
        "rubbing": [name for name in RUBBING if name + WITH_FRICTION in functions_of(robot)],
        "targets": sorted(_SHOWN),
        "parts": offered(robot),
    }


@by_kind
def live_functions(robot: Robot) -> tuple[str, ...]:
    """What the page computes itself at every state."""
    return LIVE


@by_kind
def dead_points_of(robot: Robot, q: list[float], ranges: list[list[float]]) -> list[DeadPoint]:
    """Dead points along the coordinates, from a state; BadRequest of robots that have none."""
    raise BadRequest(NO_DEAD_POINTS)


def _live(robot: Robot) -> dict[str, Program]:
    found = {}
    for name in live_functions(robot):
        try:
            found[name] = program(robot, name)
        except EmdegError:
            continue  # a mechanism without this function
    return found


def formulas(data: Data, tell: Tell) -> Data:
    """The explicit equations as a page's part, and a program of the value of every term."""
    robot = robot_of(data)
    subject = Subject(robot, progress=lambda text: tell({"doing": text}))
    found = equations(subject, robot.name, levels=False)
    shown = shown_equations(robot, found)
    if shown is not None:
        return _shaded(subject, shown) | {"shortened": None}
    if found.full is None:
        return _shaded(subject, ShownPart((found.section,))) | {"shortened": None}
    terms = terms_of([found.section])
    few = len(terms) <= MOST_LIVE_TERMS
    values = term_program(robot, products(terms), found.full.values) if few else None
    own = tuple(units.of_entry(label(one.entry.name), robot) for one in terms)
    numbers = {name: known.value for name, known in found.full.source.known.items()}
    answer = _shaded(subject, ShownPart((found.section,), values, own, numbers=numbers), sizes=False)
    answer["shortened"] = len(found.full.functions) <= MOST_TERMS
    for c in found.full.lumped.constants:
        answer["constants"][c.name] = {
            "value": c.value,
            "unit": c.unit.replace("^2", "²"),
            "tolerance": c.tolerance,
            "uses": list(c.uses),
            "made_of": sorted({str(g) for _, monomial in c.formula.terms() for g in monomial}),
        }
    return answer


def _shaded(subject: Subject, found: ShownPart, sizes: bool = True) -> Data:
    """A part as HTML, the program of its terms' values, and what the names in them stand for."""
    terms, sections = terms_of(found.sections), found.sections
    module, inputs = "", []
    if found.values is not None and terms and len(terms) <= MOST_LIVE_TERMS:
        module, inputs = emit_js(found.values, name="terms"), [group.name for group in found.values.inputs]
        sections = sized(sections, found.values, subject) if sizes else sections
    uses: dict[str, dict[str, None]] = {name: {} for name in found.words}
    for one in terms:
        for name in one.term.constant.split() if uses else ():
            uses[name][one.entry.name] = None
    constants = {
        name: {
            "value": word.value,
            "unit": word.unit,
            "tolerance": None,
            "uses": list(uses[name]),
            "made_of": list(word.letters),
        }
        for name, word in found.words.items()
        if uses[name]
    }
    return {
        "html": HtmlReportWriter().sections(sections),
        "terms": len(terms),
        "module": module,
        "inputs": inputs,
        "units": list(found.units),
        "constants": constants,
        "letters": _letters(subject.robot, found.numbers),
    }


def _letters(robot: Robot, numbers: Mapping[str, Fraction]) -> Data:
    """What letters stand for: the path by which the table knows the number, the number, its source."""
    axes, paths = [axis for axis, g in zip("xyz", robot.gravity) if g], letter_paths(robot)
    found = {}
    for one, value in numbers.items():
        path = paths.get(one, "")
        if path == "gravity" and len(axes) == 1:
            path = f"gravity.{axes[0]}"
        found[one] = {"path": path, "value": float(value), "source": robot.sources.get(path, "")}
    return found


def part(data: Data, tell: Tell) -> Data:
    """Another part of the equations as HTML, with the values of its terms where these are to be shaded."""
    robot, which = robot_of(data), str(data["part"])
    found = shown_part(robot, which, lambda text: tell({"doing": text}))
    answer = _shaded(Subject(robot), found)
    length = len(answer["html"])
    if length > LONGEST_PART:
        raise BadRequest(f"it has {length} characters, more than a page shows: emdeg derive or emdeg kane print it")
    return answer


def stuck(data: Data, tell: Tell) -> Data:
    """Dead points of a mechanism along its coordinates, from where it stands."""
    robot = robot_of(data)
    q, ranges = [float(v) for v in data["q"]], [[float(v) for v in ends] for ends in data["ranges"]]
    if robot.symbols:
        raise BadRequest(NO_DEAD_POINTS)
    if len(q) != robot.freedoms or len(ranges) != robot.freedoms or not np.isfinite([q, *zip(*ranges)]).all():
        raise BadRequest("the state does not fit the robot")
    return {"points": [asdict(one) | {"words": WORDS[one.kind]} for one in dead_points_of(robot, q, ranges)]}


def shapes(data: Data, tell: Tell) -> Data:
    """Meshes of a URDF's links that are at hand below the studio's folder."""
    if not str(data["file"]).lower().endswith(".urdf"):
        return {"meshes": [], "missing": []}
    robot = load_text(str(data["content"]), str(data["file"]), allow_nonphysical=True)
    found, missing = link_meshes(robot, str(data["content"]), Path(data["folder"]))
    return {"meshes": [one.as_data() for one in found], "missing": missing}


def significance(data: Data, tell: Tell) -> Data:
    """The positions of the threshold slider, and at which each term goes."""
    subject = Subject(robot_of(data), progress=lambda text: tell({"doing": text}))
    if subject.symbolic:
        raise BadRequest(NO_SIZES)
    return slider_positions(subject)


@by_kind
def slider_positions(subject: Subject) -> Data:
    """The slider's levels, and the level at which each term goes."""
    first = equations(subject, subject.robot.name, levels=False)
    if first.full is None or len(first.full.functions) > MOST_TERMS:
        raise BadRequest(f"its equations have more than {MOST_TERMS} terms: emdeg abbreviate shortens them")
    found = threshold_levels(subject, first.full)
    goes = [found.goes.get((one.entry.name, one.term.constant)) for one in terms_of([first.section])]
    return {"levels": slider_levels(subject, found), "goes": goes}


def code(data: Data, tell: Tell) -> Data:
    """A function's code in a target language with its certificate."""
    robot = robot_of(data)
    target = str(data["target"])
    if target not in _SHOWN:
        raise BadRequest(f"there is no target {target!r}")
    (made,) = generate(
        robot,
        str(data["function"]),
        target,  # type: ignore[arg-type]
        name=str(data.get("stem") or robot.name),
        friction=bool(data.get("friction")),
    )
    return _shown(made)


def search(data: Data, tell: Tell) -> Data:
    """The smallest program found in `seconds`, or on file; its code and certificate. `tell` hears the count falling."""
    robot, name, target = robot_of(data), str(data["function"]), str(data["target"])
    if target not in _SHOWN:
        raise BadRequest(f"there is no target {target!r}")
    seconds = min(max(float(data.get("seconds", 20.0)), 0.0), 600.0)
    before = program(robot, name)
    on_file = count(before).total
    found = optimise(robot, name, seconds, progress=lambda phase, best: tell({"doing": phase, "best": best}))
    smallest = found.program if found.count.total < on_file else before
    request = Request((name,), target=target, robot_name=str(data.get("stem") or robot.name))  # type: ignore[arg-type]
    return {
        **_shown(make_artefact(robot, request, program=smallest)),
        "interrupted": found.interrupted,
        "found": found.count.total,
        "on_file": on_file,
    }


def _shown(made: Artefact) -> Data:
    data = made.certificate
    return {
        "file": made.file,
        "code": made.text,
        "certificate": json.dumps(data, indent=1) + "\n",
        "operations": data["operations"],
        "false_pass": data["false_pass_probability"],
        "formulations": data["formulations"],
    }


def motion(data: Data, tell: Tell) -> Data:
    """A simulated motion with its curves; see `motions.moved`."""
    return moved(robot_of(data), data, tell)


def page(data: Data, tell: Tell) -> Data:
    """The robot's report as HTML and LaTeX."""
    made = report(robot_of(data), words=[FILE], stem="robot", progress=lambda text: tell({"doing": text}))
    return {"html": made.html, "latex": made.latex}


def nothing(data: Data, tell: Tell) -> Data:
    """Nothing: to have a process started."""
    return {}


TASKS: Mapping[str, Callable[[Data, Tell], Data]] = {
    "open": opened,
    "check": checked,
    "model": model,
    "equations": formulas,
    "significance": significance,
    "code": code,
    "search": search,
    "motion": motion,
    "report": page,
    "part": part,
    "dead_points": stuck,
    "meshes": shapes,
    "nothing": nothing,
}
