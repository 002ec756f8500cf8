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

FOLDING = """
schema = 1
name = "folding"
convention = "modified"
[[link]]
name = "l0"
parent = "base"
[link.joint]
name = "q0"
type = "revolute"
a = 0.185
theta = 0.314
d = 0.156
gamma = -0.105
b = 0.339
beta = -1.433
[[link]]
name = "l1"
parent = "l0"
joint = { name = "q1", type = "revolute", alpha = -0.943, a = 0.032, theta = 0.023, gamma = -0.065, b = 0.343 }
[[link]]
name = "l2"
parent = "l1"
joint = { name = "q2", type = "revolute", theta = 1.427, gamma = -1.407, b = -0.487, beta = -0.27 }
[[link]]
name = "l3"
parent = "l2"
joint = { name = "q3", type = "revolute", alpha = -0.671, a = 0.222, d = 0.303, gamma = 1.312, beta = 0.745 }
[[link]]
name = "l4"
parent = "base"
[link.joint]
name = "q4"
type = "revolute"
alpha = -0.115
a = -0.166
theta = -0.95
d = 0.157
b = -0.166
beta = -0.53
[[rod]]
name = "r0"
length = 1.6028290462759456
mass = 0.4
com = 0.4
inertia = 0.01
from = { link = "l3", xyz = [0.188, -0.257, 0.1] }
to = { link = "base", xyz = [0.487, -0.176, -0.406] }
[[closure]]
name = "c0"
type = "spherical"
from = { link = "l3", xyz = [-0.398, 0.035, -0.141] }
to = { link = "l4", xyz = [0.5089175406645674, 0.20841651909781606, 0.2061656002280713] }
[loops]
coordinates = ["q0"]
driven = ["q0"]
[loops.start]
q0 = 0.5952646196360476
q1 = -0.5328791147344385
q2 = -0.7740649505526274
q3 = 0.03670225738313415
q4 = 0.4885998893423755
"""
"""A spatial mechanism whose branch ends at q0 = 0.6208, and another, apart from it, that does not."""

CARRIED = """
schema = 1
name = "carried"
convention = "modified"
[[link]]
name = "l0"
parent = "base"
joint = { name = "q0", type = "revolute", alpha = 0.3, a = 0.1 }
inertia = { about = "com", mass = 1.0, com = [0.1, 0, 0], Ixx = 0.01, Iyy = 0.01, Izz = 0.01 }
[[link]]
name = "l1"
parent = "l0"
joint = { name = "q1", type = "revolute", alpha = 0.5, a = 0.4 }
inertia = { about = "com", mass = 1.0, com = [0.1, 0, 0], Ixx = 0.01, Iyy = 0.01, Izz = 0.01 }
[[link]]
name = "l2"
parent = "l1"
joint = { name = "q2", type = "revolute", a = 0.3, d = 0.1 }
inertia = { about = "com", mass = 1.0, com = [0.1, 0, 0], Ixx = 0.01, Iyy = 0.01, Izz = 0.01 }
[[link]]
name = "l3"
parent = "l2"
joint = { name = "q3", type = "revolute", alpha = 1.2, a = 0.2 }
inertia = { about = "com", mass = 1.0, com = [0.1, 0, 0], Ixx = 0.01, Iyy = 0.01, Izz = 0.01 }
[[link]]
name = "l4"
parent = "l0"
joint = { name = "q4", type = "prismatic", alpha = -0.3, a = 0.2 }
inertia = { about = "com", mass = 1.0, com = [0.1, 0, 0], Ixx = 0.01, Iyy = 0.01, Izz = 0.01 }
[[rod]]
name = "r0"
length = 0.8760124352402964
from = { link = "l3", xyz = [0.1, 0.2, 0.0] }
to = { link = "base", xyz = [0.3, -0.5, 0.1] }
[[closure]]
name = "c0"
type = "spherical"
from = { link = "l3", xyz = [0.1, 0.0, 0.1] }
to = { link = "l4", xyz = [0.7882864123487716, -0.03303184238965543, 0.1136271858752457] }
[loops]
coordinates = ["q3"]
driven = ["q3"]
start = { q0 = 0.1, q1 = 0.2, q2 = 0.3, q3 = 0.4, q4 = 0.1 }
"""
"""A loop on a link that moves, whose joint is known by a rod from the loop alone."""

TOO_MANY = """
schema = 1
name = "too_many"
convention = "modified"
[[link]]
name = "l0"
parent = "base"
joint = { name = "q0", type = "revolute", alpha = 0.3, a = 0.1 }
[[link]]
name = "l1"
parent = "l0"
joint = { name = "q1", type = "revolute", alpha = -1.1, a = 0.2, d = 0.1 }
[[link]]
name = "l2"
parent = "l1"
joint = { name = "q2", type = "revolute", alpha = 0.7, a = 0.3 }
[[link]]
name = "l3"
parent = "base"
joint = { name = "q3", type = "revolute", gamma = 0.5, alpha = 0.4, a = 0.5, b = 0.2 }
[[link]]
name = "l4"
parent = "l3"
joint = { name = "q4", type = "revolute", alpha = 1.2, a = 0.3 }
[[link]]
name = "l5"
parent = "l4"
joint = { name = "q5", type = "revolute", alpha = -0.6, a = 0.2, d = 0.2 }
[[closure]]
name = "c0"
type = "spherical"
from = { link = "l2", xyz = [0.2, 0.0, 0.1] }
to = { link = "l5", xyz = [-0.3760205421798209, 0.03833846522264717, -0.05261336428177646] }
[loops]
coordinates = ["q0", "q1", "q2", "q3"]
driven = ["q0", "q1", "q2", "q3"]
start = { q0 = 0.1, q1 = 0.2, q2 = 0.3, q3 = 0.4, q4 = 0.5, q5 = 0.6 }
"""
"""A ring in space with a coordinate more than it has freedoms."""
