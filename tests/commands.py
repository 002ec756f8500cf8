"""The program `emdeg` called in this process, which spares a test the start of another."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
import time
from pathlib import Path
from unittest import mock

from emdeg.cli import main


def run(*words: str, cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    """`emdeg WORDS` with its exit code, stdout and stderr, in a folder and with variables of the environment."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        contextlib.chdir(cwd or Path.cwd()),
        mock.patch.object(sys, "argv", ["emdeg", *words]),
        mock.patch.dict(os.environ, environment),
    ):
        try:
            main(time.process_time())
        except SystemExit as end:
            code = int(end.code or 0)
    return subprocess.CompletedProcess(words, code, out.getvalue(), err.getvalue())
