"""Small studies that the tests of sweeps share."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from emdeg.sweeps import Compute, StatedTolerances, States, Study, Vary

ARM = """<robot name="arm">
<link name="base"/>
<joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><origin xyz="0 0 0.3" rpy="0 0 0"/>
<axis xyz="0 1 0"/><limit lower="-2" upper="2" velocity="3" effort="60"/></joint>
<link name="upper"><inertial><origin xyz="0.2 0 0.01"/><mass value="4.5"/>
<inertia ixx="0.02" ixy="0" ixz="0" iyy="0.11" iyz="0" izz="0.1"/></inertial></link>
<joint name="elbow" type="revolute"><parent link="upper"/><child link="fore"/><origin xyz="{length} 0 0" rpy="0 0 0"/>
<axis xyz="0 1 0"/><limit lower="-2.5" upper="0" velocity="4" effort="30"/></joint>
<link name="fore"><inertial><origin xyz="0.15 0 0"/><mass value="{mass}"/>
<inertia ixx="0.01" ixy="0" ixz="0" iyy="0.03" iyz="0" izz="0.03"/></inertial></link>
</robot>
"""


def puma_study(states: int = 3000, draws: int = 3, **changes: object) -> Study:
    """The PUMA under three payloads with its tolerances drawn."""
    settings: dict = {
        "name": "puma",
        "robots": ("puma560",),
        "payloads": ("mass=mL,com=0:0:0.1",),
        "vary": (Vary("mL", values=(0.0, 1.0, 2.5)), Vary("q3.a", uniform=(0.4, 0.45))),
        "tolerances": StatedTolerances(scale=(0.0, 1.0)),
        "states": States(count=states, speed=1.0, acceleration=2.0),
        "compute": (Compute(function="inverse_dynamics", statistics=("max_abs", "rms", "mean", "at")),),
        "draws": draws,
        "seed": 11,
    }
    return Study(**(settings | changes))


MANY_CHUNKS = """schema = 1
name = "many"
robots = ["puma560"]
seed = 4
draws = {draws}
chunk_states = 8192
[tolerances]
[states]
count = {states}
speed = 1
acceleration = 2
common = false
[[compute]]
function = "inverse_dynamics"
statistics = ["max_abs", "mean", "at"]
"""


def command(*words: str | Path, **settings) -> subprocess.Popen[bytes]:
    """`emdeg sweep` as a process of its own."""
    source = str(Path(__file__).parents[2] / "src")
    env = os.environ | {"PYTHONPATH": os.pathsep.join([source, os.environ.get("PYTHONPATH", "")])}
    return subprocess.Popen(
        [sys.executable, "-m", "emdeg.cli", "sweep", *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=env,
        **settings,
    )
