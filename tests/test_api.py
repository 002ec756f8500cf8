"""The face of the package: few names, all of them visible, none in another's way."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import math
import pkgutil
import subprocess
import sys
import types
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import emdeg
from emdeg.cli import COMMANDS, command
from emdeg.dynamics.functions import CATALOGUE, NumericFunction

ROBOT = Path(emdeg.__file__).parent / "robot" / "library" / "planar2r.toml"
VERBS = ["load", "derive", "program", "optimise", "compile", "generate", "verify", "abbreviate", "analyse"]
VERBS += ["simulate", "sweep", "report"]
"""What a newcomer looks for."""


def packages() -> Iterator[types.ModuleType]:
    yield emdeg
    for found in pkgutil.walk_packages(emdeg.__path__, "emdeg."):
        if found.ispkg:
            yield importlib.import_module(found.name)


def test_dir_shows_the_public_names_and_nothing_else() -> None:
    assert dir(emdeg) == sorted(emdeg.__all__)
    assert len(emdeg.__all__) <= 65
    assert set(VERBS) < set(emdeg.__all__)
    for name in emdeg.__all__:
        assert getattr(emdeg, name) is not None


def exported(package: types.ModuleType) -> dict[str, str]:
    """{public name: the module that it comes from} as a package's stub says."""
    stub = Path(str(package.__file__)).with_suffix(".pyi")
    found: dict[str, str] = {}
    for node in ast.parse(stub.read_text(encoding="utf-8")).body if stub.exists() else ():
        assert isinstance(node, ast.ImportFrom)
        assert node.level == 1
        assert all(each.asname == each.name for each in node.names), "a stub exports what it imports as itself"
        home = package.__name__ + (f".{node.module}" if node.module else "")
        found |= {each.name: home for each in node.names}
    return found


def test_every_export_is_what_its_module_has() -> None:
    for package in packages():
        exports = exported(package)
        for name, module in exports.items():
            whole = importlib.import_module(module)
            assert getattr(package, name) is getattr(whole, name), f"{package.__name__}.{name}"
        assert not exports or dir(package) == package.__all__ == sorted(exports)


EXTENSIONS = {"approximation", "kane", "loops", "papers"}
"""Packages beside the core, which use its modules as they are."""


def test_a_room_takes_from_another_what_that_one_exports() -> None:
    """Every import across rooms names a package and something that its `__init__` exports."""
    home = Path(emdeg.__file__).parent
    rooms = {path.parent.name for path in home.glob("*/__init__.py")}
    for path in home.rglob("*.py"):
        own = path.relative_to(home).parts[0]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                assert not any(each.name.startswith("emdeg.") for each in node.names), (path, node.lineno)
            if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith("emdeg."):
                continue
            room = str(node.module).split(".")[1]
            if room in rooms - {own, "cli"} and not EXTENSIONS & {own, room}:
                package = importlib.import_module(str(node.module))
                assert hasattr(package, "__path__"), f"{path}:{node.lineno} names a module of {room}: {node.module}"
                strange = {each.name for each in node.names} - set(package.__all__)
                assert not strange, f"{path}:{node.lineno}: {node.module} does not export {strange}"


def test_benchmarks_examples_and_tools_import_what_there_is() -> None:
    home = Path(__file__).parents[1]
    for path in (
        path for folder in ("benchmarks", "examples", "tools", "docs") for path in (home / folder).rglob("*.py")
    ):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and str(node.module).split(".")[0] == "emdeg":
                module = importlib.import_module(str(node.module))
                missing = [each.name for each in node.names if not hasattr(module, each.name)]
                assert not missing, f"{path}:{node.lineno}: {node.module} has no {missing}"


def test_no_function_stands_in_the_way_of_a_module_of_its_name() -> None:
    """`import emdeg.robot.loading` gives that module, whatever the room exports."""
    for package in packages():
        inner = {found.name for found in pkgutil.iter_modules(package.__path__)} - {"__main__"}
        for name in inner:
            whole = f"{package.__name__}.{name}"
            assert importlib.import_module(whole) is getattr(package, name), whole


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'inverse_dynamic'"):
        emdeg.inverse_dynamic  # noqa: B018


def test_whatever_takes_a_robot_takes_its_name_and_its_path() -> None:
    robot = emdeg.load("planar2r")
    for one in (robot, "planar2r", str(ROBOT), ROBOT):
        np.testing.assert_array_equal(emdeg.mass_matrix(one, [0.1, 0.2]), emdeg.mass_matrix(robot, [0.1, 0.2]))
        assert emdeg.program(one, "gravity") == emdeg.program(robot, "gravity")
        assert emdeg.derive(one).M == emdeg.derive(robot).M
        assert emdeg.generate(one, "gravity")[0].file == "planar2r_gravity.c"
        assert emdeg.verify(one, "gravity")["robot"] == "planar2r"
    fivebar = emdeg.load("fivebar")
    at = [2.0, 1.0]
    np.testing.assert_array_equal(emdeg.loops.joint_positions("fivebar", at), emdeg.loops.joint_positions(fivebar, at))


