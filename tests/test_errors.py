"""Theorems about what emdeg raises: one tree, one home, and the same class wherever the same thing is wrong."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
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
