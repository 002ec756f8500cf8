"""`emdeg eval`: numbers from a robot at a state, or at every state of a CSV file."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.table import Table

from emdeg.algebra import Array
from emdeg.cli.common import Json, UsageError, out, print_json, refuse, say
from emdeg.dynamics.formulations import need_friction
from emdeg.dynamics.functions import (
    CATALOGUE,
    FUNCTIONS,
    INPUTS,
    RUBBING,
    WITH_FRICTION,
    Function,
    axis_names,
    in_radians,
    input_sizes,
    inputs_of,
    known_functions,
    measures_of,
    with_friction_in,
)
from emdeg.dynamics.functions import evaluate as evaluate_function
from emdeg.dynamics.parameters import base_parameters
from emdeg.errors import RobotError, StateError, TooLarge, UnknownFunction
from emdeg.loops import mode
from emdeg.robot import BUDGET, Joint, Robot

ROTOR_FUNCTIONS = tuple(name for name, entry in FUNCTIONS.items() if any(w.rotors for w in entry.ways.values()))
FRICTION_FUNCTIONS = (*RUBBING, "state_rate")
WRENCH_FUNCTIONS = ("inverse_dynamics", "forward_dynamics", "state_rate")
OPTIONS = ("q", "qd", "qdd", "tau")
"""The arrays that have an option of their own."""
TURNED = tuple(INPUTS[name].unit for name in ("q", "qd", "qdd"))
"""The units of the arrays that --deg changes."""


def _state(what: str) -> Any:
    """The option of one of a state's arrays."""
    words = f"{what}, separated by commas; or a CSV file with one state a row."
    return typer.Option(metavar="NUMBERS|CSV", help=words)


def evaluate(
    robot: Robot,
    function: Annotated[str, typer.Argument(metavar="FUNCTION", help="What to compute: " + ", ".join(FUNCTIONS))],
    q: Annotated[str | None, _state("Positions [rad, m]")] = None,
    qd: Annotated[str | None, _state("Speeds [rad/s, m/s]")] = None,
    qdd: Annotated[str | None, _state("Accelerations [rad/s^2, m/s^2]")] = None,
    tau: Annotated[str | None, _state("Efforts [N m, N]")] = None,
    along: Annotated[
        list[str] | None,
        typer.Option(
            "--along",
            metavar="ARRAY=NUMBERS",
            help="An array that has no option of its own: a tangent q_t=..., a cotangent tau_c=... Repeatable.",
        ),
    ] = None,
    deg: Annotated[
        bool,
        typer.Option(
            "--deg",
            help="Positions, speeds, accelerations of revolute joints in degrees, in and out; per radian stays.",
        ),
    ] = False,
    friction: Annotated[bool, typer.Option("--friction", help="Include the joints' friction.")] = False,
    gyroscopic: Annotated[bool, typer.Option("--gyroscopic", help="Include the rotors' gyroscopic terms.")] = False,
    wrench: Annotated[
        str | None,
        typer.Option(metavar="NUMBERS", help="Force [N] and moment [N m] on the tool, base axes: fx,fy,fz,mx,my,mz."),
    ] = None,
    base: Annotated[bool, typer.Option("--base", help="The regressor's columns of the base parameters only.")] = False,
    names: Annotated[
        bool,
        typer.Option("--names", help="With --json: what the entries along each axis are called, beside the numbers."),
    ] = False,
    json: Json = False,
) -> None:
    """Evaluate a function of the model at a state.

    Examples:

      emdeg eval puma560 gravity --q=0,0,0,0,0,0

      emdeg eval puma560 inverse_dynamics --q=0.1,-0.7,0.4,1.2,-0.3,0.8 --qd=0.5,-0.3,0.9,-1.1,0.7,0.2 \
--qdd=1,-2,0.5,3,-1,2 --json

      emdeg eval my_arm.urdf mass_matrix --q=states.csv --lock "gripper=0" --json

      emdeg eval delta joint_positions --q=0,0,-0.45 --json --names

      emdeg eval planar2r gravity_vjp --q=0.1,0.4 --along g_c=1,0
    """
    refuse({"--names": names and not json}, "goes with --json; without it the names stand in the table")
    given = {"q": q, "qd": qd, "qdd": qdd, "tau": tau}
    for text in along or ():
        name, mark, values = text.partition("=")
        if not mark or name in given:
            raise UsageError(
                f"--along takes ARRAY=NUMBERS, each array once and none of {', '.join(given)}; got {text!r}"
            )
        given[name] = values
    result = compute(robot, function, given, deg, friction, gyroscopic, wrench)
    called = _called(robot, function)
    if base:
        if function != "regressor":
            raise UsageError(f"--base applies to regressor, not to {function}")
        kept = base_parameters(robot).kept
        say(f"columns: {' '.join(map(str, kept))}")
        result = result[..., [column.place for column in kept]]
        called = {name: (rows, list(map(str, kept))) for name, (rows, _) in called.items()}
    if not robot.is_tree:
        _say_how_it_closes(robot, function, q)
    if json:
        print_json(_with_names(result, called) if names else result)
    else:
        _print(robot, function, result, called)


