"""What a stranger's bytes are given to, seeds to start from, and a mutator that knows what such files are made of.

`python -m tests.adversary.fuzzing TARGET [libFuzzer's options]` runs atheris, which follows the code's branches.
"""

from __future__ import annotations

import contextlib
import io
import json
import random
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any

import pyarrow.csv
import pyarrow.parquet

import emdeg
from emdeg.approximation import Approximation, make_approximate_artefact
from emdeg.approximation.code import recheck_approximate
from emdeg.bounds import CertifiedExtremum
from emdeg.codegen import Artefact, generate
from emdeg.codegen.rechecking import recheck
from emdeg.equations.json_form import from_json, to_json
from emdeg.errors import EmdegError
from emdeg.identification.recording import read_log
from emdeg.kane.reader import read_setup
from emdeg.papers.bench.campaign import read_campaign
from emdeg.papers.validation.file import read_printed
from emdeg.programs.store import from_data
from emdeg.robot import assemble, read_toml, workspace
from emdeg.robot.mjcf_reader import read_mjcf
from emdeg.robot.urdf_reader import read_urdf
from emdeg.simulation.scenarios.scenario import read_scenario
from emdeg.simulation.trajectories.tables import read_trajectory
from emdeg.studio.sessions import FORMAT, read_shared
from emdeg.sweeps.folder import KIND, MANIFEST, SCHEMA, read_manifest
from emdeg.sweeps.plan import plan_from_json
from emdeg.sweeps.read import read_study

HOME = Path(__file__).parents[2]


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def toml(data: bytes) -> None:
    assemble(read_toml(_text(data), "f.toml"))


def urdf(data: bytes) -> None:
    assemble(read_urdf(_text(data), "f.urdf"))


def mjcf(data: bytes) -> None:
    assemble(read_mjcf(_text(data), "f.xml"))


def _in_file(data: bytes, read: Callable[[Path], Any], name: str = "f.toml") -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(data)
        read(path)


def scenario(data: bytes) -> None:
    read_scenario(_text(data), "f.toml", HOME / "examples", emdeg.load("planar2r"))


def study(data: bytes) -> None:
    _in_file(data, read_study)


def plan(data: bytes) -> None:
    plan_from_json(_text(data))


def program(data: bytes) -> None:
    with contextlib.suppress(json.JSONDecodeError, RecursionError):
        from_data(json.loads(_text(data)))


def certificate(data: bytes) -> None:
    with contextlib.suppress(json.JSONDecodeError, RecursionError):
        said = json.loads(_text(data))
        if said != _made()[1]:
            recheck(_made()[0], said)


@cache
def _made() -> tuple[bytes, Any]:
    (one,) = generate("planar2r", "gravity")
    return one.text.encode(), json.loads(json.dumps(one.certificate))


def short(data: bytes) -> None:
    with contextlib.suppress(json.JSONDecodeError, RecursionError):
        said = json.loads(_text(data))
        if isinstance(said, dict) and said != json.loads(seeds("short")[0]):
            recheck_approximate(_short().text.encode(), said)


@cache
def _short() -> Artefact:
    """The exact program of a robot as a short one whose error is nothing."""
    robot, exact = emdeg.load("planar2r"), emdeg.program("planar2r", "gravity")
    none = (CertifiedExtremum(0.0, 0.0, {}),) * 2
    found = Approximation(robot, "gravity", exact, exact, workspace(robot), none, (1.0, 1.0), (0.0, 0.0))
    return make_approximate_artefact(found, file="short.c", command="emdeg abbreviate planar2r --emit short.c")


def campaign(data: bytes) -> None:
    _in_file(data, read_campaign)


def judged(data: bytes) -> None:
    _in_file(data, read_printed)


def speeds(data: bytes) -> None:
    read_setup(_text(data), emdeg.load("stanford_arm"))


def trajectory(data: bytes) -> None:
    _in_file(data, lambda path: read_trajectory(path, emdeg.load("planar2r")), "f.csv")


def log(data: bytes) -> None:
    _in_file(data, lambda path: read_log(path, emdeg.load("planar2r")), "f.csv")


def parquet(data: bytes) -> None:
    _in_file(data, lambda path: read_log(path, emdeg.load("planar2r")), "f.parquet")


