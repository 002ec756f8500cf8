"""Where a benchmark's figures go: one JSON file, with the command and the machine that made them."""

from __future__ import annotations

import json
import os
import platform
import shlex
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import emdeg

FOLDER = Path(__file__).parent / "results"


def record(name: str, figures: object) -> Path:
    """Writes benchmarks/results/NAME.json; its path. `python tools/tables.py --take NAME` keeps it in docs/data."""
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"{name}.json"
    path.write_text(json.dumps({**circumstances(), "figures": figures}, indent=1) + "\n", encoding="utf-8")
    print(f"wrote {path}")
    return path


def circumstances() -> dict[str, Any]:
    """The command, the version, the day, and the machine with what else it was doing."""
    script = Path(sys.argv[0])
    shown = script.relative_to(Path.cwd()) if script.is_relative_to(Path.cwd()) else script
    return {
        "command": shlex.join(["python", str(shown), *sys.argv[1:]]),
        "emdeg": emdeg.__version__,
        "day": datetime.now(UTC).date().isoformat(),
        "machine": {
            "processor": processor(),
            "cores": os.cpu_count(),
            "system": f"{platform.system()} {platform.machine()}",
            "python": platform.python_version(),
            "load_average": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,
        },
    }


def processor() -> str:
    """The processor's own name where the system tells it."""
    told = Path("/proc/cpuinfo")
    if told.exists():
        for line in told.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
