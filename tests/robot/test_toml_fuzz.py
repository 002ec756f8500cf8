"""Whatever text is thrown at the reader, it answers with a robot or a RobotError, soon."""

import tomllib
from contextlib import suppress
from importlib import resources

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emdeg.errors import RobotError
from emdeg.robot.assembly import assemble
from emdeg.robot.loading import library_names, parse_locks, parse_payload
from emdeg.robot.toml_reader import read_toml
from emdeg.robot.toml_writer import quoted, to_toml

SEEDS = [
    resources.files("emdeg.robot.library").joinpath(f"{name}.toml").read_text("utf-8")
    for name in ("planar2r", "scara", "puma560_emdeg")
    if name in library_names()
]
PIECES = [
    "nan",
    "-inf",
    "1e999999999",
    "1e-400",
    "-1",
    "0",
    '"x"',
    '"90 deg"',
    '"1/3"',
    "[]",
    "{}",
    "true",
    "[[link]]",
    "\n",
    '"',
    "=",
    "[",
    "}",
    ".",
    ",",
    "\\",
    "'''",
    "#",
    '"a*b + c^9"',
    "1979-05-27",
    "\x00",
    "é",
    "9" * 50,
    'parent = "link2"\n',
    "frame = { rpy = [1, 2, 3] }\n",
    "{ value = 1, tol_percent = 5 }",
    '"pi + phi"',
]
fuzz = settings(max_examples=250, deadline=None, suppress_health_check=list(HealthCheck))


def only_robot_errors(text):
    try:
        robot = assemble(read_toml(text, "fuzz.toml"))
    except RobotError:
        return
    again = assemble(read_toml(to_toml(robot), "again.toml"))
    assert again.links == robot.links
    assert again.frames == robot.frames


@fuzz
@given(st.text(max_size=300))
def test_any_text(text):
    only_robot_errors(text)


@fuzz
@given(
    st.sampled_from(SEEDS),
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 12), st.sampled_from(PIECES)), min_size=1, max_size=4),
)
def test_a_good_file_with_pieces_torn_out_and_put_in(seed, cuts):
    for place, length, piece in cuts:
        at = int(place * len(seed))
        seed = seed[:at] + piece + seed[at + length :]
    only_robot_errors(seed)


@fuzz
@given(st.sampled_from(SEEDS), st.integers(0, 200), st.sampled_from(PIECES))
def test_a_good_file_with_another_value(seed, which, piece):
    lines = seed.split("\n")
    keyed = [i for i, line in enumerate(lines) if "=" in line]
    i = keyed[which % len(keyed)]
    parts = lines[i].split("= ")
    j = 1 + which % max(len(parts) - 1, 1)
    parts[min(j, len(parts) - 1)] = piece + ("," if j < len(parts) - 1 else "")
    lines[i] = "= ".join(parts)
    only_robot_errors("\n".join(lines))


@fuzz
@given(st.text(max_size=60), st.text(max_size=30))
def test_any_payload_and_lock(payload, value):
    for attempt in (lambda: parse_payload("mass=" + payload, "link1"), lambda: parse_locks({"q1": value})):
        with suppress(RobotError):
            attempt()


@fuzz
@given(st.text(max_size=200))
def test_any_string_survives_quoting(text):
    text = text.encode("utf-8", "replace").decode()
    assert tomllib.loads(f"x = {quoted(text)}")["x"] == text
