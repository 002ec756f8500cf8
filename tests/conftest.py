"""For every test: commands take programs as they are on file or plain, unless a test asks for a search."""

import contextlib
import os
import signal

os.environ.setdefault("EMDEG_EFFORT", "0")

# A shell that runs the tests in the background has them ignore Ctrl-C, and so would every process that they start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    with contextlib.suppress(ValueError):  # not the main thread
        signal.signal(signal.SIGINT, signal.default_int_handler)