def compute(
    robot: Robot,
    function: str,
    given: dict[str, str | None],
    deg: bool = False,
    friction: bool = False,
    gyroscopic: bool = False,
    wrench: str | None = None,
) -> Any:
    """The function's value: an array, or a mapping of named arrays."""
    rubbed = with_friction_in(function) if friction and function not in FRICTION_FUNCTIONS else None
    if rubbed is not None:  # a derivative: friction is in what is differentiated
        need_friction(robot)
        return compute(robot, rubbed, given, deg, gyroscopic=gyroscopic, wrench=wrench)
    measures = measures_of(robot)
    if function not in measures:
        try:
            known_functions(function, robot, besides=measures)
        except UnknownFunction as problem:
            raise UsageError(str(problem)) from None
    names = measures[function].inputs if function in measures else inputs_of([function], robot)
    sizes = {} if function in measures else input_sizes([function], robot)
    for name in dict.fromkeys((*given, *names)):
        if name in given and given[name] is not None and name not in names:
            raise UsageError(f"{function} takes no {_option(name)}; it takes {', '.join(map(_option, names))}")
        if given.get(name) is None and name in names:
            needed = _places(robot, name, sizes)
            raise UsageError(f"{function} needs {_option(name)} ({len(needed)} numbers: {', '.join(needed)})")
    about = INPUTS if function in measures else CATALOGUE[function].arrays
    if deg and function not in measures:
        _need_degrees(CATALOGUE[function])
    states = {}
    for name in names:
        text = given[name] or ""
        if name in OPTIONS:
            values = read_state(text, name, robot)
        else:
            places = _places(robot, name, sizes)
            values = np.array(_numbers(text.split(","), _option(name), robot, places))
        turns = deg and about[name].unit in TURNED
        states[name] = values * _degrees(robot.coordinates) if turns else values
    options: dict[str, Any] = {}
    if gyroscopic:
        if function not in ROTOR_FUNCTIONS:
            raise UsageError(f"--gyroscopic applies to {', '.join(ROTOR_FUNCTIONS)}, not to {function}")
        options["gyroscopic"] = True
    if friction and function not in FRICTION_FUNCTIONS:
        raise UsageError(
            f"--friction applies to {', '.join(FRICTION_FUNCTIONS)} and derivatives of these, not to {function}"
        )
    push = None if wrench is None else _wrench(wrench, function)
    if push is not None:
        options["wrench"] = push
    if friction:
        need_friction(robot)
    if function in measures:
        if friction:
            options["friction"] = True
        value = measures[function].run(robot, *states.values(), **options)
        return value / _radians(robot, function) if deg else value
    value = evaluate_function(function + WITH_FRICTION * friction, robot, states, **options)
    outputs = CATALOGUE[function].outputs
    values = value if isinstance(value, tuple) else (value,)
    if deg:
        owners = [robot.driven if output.efforts else robot.coordinates for output in outputs]
        values = [v / _degrees(own) if o.unit in TURNED else v for v, o, own in zip(values, outputs, owners)]
    return values[0] if len(values) == 1 else dict(zip((output.name for output in outputs), values))


