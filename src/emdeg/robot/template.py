"""The robot file that `emdeg new` hands out: complete, valid, every line explained."""

TEMPLATE = """\
# A robot for emdeg: two links in a vertical plane, to be replaced by yours.
# Units: m, kg, kg m^2, N m; angles in radians or as "90 deg", "pi/2".
# Any number may be a symbol instead ("m2"): it then stays a letter in the equations.
# Any number may carry its tolerance and its source:
#     mass = { value = 1.2, tol = 0.05, source = "scales" }
schema = 1
name = "my_robot"                    # lower case letters, digits, _
title = "Two links in a vertical plane"
source = "where the numbers come from: data sheet, paper, measurement"
convention = "modified"              # Denavit-Hartenberg after Craig and Khalil; or "standard"
gravity = [0, 0, -9.81]              # acceleration in the base frame

# Links in order from the base. Each hangs on the one before it, or on the link named by `parent`.
# Modified convention: alpha and a lead from the previous axis to this one, then theta about and d along this axis.
# A revolute joint's variable is added to theta, a prismatic one's to d; the joint axis is the link frame's z axis.

[[link]]
name = "upper_arm"
joint = { name = "shoulder", type = "revolute", alpha = "90 deg", a = 0, d = 0, lower = "-170 deg", upper = "170 deg" }
# about = "com": the tensor is about the mass centre, axes parallel to the link frame's.
# about = "frame": XX XY XZ YY YZ ZZ about the frame's origin, first moments MX MY MZ, mass M.
inertia = { about = "com", mass = 2.0, com = [0.2, 0, 0], Ixx = 0.002, Iyy = 0.03, Izz = 0.03 }
# Inertia and torque as seen at the joint; or motor_inertia and stall_torque with gear_ratio.
drive = { inertia = 0.1, max_torque = 60, viscous = 0.4, coulomb = 1.2 }

[[link]]
name = "forearm"
joint = { name = "elbow", type = "revolute", alpha = 0, a = 0.4, d = 0, lower = "-150 deg", upper = "150 deg" }
inertia = { about = "com", mass = 1.2, com = [0.15, 0, 0], Ixx = 0.001, Iyy = 0.012, Izz = 0.012 }
drive = { inertia = 0.05, max_torque = 25 }

# Where the tool is: a frame on a link.
[tool]
link = "forearm"
xyz = [0.3, 0, 0]

# A load in the hand, if there is one:
# [[payload]]
# name = "cube"
# link = "forearm"
# mass = 1.8
# com = [0.3, 0, 0]
# Ixx = 0.001
# Iyy = 0.001
# Izz = 0.001
"""

LOOP_TEMPLATE = """\
# A mechanism with a closed loop for emdeg: a four-bar linkage in a vertical plane, to be replaced by yours.
# Units: m, kg, kg m^2, N m; angles in radians or as "90 deg", "pi/2".
schema = 1
name = "my_linkage"                  # lower case letters, digits, _
title = "A four-bar linkage"
source = "where the numbers come from: data sheet, paper, measurement"
convention = "modified"              # Denavit-Hartenberg after Craig and Khalil; or "standard"
gravity = [0, 0, -9.81]              # acceleration in the base frame

[base]
rpy = ["90 deg", 0, 0]               # the joints' axes lie level

# The links are a tree, as in any robot file (see `emdeg new`): a loop is cut at one joint, which closes it below.
[[link]]
name = "crank"
parent = "base"
joint = { name = "q1", type = "revolute" }
inertia = { about = "com", mass = 0.5, com = [0.05, 0, 0], Ixx = 0.0001, Iyy = 0.001, Izz = 0.001 }
drive = { inertia = 0.002, viscous = 0.01 }

[[link]]
name = "coupler"
parent = "crank"
joint = { name = "p1", type = "revolute", a = 0.1 }
inertia = { about = "com", mass = 1, com = [0.2, 0, 0], Ixx = 0.0002, Iyy = 0.01, Izz = 0.01 }

[[link]]
name = "rocker"
parent = "base"
joint = { name = "p2", type = "revolute", a = 0.4 }
inertia = { about = "com", mass = 0.8, com = [0.15, 0, 0], Ixx = 0.0001, Iyy = 0.006, Izz = 0.006 }
drive = { viscous = 0.02 }           # joints without a motor may have friction, too

[tool]
link = "coupler"

# What closes the loop: a joint between two frames of the tree (spherical, universal, revolute, prismatic or
# fixed), or a [[rod]] with ball joints at its ends (name, from, to, length, mass, com, inertia).
[[closure]]
name = "pin"
type = "revolute"                    # the origins meet and the z axes are one
from = { link = "coupler", xyz = [0.4, 0, 0] }
to = { link = "rocker", xyz = [0.3, 0, 0] }

[loops]
coordinates = ["q1"]                 # joints of the tree that say where the mechanism is: as many as it has freedoms
driven = ["q1"]                      # joints with motors
# Where the loops close, roughly: it says which way of closing is meant. `emdeg loops FILE --branches` lists them.
start = { q1 = "60 deg", p1 = "-10 deg", p2 = "100 deg" }
# modes = { pin = -1 }               # the other way of a single loop, by its name
"""
"""A mechanism, for `emdeg new --loop`."""