def payload(data: bytes) -> None:
    _in_file(data, lambda path: emdeg.load("planar2r", payload=str(path)))


def manifest(data: bytes) -> None:
    _in_file(data, lambda path: read_manifest(path.parent), MANIFEST)


def page(data: bytes) -> None:
    read_shared(_text(data))


def model(data: bytes) -> None:
    from_json(_text(data))


TARGETS: dict[str, Callable[[bytes], None]] = {
    one.__name__: one
    for one in (
        *(toml, urdf, mjcf, scenario, study, plan, program, certificate),
        *(short, campaign, judged, speeds, trajectory, log, parquet, payload, manifest, page, model),
    )
}


SCENARIO = """schema = 1
mode = "simulate"
duration = 0.5
[trajectory]
kind = "cycloidal"
start = [0, -0.5]
goal = { q1 = "60 deg", q2 = -1.2 }
duration = 1.0
limits = "ignore"
[controller]
kind = "computed_torque"
kp = 400
kd = 40
period = 0.002
max_effort = [90, 80]
[integration]
method = "rk4"
step = 0.001
output_step = 0.01
"""


LOG = "t,q_q1,q_q2,tau_q1,tau_q2\n" + "".join(f"{k / 100},{k % 7},{k % 5},{k % 3},{k % 2}\n" for k in range(40))


@cache
def seeds(target: str) -> list[bytes]:
    """Good inputs of a target."""
    data = HOME / "tests" / "data" / "robots"
    match target:
        case "toml":
            return [(HOME / "src/emdeg/robot/library" / f"{name}.toml").read_bytes() for name in ("planar2r", "delta")]
        case "urdf":
            return [path.read_bytes() for path in sorted(data.glob("*.urdf"))[:3]]
        case "mjcf":
            return [path.read_bytes() for path in sorted(data.glob("*.xml"))[:3]]
        case "scenario":
            return [SCENARIO.encode()]
        case "study":
            return [(HOME / "examples" / "payload_study.toml").read_bytes()]
        case "plan":
            from emdeg.sweeps import Compute, States, Study
            from emdeg.sweeps.prepare import prepare

            small = Study("s", ("planar2r",), (Compute("gravity"),), states=States(count=20))
            return [prepare(small).to_json().encode()]
        case "short":
            return [json.dumps(_short().certificate).encode()]
        case "campaign":
            return [(HOME / "examples" / "puma560_campaign.toml").read_bytes()]
        case "judged":
            return [path.read_bytes() for path in sorted((HOME / "examples" / "judged").glob("*.toml"))]
        case "speeds":
            return [(HOME / "examples" / "speeds" / "stanford_arm.toml").read_bytes()]
        case "trajectory":
            rows = b"".join(b"%g,%g,%g\n" % (k / 10, k / 7, -k / 5) for k in range(9))
            return [b"t,q1,q2\n" + rows, rows]
        case "log":
            return [LOG.encode()]
        case "parquet":
            table = pyarrow.csv.read_csv(io.BytesIO(LOG.encode()))
            pyarrow.parquet.write_table(table, found := io.BytesIO())
            return [found.getvalue()]
        case "payload":
            return [b"schema = 1\n[[payload]]\nmass = 1.8\ncom = [0, 0.1, 0]\nIxx = 0.1\nIyy = 0.1\nIzz = 0.1\n"]
        case "manifest":
            digests = {"study_digest": "a" * 64, "plan_digest": "b" * 64, "environment": {"emdeg": "0.2.0"}}
            results = {"results": {"sha256": "c" * 64, "rows": 3}, "complete": True}
            return [json.dumps({"kind": KIND, "schema": SCHEMA, **digests, **results}).encode()]
        case "page":
            words = {"format": FORMAT, "name": "planar2r", "text": "", "source": "", "state": {"q": [0, 1]}}
            return [json.dumps(words).encode()]
        case "model":
            return [to_json(emdeg.derive("planar2r")).encode()]
        case _:
            made = _made()[1]
            return [json.dumps(made if target == "certificate" else made["program"]).encode()]


