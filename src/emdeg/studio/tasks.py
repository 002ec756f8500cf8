"""What the studio works out of a robot: each task takes and yields plain data, a robot being its file's text.

A task runs in a process of its own (`work`), so it may take its time; `tell` says how far it is.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from emdeg.codegen import TARGETS, Artefact, Request, generate, make_artefact
from emdeg.codegen.js import emit_js
from emdeg.errors import BadRequest, EmdegError, RobotError
from emdeg.mechanics.functions import RUBBING, WITH_FRICTION, functions_of
from emdeg.programs import Program, count, optimise, program
from emdeg.reduce import term_program
from emdeg.reports import (
    HtmlReportWriter,
    ShadedEntries,
    ShadedEntry,
    ShadedTerm,
    Subject,
    equations,
    report,
    robot_scene,
    robot_tables,
    slider_levels,
    thresholds,
)
from emdeg.robot import Robot, letter_paths, load, load_text, to_toml
from emdeg.studio.motions import moved
from emdeg.studio.parameters import tables
from emdeg.writing import Section

Data = dict[str, Any]
Tell = Callable[[Any], None]

LIVE = ("mass_matrix", "gravity", "inverse_dynamics", "jacobian")
"""What the page computes itself at every state."""
MOST_LIVE_TERMS = 8_000
"""Terms whose values the page follows."""
MOST_LEVELS = 700
"""Terms of a model up to which its short models are worked out."""
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
    }


def _live(robot: Robot) -> dict[str, Program]:
    found = {}
    for name in LIVE:
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
    html = HtmlReportWriter().section(found.section)
    answer: Data = {"html": html, "terms": 0, "module": "", "constants": {}}
    if found.full is None:
        return answer
    terms = list(_terms(found.section))
    answer["terms"] = len(terms)
    if len(terms) <= MOST_LIVE_TERMS:
        values = term_program(robot, [term.product for _, term in terms], found.full.values)
        answer["module"] = emit_js(values, name="terms")
    paths = letter_paths(robot)
    for c in found.full.lumped.constants:
        letters = sorted({str(g) for _, monomial in c.formula.terms() for g in monomial})
        answer["constants"][c.name] = {
            "value": c.value,
            "unit": c.unit,
            "tolerance": c.tolerance,
            "uses": list(c.uses),
            "made_of": [
                {"letter": one, "path": paths.get(one, ""), "source": robot.sources.get(paths.get(one, ""), "")}
                for one in letters
            ],
        }
    return answer


def _terms(section: Section) -> Iterator[tuple[ShadedEntry, ShadedTerm]]:
    """Every term in the order in which the page shows them."""
    for item in section.items:
        if isinstance(item, ShadedEntries):
            for entry in item.entries:
                for term in entry.terms:
                    yield entry, term


def significance(data: Data, tell: Tell) -> Data:
    """The positions of the threshold slider, and at which each term goes; none where the model is too long."""
    subject = Subject(robot_of(data), progress=lambda text: tell({"doing": text}))
    if subject.symbolic or subject.closed:
        raise BadRequest("terms have sizes in chains and trees of numbers only")
    first = equations(subject, subject.robot.name, levels=False)
    if first.full is None or len(first.full.functions) > MOST_LEVELS:
        raise BadRequest(f"its equations have more than {MOST_LEVELS} terms: emdeg abbreviate shortens them")
    found = thresholds(subject, first.full)
    goes = [found.goes.get((entry.name, term.constant)) for entry, term in _terms(first.section)]
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


def graph(data: Data, tell: Tell) -> Data:
    """A function's entries over one joint, the others where they are: M_ii, g or the efforts."""
    robot = robot_of(data)
    if robot.symbols:
        raise RobotError("its parameters are symbols: a curve needs numbers", body=robot.name)
    k, what = int(data["joint"]), str(data["what"])
    q = np.array(data["q"], dtype=float)
    if q.shape != (robot.freedoms,) or not 0 <= k < robot.freedoms or not np.isfinite(q).all():
        raise BadRequest("the state does not fit the robot")
    low, high = (float(v) for v in data["range"])
    grid = np.linspace(low, high, 121)
    states = np.repeat(q[None], len(grid), axis=0)
    states[:, k] = grid
    from emdeg.mechanics.functions import numeric

    if what == "mass_matrix":
        values = np.einsum("kii->ki", numeric.mass_matrix(robot, states))
    elif what == "gravity":
        values = numeric.gravity(robot, states)
    else:
        raise BadRequest(f"there is no curve of {what}")
    return {"x": grid.tolist(), "y": values.T.tolist()}


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
    "graph": graph,
    "nothing": nothing,
}
