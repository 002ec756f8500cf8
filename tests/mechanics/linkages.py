"""Mechanisms for tests whose loops are closed by universal and by prismatic joints."""

from __future__ import annotations

import emdeg

HOOKE = """
schema = 1
name = "hooke"
convention = "modified"
[[link]]                       # the driving shaft, along z
name = "driving"
parent = "base"
joint = { name = "q1", type = "revolute" }
inertia = { about = "com", mass = 2, com = [0.01, 0, 0], Ixx = 0.02, Iyy = 0.02, Izz = 0.01 }
drive = { inertia = 0.01 }
[[link]]                       # the driven one, 30 degrees off
name = "driven"
parent = "base"
joint = { name = "q2", type = "revolute", alpha = "30 deg" }
inertia = { about = "com", mass = 1, com = [0, 0.02, 0], Ixx = 0.01, Iyy = 0.01, Izz = 0.005 }
[tool]
link = "driven"
[[closure]]
name = "cross"
type = "universal"
from = { link = "driving", rpy = [0, "90 deg", 0] }
to = { link = "driven", rpy = ["90 deg", 0, 0] }
[loops]
coordinates = ["q1"]
driven = ["q1"]
"""

SLIDER_CRANK = """
schema = 1
name = "slider_crank"
convention = "modified"
[base]
rpy = ["90 deg", 0, 0]
[[link]]
name = "crank"
parent = "base"
joint = { name = "q1", type = "revolute" }
inertia = { about = "com", mass = 0.5, com = [0.05, 0, 0], Iyy = 0.001, Izz = 0.001 }
drive = { inertia = 0.002 }
[[link]]
name = "rod"
parent = "crank"
joint = { name = "p1", type = "revolute", a = 0.1 }
inertia = { about = "com", mass = 0.8, com = [0.15, 0, 0], Iyy = 0.006, Izz = 0.006 }
[[link]]
name = "piston"
parent = "rod"
joint = { name = "p2", type = "revolute", a = 0.3 }
inertia = { about = "com", mass = 1.2, com = [0.02, 0, 0], Izz = 0.001, Ixx = 0.001, Iyy = 0.001 }
[tool]
link = "piston"
[[closure]]                    # the cylinder, along the base frame's x
name = "cylinder"
type = "prismatic"
from = { link = "base", rpy = ["90 deg", 0, "90 deg"] }
to = { link = "piston", rpy = [0, "90 deg", 0] }
[loops]
coordinates = ["q1"]
driven = ["q1"]
start = { q1 = "60 deg", p1 = "-77 deg", p2 = "17 deg" }
"""

