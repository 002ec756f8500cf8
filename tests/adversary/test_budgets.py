"""Small files that ask for endless work: each is refused in words, soon, and over a budget is exit code 4."""

from __future__ import annotations

import contextlib
import hashlib
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import emdeg
from emdeg.cli.limits import bounded
from emdeg.codegen import generate
from emdeg.documents import arrow
from emdeg.errors import NotCertified, OverBudget, Refuted, SweepError
from emdeg.programs.build import plain_program
from emdeg.programs.ir import Kind, Op
from emdeg.programs.store import to_data
from emdeg.programs.verification import verify_program
from emdeg.runtime import Fold, UniformRows
from emdeg.sweeps import Compute, States, Study, sweep
from emdeg.sweeps.plan import plan_from_json, study_digest, text_digest
from tests.adversary.forging import a_sine, last_output, number, with_last_output, zeros
from tests.commands import run


def chain(joints: int) -> str:
    """A robot file of so many joints one after the other."""
    head = 'schema = 1\nname = "chain"\nconvention = "modified"\n'
    turns = ("90 deg", "0", "-90 deg", "0.3")
    return head + "".join(
        f'[[link]]\nname = "l{k}"\njoint = {{ name = "q{k}", type = "revolute", alpha = "{turns[k % 4]}", a = 0.2 }}\n'
        f'inertia = {{ about = "com", mass = 2, com = [0.2, 0, 0.1], Ixx = 0.02, Iyy = 0.03, Izz = 0.03 }}\n'
        for k in range(joints)
    )


@pytest.mark.slow
def test_the_longest_chain_that_may_be_read_has_its_plain_program_soon(tmp_path: Path) -> None:
    (tmp_path / "chain.toml").write_text(chain(511))
    robot = emdeg.load(tmp_path / "chain.toml")
    begun = time.process_time()
    built = plain_program(robot, "inverse_dynamics")
    assert time.process_time() - begun < 10
    assert built.size < 200 * 511  # a recursion is linear
    done = run("generate", str(tmp_path / "chain.toml"), "-f", "inverse_dynamics", "--out", str(tmp_path / "code"))
    assert done.returncode == 4
    assert "joints; proofs have a budget of" in done.stderr


def artefact(folder: Path) -> tuple[Path, dict[str, Any]]:
    (made,) = generate("planar2r", "gravity", out=folder)
    assert made.path is not None
    return made.path, json.loads(Path(f"{made.path}.certificate.json").read_text())


def verified(path: Path, certificate: dict[str, Any]) -> Any:
    Path(f"{path}.certificate.json").write_text(json.dumps(certificate))
    return run("verify", str(path))


SQUARINGS = ["number 3", *(f"mul {k} {k}" for k in range(1, 2000))]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda c: c["program"].update(ops=SQUARINGS),
        lambda c: c["program"].update(ops=["number " + "9" * 1999, *(f"mul {k} {k}" for k in range(1, 1500))]),
        lambda c: c["program"].update(ops=["input q 0", *(f"add {k} {k}" for k in range(1, 5000)), "sin 5000"]),
        lambda c: c["program"].update(inputs=[["q", 10**9, "configuration", []]]),
        lambda c: c["program"].update(outputs=[["g", [10**9], [1]]]),
        lambda c: c.update(points=10**9),
        lambda c: c.update(seed=-1),
    ],
)
def test_a_small_certificate_cannot_ask_for_endless_work(spoil: Callable[[Any], None], tmp_path: Path) -> None:
    path, certificate = artefact(tmp_path)
    spoil(certificate)
    begun = time.process_time()
    done = verified(path, certificate)
    assert done.returncode in (1, 4)
    assert time.process_time() - begun < 20


def test_a_certificate_of_a_robot_beyond_the_budget_is_over_it(tmp_path: Path) -> None:
    path, certificate = artefact(tmp_path)
    text = chain(200)
    certificate["robot"] |= {"toml": text, "digest": hashlib.sha256(text.encode()).hexdigest()}
    begun = time.process_time()
    assert verified(path, certificate).returncode in (1, 4)
    assert time.process_time() - begun < 20


def for_ever() -> None:
    while True:
        pass


def test_a_command_on_a_strangers_file_ends_in_time_and_within_memory() -> None:
    with pytest.raises(OverBudget, match=r"counting takes more than 0\.05 s"), bounded("counting", seconds=0.05):
        for_ever()
    with pytest.raises(MemoryError), bounded("hoarding", most=64 * 2**20):
        bytearray(512 * 2**20)
    bytearray(512 * 2**20)  # and no longer


def small_results(folder: Path) -> Path:
    study = Study(
        "s", ("planar2r",), (Compute("gravity", statistics=("max", "at")),), states=States(count=20, speed=1.0)
    )
    return sweep(study, folder, workers=0).path