def _need_degrees(entry: Function) -> None:
    """UsageError where some of a function's arrays would stay in radians while others are in degrees."""
    units = [*((name, array.unit) for name, array in entry.arrays.items()), *((o.name, o.unit) for o in entry.outputs)]
    stay = [f"{name} [{unit}]" for name, unit in units if in_radians(unit) and unit not in TURNED]
    if stay:
        raise UsageError(f"--deg does not apply to {entry.name}: {', '.join(stay)} would stay in radians")


def _degrees(joints: Sequence[Joint]) -> Array:
    """(n,) [rad, 1]: what a degree of each turning joint is, a metre of a sliding one staying one."""
    return np.array([math.pi / 180 if joint.kind == "revolute" else 1.0 for joint in joints])


def _radians(robot: Robot, measure: str) -> Array | float:
    """By what positions, speeds and accelerations that a measure yields are divided under --deg; all else stays."""
    if measure == "joint_positions":
        return _degrees(robot.joints)
    if measure == "state_rate":
        return np.tile(_degrees(robot.coordinates), 2)
    return 1.0


def _say_how_it_closes(robot: Robot, function: str, q: str | None) -> None:
    """The mode that a mechanism's answer is for, and whose positions come out: on stderr."""
    if function == "joint_positions":
        say(f"joints: {', '.join(joint.name for joint in robot.joints)}")
    if q is None or q.lower().endswith(".csv"):
        return
    here = mode(robot, read_state(q, "q", robot))
    if here.sides:
        say(f"mode {here.said}")


def _wrench(text: str, function: str) -> Array:
    if function not in WRENCH_FUNCTIONS:
        raise UsageError(f"--wrench applies to {', '.join(WRENCH_FUNCTIONS)}, not to {function}")
    try:
        values = np.array([float(part) for part in text.split(",")])
    except ValueError:
        values = np.zeros(0)
    if values.shape != (6,) or not np.isfinite(values).all():
        raise UsageError(f"--wrench needs six finite numbers, force [N] and moment [N m]; got {text!r}")
    return values


def read_state(text: str, name: str, robot: Robot) -> Array:
    """(n,) from numbers with commas, or (states, n) from a CSV file."""
    if text.lower().endswith(".csv"):
        return _read_csv(Path(text), name, robot)
    return np.array(_numbers(text.split(","), f"--{name}", robot, _joints(robot, name)))


def _option(name: str) -> str:
    """What an array is given by."""
    return f"--{name}" if name in OPTIONS else f"--along {name}=..."


def _places(robot: Robot, name: str, sizes: Mapping[str, int]) -> list[str]:
    """What the numbers of an array are called."""
    return _joints(robot, name) if name in OPTIONS else [f"{name}[{k}]" for k in range(sizes[name])]


def _joints(robot: Robot, name: str) -> list[str]:
    """Whose entries an array has: the driven joints' efforts, the coordinates' everything else."""
    return [joint.name for joint in (robot.driven if name == "tau" else robot.coordinates)]


def _numbers(cells: list[str], place: str, robot: Robot, joints: list[str]) -> list[float]:
    try:
        values = [float(cell) for cell in cells]
    except ValueError:
        bad = next(cell for cell in cells if not _is_float(cell))
        raise StateError(f"{place}: {bad.strip()!r} is not a number (write 0.5, with a point)") from None
    if not all(math.isfinite(value) for value in values):
        raise StateError(f"{place}: every number must be finite")
    if len(values) != len(joints):
        raise StateError(
            f"{place}: {len(values)} numbers given, {len(joints)} needed, one a joint of {robot.name} "
            f"({', '.join(joints)})"
        )
    return values