_PLATFORM = """
schema = 1
name = "upu3"
convention = "modified"
[[link]]
name = "carriage_x"
parent = "base"
joint = { name = "x", type = "prismatic", gamma = "90 deg", alpha = "90 deg" }
[[link]]
name = "carriage_y"
parent = "carriage_x"
joint = { name = "y", type = "prismatic", gamma = "90 deg", alpha = "90 deg" }
[[link]]
name = "carriage_z"
parent = "carriage_y"
joint = { name = "z", type = "prismatic", gamma = "90 deg", alpha = "90 deg" }
[[link]]
name = "carriage_roll"
parent = "carriage_z"
joint = { name = "roll", type = "revolute", gamma = "90 deg", alpha = "90 deg" }
[[link]]
name = "carriage_pitch"
parent = "carriage_roll"
joint = { name = "pitch", type = "revolute", gamma = "90 deg", alpha = "90 deg" }
[[link]]
name = "platform"
parent = "carriage_pitch"
joint = { name = "yaw", type = "revolute", gamma = "90 deg", alpha = "90 deg" }
inertia = { about = "com", mass = 5, Ixx = 0.15, Iyy = 0.2, Izz = 0.3 }
[tool]
link = "platform"
"""
_LEG = """
[[link]]
name = "gimbal{k}"
parent = "base"
joint = {{ name = "a{k}", type = "revolute", gamma = "{angle} deg", alpha = "90 deg", a = 0.5 }}
inertia = {{ about = "com", mass = 0.3, Ixx = 0.0004, Iyy = 0.0004, Izz = 0.0004 }}
[[link]]
name = "cylinder{k}"
parent = "gimbal{k}"
joint = {{ name = "b{k}", type = "revolute", alpha = "90 deg" }}
inertia = {{ about = "com", mass = 2, com = [0.2, 0, 0], Ixx = 0.002, Iyy = 0.03, Izz = 0.03 }}
[[link]]
name = "piston{k}"
parent = "cylinder{k}"
joint = {{ name = "l{k}", type = "prismatic", gamma = "90 deg", alpha = "90 deg" }}
inertia = {{ about = "com", mass = 1, com = [0, 0, -0.2], Ixx = 0.02, Iyy = 0.02, Izz = 0.0005 }}
drive = {{ inertia = 0.8 }}
[[closure]]                    # its axis on the leg is parallel to b, that on the platform to a
name = "leg{k}"
type = "universal"
from = {{ link = "piston{k}", rpy = ["-90 deg", 0, 0] }}
to = {{ link = "platform", turn = "{angle} deg", xyz = [0.3, 0, 0], rpy = ["90 deg", 0, 0] }}
"""
_LOOPS = """
[loops]
coordinates = ["x", "y", "z"]
driven = ["l1", "l2", "l3"]
[loops.start]
z = 0.6
""" + "".join(f'a{k} = "108 deg"\nl{k} = 0.63\n' for k in (1, 2, 3))
UPU3 = _PLATFORM + "".join(_LEG.format(k=k, angle=120 * (k - 1)) for k in (1, 2, 3)) + _LOOPS


def built(text: str, folder) -> emdeg.Robot:
    """The robot of a file's text."""
    file = folder / "linkage.toml"
    file.write_text(text)
    return emdeg.load(file)


CUSPIDAL = """
schema = 1
name = "cuspidal"
convention = "modified"
[[link]]
name = "one"
parent = "base"
joint = { name = "q1", type = "revolute" }
inertia = { about = "com", mass = 1, com = [0.5, 0, 0], Ixx = 0.1, Iyy = 0.1, Izz = 0.1 }
[[link]]
name = "two"
parent = "one"
joint = { name = "q2", type = "revolute", a = 1, alpha = "-90 deg", d = 1 }
inertia = { about = "com", mass = 1, com = [1, 0, 0], Ixx = 0.1, Iyy = 0.1, Izz = 0.1 }
[[link]]
name = "three"
parent = "two"
joint = { name = "q3", type = "revolute", a = 2, alpha = "90 deg" }
inertia = { about = "com", mass = 1, com = [0.7, 0, 0], Ixx = 0.1, Iyy = 0.1, Izz = 0.1 }
[[link]]
name = "carriage_x"
parent = "base"
joint = { name = "x", type = "prismatic", gamma = "90 deg", alpha = "90 deg" }
[[link]]
name = "carriage_y"
parent = "carriage_x"
joint = { name = "y", type = "prismatic", gamma = "90 deg", alpha = "90 deg" }
[[link]]
name = "carriage"
parent = "carriage_y"
joint = { name = "z", type = "prismatic", gamma = "90 deg", alpha = "90 deg" }
inertia = { about = "com", mass = 1 }
[[closure]]
name = "hand"
type = "spherical"
from = { link = "three", xyz = [1.5, 0, 0] }
to = { link = "carriage" }
[loops]
coordinates = ["x", "y", "z"]
driven = ["q1", "q2", "q3"]
start = { q1 = "-50.92 deg", q2 = "-46.17 deg", q3 = "141.16 deg", x = 2.5, z = 0.5 }
"""
"""Wenger's arm of three orthogonal axes that changes its posture without passing a singular one, its hand on slides."""
