"""Theorems about what emdeg raises: one tree, one home, and the same class wherever the same thing is wrong."""

from __future__ import annotations

import importlib
import inspect
import pickle
import pkgutil
import re
from collections.abc import Iterator

import numpy as np
import pytest

import emdeg
import emdeg.errors

NEEDS_OTHERS = {"emdeg.__main__", "emdeg.cli.__main__"}
"""Running these is what importing them does."""


def modules() -> Iterator[str]:
    for found in pkgutil.walk_packages(emdeg.__path__, "emdeg."):
        if found.name not in NEEDS_OTHERS:
            yield found.name


def exceptions() -> Iterator[type[BaseException]]:
    """Every exception class that a module of the package defines; warnings are no errors."""
    for name in modules():
        for _, value in inspect.getmembers(importlib.import_module(name), inspect.isclass):
            if value.__module__ == name and issubclass(value, BaseException) and not issubclass(value, Warning):
                yield value


def test_every_exception_of_the_package_is_an_emdeg_error() -> None:
    found = [one for one in exceptions() if issubclass(one, Exception)]
    assert len(found) > 20
    assert not [one for one in found if not issubclass(one, emdeg.EmdegError)]


def test_errors_live_in_one_module_but_for_the_command_lines() -> None:
    elsewhere = {one.__qualname__ for one in exceptions() if one.__module__ != "emdeg.errors"}
    assert elsewhere == {"UsageError"}


def test_an_interrupt_is_no_error_that_a_handler_of_errors_could_hide() -> None:
    assert issubclass(emdeg.errors.Interrupted, KeyboardInterrupt)
    assert not issubclass(emdeg.errors.Interrupted, Exception)


def test_a_file_that_is_too_large_is_both_a_robot_error_and_over_the_budget() -> None:
    problem = emdeg.errors.TooLarge("too long", file="arm.toml").at(line=3)
    assert isinstance(problem, emdeg.RobotError)
    assert isinstance(problem, emdeg.OverBudget)
    assert str(problem) == "arm.toml:3: too long"


def test_numbers_and_compiled_programs_raise_the_same_state_error() -> None:
    robot = emdeg.load("planar2r")
    compiled = emdeg.compile(emdeg.program(robot, "gravity", effort=0.0), backend="numpy")
    for wrong in (lambda: emdeg.gravity(robot, np.zeros(3)), lambda: compiled(np.zeros(3))):
        with pytest.raises(emdeg.StateError, match="shape"):
            wrong()


def test_every_error_has_a_code_of_its_class_and_an_exit_code_of_the_command_line() -> None:
    classes = [one for one in exceptions() if issubclass(one, emdeg.EmdegError) and one is not emdeg.EmdegError]
    own = {one.__name__: vars(one)["code"] for one in classes if "code" in vars(one)}
    assert len(set(own.values())) > 25
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)*", code) for code in own.values())
    assert {one.exit_code for one in classes} == {1, 2, 3, 4}


def test_an_error_keeps_its_own_code_with_more_places_and_across_processes() -> None:
    problem = emdeg.RobotError("mass < 0", code="negative-mass").at(file="arm.toml", line=3)
    assert (problem.code, emdeg.RobotError("other").code) == ("negative-mass", "robot")
    again = pickle.loads(pickle.dumps(problem))
    assert (str(again), again.code) == (str(problem), "negative-mass")
    assert pickle.loads(pickle.dumps(emdeg.StateError("x", code="shape"))).code == "shape"