def reforged(path: Path, change: Callable[[dict[str, Any]], None], *, honest: bool = False) -> Path:
    """The results with their plan changed; the forger recomputes every digest unless `honest`."""
    pa = arrow()
    table = pa.parquet.read_table(path)
    stated = dict(table.schema.metadata)
    plan = json.loads(stated[b"emdeg.plan"])
    change(plan)
    text = json.dumps(plan, sort_keys=True, separators=(",", ":"))
    if not honest:
        with contextlib.suppress(SweepError):
            known = plan_from_json(text)
            plan["study_digest"] = study_digest(known.version, known.study, known.cases)
            text = json.dumps(plan, sort_keys=True, separators=(",", ":"))
        stated[b"emdeg.plan_digest"] = text_digest(text).encode()
    stated[b"emdeg.plan"] = text.encode()
    forged = path.with_name("forged.parquet")
    pa.parquet.write_table(table.replace_schema_metadata(stated), forged)
    return forged


CHANGES: dict[str, Callable[[dict[str, Any]], None]] = {
    "wider output": lambda plan: plan["cases"][0]["outputs"][0].update(shape=[2000]),
    "more joints": lambda plan: plan["cases"][0].update(n=500),
    "short box": lambda plan: plan["cases"][0]["boxes"][0].update(low=[], high=[]),
    "empty rows": lambda plan: plan["cases"][0]["boxes"][0].update(low=[[], []], high=[[], []]),
    "other groups": lambda plan: plan["cases"][0].update(groups=["q", "qd", "qdd"]),
    "larger parts": lambda plan: plan["work"].update(part_states=10**15, states=10**15),
    "many samples": lambda plan: plan["study"].update(draws=10**12),
    "no programs": lambda plan: plan["cases"][0].update(programs={}),
    "another robot": lambda plan: plan["cases"][0].update(toml=chain(3)),
    "wrong program": lambda plan: plan["cases"][0]["programs"].update(
        gravity=to_data(zeros(plain_program(emdeg.load("planar2r"), "gravity")))
    ),
}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_results(tmp_path_factory.mktemp("sweep") / "results")


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_plan_in_results_is_not_run(change: str, results: Path, tmp_path: Path) -> None:
    for honest in (True, False):
        with pytest.raises((SweepError, OverBudget)):
            sweep(reforged(results, CHANGES[change], honest=honest), tmp_path / "again", workers=0)


def test_results_are_repeated_from_their_own_plan(results: Path, tmp_path: Path) -> None:
    again = sweep(results, tmp_path / "again", workers=0)
    assert again.table().equals(arrow().parquet.read_table(results))


def test_loops_read_no_more_than_their_arrays_hold() -> None:
    fold = Fold(100)
    with pytest.raises(ValueError, match="rows of 100 numbers"):
        fold.add(np.zeros((8, 2)))
    for low, high in (([[], []], [[], []]), ([0.0, 1.0], [[1.0, 2.0]] * 2), ([0.0], [1.0, 2.0])):
        with pytest.raises(ValueError):
            UniformRows(1, low, high)


def test_what_is_no_certificate_is_not_certified(tmp_path: Path) -> None:
    path, _ = artefact(tmp_path)
    for junk in ("[" * 100_000, "1" * 100_000, "{}", "null", '{"format": 2}'):
        Path(f"{path}.certificate.json").write_text(junk)
        with pytest.raises(NotCertified):
            emdeg.verify(path)


def divisions(sine: int, n: int) -> list[Op]:
    """2 / (2 + 2 / (2 + ... sin))."""
    ops, inner = [number(2)], sine
    for _ in range(1000):
        ops += [Op(Kind.ADD, (inner, n)), Op(Kind.DIV, (n, n + len(ops)))]
        inner = n + len(ops) - 1
    return ops


def squares(sine: int, n: int) -> list[Op]:
    return [Op(Kind.MUL, (sine if k == 0 else n + k - 1,) * 2) for k in range(1000)]


def towers(sine: int, n: int) -> list[Op]:
    return [number(3), *(Op(Kind.MUL, (n + k, n + k)) for k in range(1000))]


def roots(sine: int, n: int) -> list[Op]:
    ops, inner = [number(2)], sine
    for _ in range(100):
        ops += [Op(Kind.ADD, (inner, n)), Op(Kind.SQRT, (n + len(ops),))]
        inner = n + len(ops) - 1
    return ops


@pytest.mark.parametrize("bomb", [divisions, squares, towers, roots])
def test_a_small_program_cannot_keep_the_proof_busy(bomb: Callable[[int, int], list[Op]]) -> None:
    """x + 0 times something endless."""
    robot = emdeg.load("planar2r")
    program = plain_program(robot, "gravity")
    ops = bomb(a_sine(program), program.size)
    end = program.size + len(ops)
    nothing = [number(0), Op(Kind.MUL, (end - 1, end)), Op(Kind.ADD, (last_output(program), end + 1))]
    begun = time.process_time()
    with pytest.raises((Refuted, ValueError)):
        verify_program(with_last_output(program, [*ops, *nothing], end + 2), robot, ["gravity"])
    assert time.process_time() - begun < 10