EXAMPLES = {
    name: one
    for module in ("emdeg", *(found.name for found in pkgutil.walk_packages(emdeg.__path__, "emdeg.")))
    if not module.endswith("__main__")
    for name, one in {
        found.name: found for found in doctest.DocTestFinder().find(importlib.import_module(module)) if found.examples
    }.items()
}
"""Every example in a docstring of the package, by the object's name."""
EXAMPLES |= {
    f"emdeg.{name}": doctest.DocTestParser().get_doctest(getattr(emdeg, name).__doc__, {}, name, None, 0)
    for name in CATALOGUE
    if isinstance(getattr(emdeg, name), NumericFunction)
}
WITHOUT_EXAMPLE = {"sweep"}
"""It needs a folder to write to; docs/sweeps.md has the examples, and they are run."""


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_in_docstrings_run_and_print_what_they_say(name: str) -> None:
    said: list[str] = []
    result = doctest.DocTestRunner().run(EXAMPLES[name], out=said.append)
    assert not result.failed, "".join(said)


def test_every_public_function_says_what_it_does_with_an_example() -> None:
    for name in emdeg.__all__:
        value = getattr(emdeg, name)
        if callable(value) and not inspect.isclass(value) and name not in WITHOUT_EXAMPLE:
            assert value.__doc__, name
            assert ">>>" in value.__doc__, name


def test_what_is_no_robot_is_said_to_be_none() -> None:
    for wrong in (3, None, ["planar2r"], np.zeros(2)):
        with pytest.raises(TypeError, match="a robot is expected"):
            emdeg.program(wrong, "gravity")


def shown() -> Iterator[object]:
    """An object of each kind that the public functions hand out, large ones."""
    robot, q = emdeg.load("puma560"), np.zeros(6)
    model, found = emdeg.derive(robot), emdeg.optimise("planar2r", "gravity", 0.0)
    yield from (robot, model, model.compact(), model.hierarchy(), model.lumped, model.kinematics)
    yield from (found, found.program, found.certificate, emdeg.generate("planar2r", "gravity")[0])
    compiled = emdeg.compile(emdeg.program(robot, "inverse_dynamics"))
    yield from (compiled, compiled.bind(q, q, q), emdeg.mass_matrix)
    short = emdeg.abbreviate("planar2r", significance=0.05, seconds=1)
    yield from (short, short.short, short.full, short.where)
    yield from (emdeg.simulate(robot, q0=q, duration=0.1, method="rk4", step=1e-3), emdeg.linearise(robot, q))
    yield from (emdeg.base_parameters(robot), emdeg.analyse("planar2r", ["loads"], seconds=1))
    yield from (*emdeg.loops.branches("fivebar", [2.0, 1.0]), emdeg.load("delta"), emdeg.report("planar2r"))


def test_the_repr_of_what_public_functions_hand_out_fits_a_screen() -> None:
    for one in shown():
        lines = repr(one).splitlines()
        assert sum(max(1, math.ceil(len(line) / 120)) for line in lines) <= 24, type(one)


def test_functions_joined_by_a_plus_are_one_program() -> None:
    joined = emdeg.program("planar2r", "mass_matrix+gravity")
    assert [group.name for group in joined.outputs] == ["M", "g"]


def test_what_was_generated_verifies_from_its_file(tmp_path) -> None:
    (made,) = emdeg.generate("planar2r", "gravity", "python", out=tmp_path)
    assert made.path == tmp_path / "planar2r_gravity.py"
    assert emdeg.verify(made.path)["artefact"] == made.file
    made.path.write_text(made.text + "\n")
    with pytest.raises(emdeg.NotCertified, match="the artefact was changed"):
        emdeg.verify(made.path)
    with pytest.raises(emdeg.UnknownFunction, match="say which"):
        emdeg.verify("planar2r")


@pytest.mark.parametrize("name", COMMANDS)
def test_help_lists_each_command_with_the_first_paragraph_of_its_own_help(name: str) -> None:
    own = command(name)
    assert own.name == name
    assert " ".join(own.help.split("\n\n")[0].split()) == COMMANDS[name]


def test_help_imports_nothing_that_it_does_not_need() -> None:
    code = "import sys, emdeg.cli; print(*(m for m in ('flint', 'scipy', 'sympy', 'llvmlite') if m in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
