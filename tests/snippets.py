"""The pages' snippets: found in Markdown, and run as a reader would.

A page's blocks run one after the other in one folder and, those in Python, in one namespace:

- ```python is executed; ```sh and ```console are commands (in the latter those after `$ `, the rest is their output);
- ```output right after a block is what that block prints;
- `<!-- file: NAME -->` before a block stores it under that name for the blocks after it;
- `<!-- needs: PROGRAM ... -->` before a block leaves it out where a program is not installed;
- `<!-- not run: REASON -->` before a block leaves it out everywhere.

In an expected output `...` stands for anything. The folder holds `examples/` and what `stand_ins` puts there under
names that stand for the reader's own files.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import emdeg
from emdeg.dynamics.functions import friction
from emdeg.robot import to_toml
from emdeg.simulation import fourier

ROOT = Path(__file__).parents[1]
COMMANDS = ("sh", "console")
TIMEOUT = 900


@dataclass(frozen=True)
class Snippet:
    """A fenced block: where it stands, its language and text, and what the comment before it says."""

    page: Path
    line: int
    language: str
    text: str
    file: str | None
    needs: tuple[str, ...]
    not_run: str | None

    @property
    def runs(self) -> bool:
        """Whether there is something to run, and all that it needs."""
        kinds = ("python", *COMMANDS)
        return self.language in kinds and self.not_run is None and all(shutil.which(name) for name in self.needs)

    def __str__(self) -> str:
        return f"{shown(self.page)}:{self.line}"


def pages() -> list[Path]:
    """The README and every page of the documentation."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def shown(page: Path) -> str:
    return str(page.relative_to(ROOT)) if page.is_relative_to(ROOT) else page.name


def snippets(page: Path) -> list[Snippet]:
    """The page's fenced blocks in their order."""
    return list(_blocks(page, page.read_text(encoding="utf-8").splitlines()))


def _blocks(page: Path, lines: list[str]) -> Iterator[Snippet]:
    start = None
    for number, line in enumerate(lines):
        fence = re.match(r"```\s*(\w*)", line)
        if fence is None:
            continue
        if start is None:
            start, language = number, fence[1]
            continue
        above = [text for text in lines[max(0, start - 2) : start] if text.strip()]
        said = above[-1] if above else ""
        file = re.fullmatch(r"<!-- file: (\S+) -->", said)
        needs = re.fullmatch(r"<!-- needs: (.+) -->", said)
        not_run = re.fullmatch(r"<!-- not run: (.+) -->", said)
        yield Snippet(
            page,
            start + 1,
            language,
            text="\n".join(lines[start + 1 : number]) + "\n",
            file=file[1] if file else None,
            needs=tuple(needs[1].split()) if needs else (),
            not_run=not_run[1] if not_run else None,
        )
        start = None


def escaped_commands(page: Path) -> list[str]:
    """Lines that show a command to a reader but stand in no block that is run."""
    text = page.read_text(encoding="utf-8")
    fenced = [(s.line, s.line + s.text.count("\n")) for s in snippets(page)]
    loose = [
        f"{shown(page)}:{number}"
        for number, line in enumerate(text.splitlines(), 1)
        if re.match(r"\s{4,}(\$ )?emdeg [a-z]", line) and not any(a <= number <= b for a, b in fenced)
    ]
    bare = [
        str(s)
        for s in snippets(page)
        if s.language not in COMMANDS and re.search(r"^(\$ )?emdeg [a-z]+ ", s.text, re.M)
    ]
    return loose + bare


def stand_ins(folder: Path) -> None:
    """The reader's own arm as URDF and as a robot file, a scenario, a study, a recording, a solver's folder."""
    robot = emdeg.load(ROOT / "examples" / "arm.urdf")
    shutil.copy(ROOT / "examples" / "arm.urdf", folder / "my_arm.urdf")
    (folder / "my_arm.toml").write_text(to_toml(robot), encoding="utf-8")
    (folder / "run.toml").write_text(SCENARIO, encoding="utf-8")
    (folder / "study.toml").write_text(STUDY, encoding="utf-8")
    t = np.arange(0, 4, 0.01)
    way = fourier(np.zeros(6), np.full((2, 6), 0.3), np.full((2, 6), 0.2), period=4.0, duration=4.0)
    q, qd, qdd = (np.array(part) for part in zip(*(way(at) for at in t)))
    noise = np.random.default_rng(3).normal(0, 0.01, q.shape)
    tau = emdeg.inverse_dynamics(robot, q, qd, qdd) + friction(robot, qd) + noise
    names = [f"{letter}{k}" for letter in ("q", "qd", "qdd", "tau") for k in range(1, 7)]
    np.savetxt(
        folder / "log.csv",
        np.column_stack([t, q, qd, qdd, tau]),
        delimiter=",",
        header=",".join(["t", *names]),
        comments="",
    )
    _solver_of_acados(folder / "c_generated_code", "ur5e", ("expl_ode_fun", "expl_vde_forw", "expl_ode_hess"))