PIECES = [
    *("0", "-1", "1e308", "1e-400", "nan", "inf", "true", "null", "[]", "{}", '""', '"', "'", "[[", "]]", "<", ">"),
    *("</", "/>", "&amp;", "&#0;", "<!DOCTYPE x>", "\x00", "\x9b", "\u202e", "9" * 400, "pi/0", "1/0", "=", "\n", ","),
    *("mul 1 1", "div 1 1", "sqrt 1", "angle 1 0", "number 1/3", "input q 0", "..", "/etc/passwd", "a" * 300),
]


def mutant(good: bytes, rng: random.Random) -> bytes:
    """The input with a few changes: bytes, pieces, lines moved, doubled or gone, numbers made others.

    Half of the JSON stays JSON, with values put in each other's places.
    """
    if good.startswith(b"{") and rng.random() < 0.5:
        return _json_mutant(json.loads(good), rng)
    data = bytearray(good)
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        at = rng.randrange(len(data) + 1)
        to = min(len(data), at + rng.choice([1, 2, 5, 40]))
        match rng.randrange(6):
            case 0:
                data[at:to] = rng.randbytes(to - at)
            case 1:
                data[at:to] = rng.choice(PIECES).encode()
            case 2:
                del data[at:to]
            case 3:
                data[at:at] = data[at:to] * rng.choice([1, 2, 30])
            case 4:
                lines = bytes(data).split(b"\n")
                rng.shuffle(lines) if len(lines) < 4 else lines.insert(rng.randrange(len(lines)), rng.choice(lines))
                data = bytearray(b"\n".join(lines))
            case _:
                digits = [k for k, byte in enumerate(data) if chr(byte).isdigit()]
                if digits:
                    place = rng.choice(digits)
                    data[place : place + 1] = rng.choice(PIECES[:6]).encode()
    return bytes(data)


def _json_mutant(data: Any, rng: random.Random) -> bytes:
    """The data with some values replaced by others of it, or by what nobody expects."""
    for _ in range(rng.choice([1, 1, 2, 3])):
        places = list(_places(data))
        holder, key = rng.choice(places)
        other, name = rng.choice(places)
        odd = [None, True, -1, 0, 10**30, 0.5, 1e308, "", "x", [], {}, [[]], {"a": 1}, *PIECES]
        value = other[name] if rng.random() < 0.4 else rng.choice(odd)
        holder[key] = json.loads(json.dumps(value))
        if rng.random() < 0.2:
            del holder[key]
    return json.dumps(data).encode()


def _places(data: Any) -> Iterator[tuple[Any, Any]]:
    """Every (list or table, place in it) of JSON data."""
    keys = data.keys() if isinstance(data, dict) else range(len(data)) if isinstance(data, list) else ()
    for key in list(keys):
        yield data, key
        yield from _places(data[key])


def survives(target: str, data: bytes) -> None:
    """Read the bytes: whatever is wrong with them is said by an error of emdeg's own."""
    with contextlib.suppress(EmdegError):
        TARGETS[target](data)


READERS = ("emdeg.robot.", "emdeg.algebra.exact", "emdeg.algebra.angle", "emdeg.programs.ir", "emdeg.programs.store")
READERS += ("emdeg.codegen.rechecking", "emdeg.sweeps.plan", "emdeg.sweeps.read", "emdeg.sweeps.study")
READERS += ("emdeg.simulation.scenarios.", "emdeg.simulation.trajectories.tables", "emdeg.sweeps.folder")
READERS += ("emdeg.papers.bench.campaign", "emdeg.identification.recording", "emdeg.identification.log_tables")
READERS += ("emdeg.papers.validation.file", "emdeg.kane.reader", "emdeg.studio.sessions")
READERS += ("emdeg.equations.json_form", "emdeg.algebra.expression")


def _functions() -> Iterator[FunctionType]:
    """The functions and methods that read: only their branches are followed, which all of NumPy's would drown."""
    for name, module in list(sys.modules.items()):
        if name.startswith(READERS):
            for value in list(vars(module).values()):
                inside = vars(value).values() if isinstance(value, type) else [value]
                yield from (one for one in inside if isinstance(one, FunctionType) and one.__module__ == name)


def main() -> None:
    import atheris

    target = sys.argv[1]
    for good in seeds(target):
        survives(target, good)
    for function in _functions():
        atheris.instrument_func(function)
    atheris.Setup([sys.argv[0], *sys.argv[2:]], lambda data: survives(target, data))
    atheris.Fuzz()


if __name__ == "__main__":
    main()
