"""For every test: commands take programs as they come with the package or plain, unless a test asks for a search.

What tests file lies in a folder of the run's own: no test finds what another day's searches have left.

Hypothesis tries 40 examples where a test does not say how many; 100 in the profile `thorough`.

With EMDEG_NO_SKIPS in the environment, as in continuous integration, a run that skipped a test fails and says which.
"""

import atexit
import contextlib
import os
import shutil
import signal
import tempfile

import pytest
from hypothesis import settings

settings.register_profile("quick", max_examples=40)
settings.register_profile("thorough", max_examples=100)
settings.load_profile("quick")

os.environ.setdefault("EMDEG_EFFORT", "0")
if "PYTEST_XDIST_WORKER" not in os.environ:  # workers share the folder of the process that starts them
    os.environ["EMDEG_PROGRAMS"] = tempfile.mkdtemp(prefix="emdeg-tests-")
    atexit.register(shutil.rmtree, os.environ["EMDEG_PROGRAMS"], ignore_errors=True)

# A shell that runs the tests in the background has them ignore Ctrl-C, and so would every process that they start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    with contextlib.suppress(ValueError):  # not the main thread
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="Record the results of tests/golden anew.")


def _skipped(config: pytest.Config) -> list[pytest.TestReport]:
    """What was skipped although nothing may be; [] in a worker, whose skips the main process counts."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if not os.environ.get("EMDEG_NO_SKIPS") or reporter is None or hasattr(config, "workerinput"):
        return []
    return reporter.stats.get("skipped", [])


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    if _skipped(session.config) and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    for report in _skipped(config):
        reason = report.longrepr[-1] if isinstance(report.longrepr, tuple) else report.longrepr
        terminalreporter.write_line(f"SKIPPED, which EMDEG_NO_SKIPS forbids: {report.nodeid}: {reason}")