def _is_float(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _read_csv(path: Path, name: str, robot: Robot) -> Array:
    """The states of a CSV file; a first row of words names the columns, which may be any that include ours."""
    try:
        if not path.is_file() and path.exists():
            raise RobotError("it is not a regular file", file=str(path))
        if path.stat().st_size > 16 * BUDGET.bytes:
            raise TooLarge(f"it is larger than {16 * BUDGET.bytes // 2**20} MiB", file=str(path))
        with path.open(newline="", encoding="utf-8") as handle:
            rows = [(number, row) for number, row in enumerate(csv.reader(handle), 1) if any(c.strip() for c in row)]
    except OSError as problem:
        raise RobotError(f"cannot be read: {problem.strerror or problem}", file=str(path)) from None
    except (UnicodeDecodeError, csv.Error) as problem:
        raise RobotError(f"is not a CSV file: {problem}", file=str(path)) from None
    if not rows:
        raise RobotError("holds no state", file=str(path))
    joints = _joints(robot, name)
    columns = list(range(len(joints)))
    header = [cell.strip() for cell in rows[0][1]]
    if not all(_is_float(cell) for cell in header):
        columns = _columns(header, name, robot, path)
        rows = rows[1:]
        if not rows:
            raise RobotError("has a header but no state", file=str(path))
    elif len(header) != len(joints):
        raise RobotError(
            f"has {len(header)} columns and no header; {len(joints)} are needed, one a joint", file=str(path), line=1
        )
    states = []
    for number, row in rows:
        if len(row) <= max(columns):
            needed = f"has {len(row)} columns; column {max(columns) + 1} is needed"
            raise RobotError(needed, file=str(path), line=number)
        try:
            states.append(_numbers([row[c] for c in columns], f"line {number}", robot, joints))
        except StateError as problem:
            raise StateError(f"{path}: {problem}") from None
    return np.array(states)


def _columns(header: list[str], name: str, robot: Robot, path: Path) -> list[int]:
    """The columns called q1..qn (qd1.., qdd1.., tau1..), or by the joints' names."""
    joints = _joints(robot, name)
    numbered = [f"{name}{k + 1}" for k in range(len(joints))]
    for wanted in (numbered, [f"{name}_{joint}" for joint in joints], joints):
        if all(column in header for column in wanted):
            if doubled := [column for column in wanted if header.count(column) > 1]:
                raise RobotError(f"has two columns {doubled[0]}", file=str(path), line=1)
            return [header.index(column) for column in wanted]
    raise RobotError(f"lacks the columns {', '.join(numbered)}; it has {', '.join(header)}", file=str(path), line=1)


def _called(robot: Robot, function: str) -> dict[str, tuple[list[str] | None, ...]]:
    """What the entries along each axis of every output are called."""
    measures = measures_of(robot)
    if function in measures:
        return {function: (measures[function].named(robot),)}
    return {output.name: axis_names(output, robot) for output in CATALOGUE[function].outputs}


def _with_names(result: Any, called: Mapping[str, tuple[list[str] | None, ...]]) -> dict[str, Any]:
    """{"value": numbers, "names": a list an axis, null for one without}, of each output where there are several."""
    if isinstance(result, dict):
        return {name: _with_names(value, {name: called[name]}) for name, value in result.items()}
    (names,) = called.values()
    states = np.ndim(result) - len(names)
    return {"value": result, "names": [*[None] * states, *names]}


def _print(robot: Robot, function: str, result: Any, called: Mapping[str, tuple[list[str] | None, ...]]) -> None:
    if isinstance(result, dict):
        for part, value in result.items():
            _print_array(f"{robot.name} {function}: {part}", np.asarray(value), called[part])
    else:
        (names,) = called.values()
        _print_array(f"{robot.name} {function}", np.asarray(result), names)


def _print_array(title: str, value: Array, names: tuple[list[str] | None, ...]) -> None:
    if value.ndim == 1 and len(names) == 1 and names[0] is not None:
        table = Table("joint", "value", title=title)
        for name, entry in zip(names[0], value):
            table.add_row(name, f"{entry:.10g}")
        out.print(table)
        return
    out.print(title)
    for words in _axes(names):
        out.print(words)
    with np.printoptions(precision=8, suppress=False, linewidth=max(out.width, 60), threshold=10_000):
        out.print(str(value))


def _axes(names: tuple[list[str] | None, ...]) -> list[str]:
    """What the entries along the last axes of an array are called, in words."""
    if len(names) == 2 and names[0] is not None and names[0] == names[1]:
        return [f"rows and columns: {', '.join(names[0])}"]
    words = ("rows", "columns") if len(names) == 2 else ("columns",) if len(names) == 1 else ()
    return [f"{word}: {', '.join(one)}" for word, one in zip(words, names) if one is not None]