def _solver_of_acados(folder: Path, model: str, functions: Sequence[str]) -> None:
    """As acados' generator leaves it, as far as the model goes: a source a function, each named in the Makefile."""
    sources = [f"{model}_model/{model}_{function}.c" for function in functions]
    (folder / f"{model}_model").mkdir(parents=True)
    for source, function in zip(sources, functions, strict=True):
        (folder / source).write_text(f"int {model}_{function}(void) {{ return 1; }}\n", encoding="utf-8")
    rule = f"\tgcc -O1 -shared -fPIC -Wl,--no-undefined {' '.join(sources)} -o libacados_ocp_solver_{model}.so -lm\n"
    (folder / "Makefile").write_text(f"ocp_shared_lib:\n{rule}", encoding="utf-8")


STUDY = """
schema = 1
name = "study"
robots = ["planar2r"]
[[vary]]
parameter = "link1.mass"
values = [1.0, 1.2]
[states]
kind = "random"
count = 100
speed = 1
acceleration = 1
[[compute]]
function = "inverse_dynamics"
statistics = ["max_abs"]
"""

SCENARIO = """
schema = 1
mode = "simulate"
[trajectory]
kind = "cycloidal"
start = [0, 0, 0, 0, 0, 0]
goal = [1, 0.5, -0.5, 0.3, 0.4, 0.2]
duration = 1.0
[controller]
kind = "computed_torque"
kp = 100
kd = 20
"""


class Reader:
    """Someone who works through a page: a folder, and what Python remembers."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.namespace: dict[str, object] = {"__name__": "__main__"}
        shutil.copytree(ROOT / "examples", folder / "examples", ignore=shutil.ignore_patterns("__pycache__", "*.ipynb"))
        stand_ins(folder)
        commands = folder / ".bin"
        commands.mkdir()
        for name, module in (("emdeg", "-m emdeg.cli"), ("python", "")):
            command = commands / name
            command.write_text(f'#!/bin/sh\nexec "{sys.executable}" {module} "$@"\n')
            command.chmod(0o755)
        inherited = {name: value for name, value in os.environ.items() if name != "EMDEG_EFFORT"}
        self.environment = {
            **inherited,
            "PATH": f"{commands}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]),
            "MPLBACKEND": "Agg",
            "COLUMNS": "100",
            "EMDEG_PROGRAMS": str(folder / ".programs"),
        }

    def work_through(self, page: Path) -> int:
        """Runs the page's snippets; how many there were. A snippet that fails names its place."""
        blocks = snippets(page)
        done = 0
        for block, after in zip(blocks, [*blocks[1:], None]):
            if block.file is not None:
                (self.folder / block.file).write_text(block.text, encoding="utf-8")
            if not block.runs:
                continue
            expected = after.text if after is not None and after.language == "output" else None
            if block.language == "python":
                compare(self.python(block), expected, block)
            elif block.language == "sh":
                compare(self.shell(block.text, block), expected, block)
            else:
                for command, output in console(block.text):
                    compare(self.shell(command, block), output, block)
            done += 1
        return done

    def python(self, block: Snippet) -> str:
        printed = io.StringIO()
        code = compile("\n" * block.line + block.text, str(block.page), "exec")
        with contextlib.chdir(self.folder), contextlib.redirect_stdout(printed):
            exec(code, self.namespace)  # our own text, not a robot's
        return printed.getvalue()

    def shell(self, commands: str, block: Snippet) -> str:
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", commands],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )
        assert done.returncode == 0, f"{block}: exit code {done.returncode}\n{commands}\n{done.stdout}\n{done.stderr}"
        return done.stdout


def console(text: str) -> Iterator[tuple[str, str | None]]:
    """Commands after `$ ` with the output shown under each, None where none is shown."""
    parts = re.split(r"^\$ ", text, flags=re.M)
    assert not parts[0].strip(), "a console block begins with `$ `"
    for part in parts[1:]:
        lines = part.splitlines()
        last = next(i for i, line in enumerate(lines) if not line.endswith("\\"))
        yield "\n".join(lines[: last + 1]), "\n".join(lines[last + 1 :]) or None


def compare(printed: str, expected: str | None, block: Snippet) -> None:
    """What was printed is what the page shows; `...` is anything."""
    if expected is None:
        return
    parts = [re.escape(part.strip()) for part in tidy(expected).split("...")]
    pattern = r"\s*" + r".*?".join(parts) + r"\s*"
    assert re.fullmatch(pattern, tidy(printed), re.S), f"{block} prints\n{printed}\nand the page shows\n{expected}"


def tidy(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().splitlines())
