"""For every test: commands take programs as they are on file or plain, unless a test asks for a search."""

import os

os.environ.setdefault("EMDEG_EFFORT", "0")
