"""One studio and one browser for all tests of its pages."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.reports.browser import Page, page
from tests.studio.pages import ROOT, status


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("studio")
    (found / "arm.urdf").write_text((ROOT / "examples" / "arm.urdf").read_text())
    return found


@pytest.fixture(scope="session")
def url(folder: Path) -> Iterator[str]:
    """The address of a studio of its own, which ends with the tests."""
    words = ["-m", "emdeg.cli", "studio", "planar2r", "--no-browser", "--json"]
    path = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    server = subprocess.Popen(
        [sys.executable, *words], cwd=folder, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": path}
    )
    try:
        assert server.stdout is not None
        address = json.loads(server.stdout.readline())["result"]["url"]
        end = time.monotonic() + 60
        while True:
            try:
                status(address.partition("?")[0])
                break
            except OSError:
                assert time.monotonic() < end
                time.sleep(0.1)
        yield address
    finally:
        server.terminate()
        server.wait(20)
        if server.stdout is not None:
            server.stdout.close()


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with page(tmp_path_factory.mktemp("profile")) as one:
        yield one
