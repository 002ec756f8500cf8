"""The campaign that `emdeg new --campaign` hands out: complete, valid, every line explained."""

CAMPAIGN = """\
# A measuring campaign for emdeg: raw readings in, a robot with tolerances out (emdeg measure).
# Units: m, kg, s, N m, N m/rad, rad. A reading is
#     1.2                                        exact
#     [1.21, 1.19, 1.20]                         read several times
#     { value = 1.2, tol = 0.01, tol_percent = 1, source = "scales" }
#     { values = [20.2, 20.4], over = 10, tol = 0.1 }      the time of ten periods, twice
# A tolerance is the instrument's; the scatter of repeated readings is added by itself.
schema = 1
name = "planar2r_measured"
title = "Two links, measured"
source = "who measured what, when, with which instruments"
robot = "planar2r"                   # its geometry; what is not measured below stays as it is there
gravity = { value = 9.81, tol = 0.005 }
# nonphysical = "why"                # if the readings are right although no rigid body has them

# A body that was taken off, weighed, balanced and swung. A body that bears a link's name becomes that link.
[[body]]
name = "link1"                       # positions and axes are those of the link (or frame) called `frame`,
# frame = "link1"                    # by default the one of the body's own name
mass = { value = 2.0, tol = 0.01 }
# Balance points on a knife edge, once across each axis; 0 is a balance point by symmetry.
com = [{ values = [0.199, 0.201, 0.200], tol = 0.001 }, 0, 0]
Ixx = { value = 0.002, tol_percent = 50, source = "estimated" }      # a moment that was not swung
# Two-wire suspension: turning about the vertical through the mass centre, which is this axis of the frame.
[body.swing.z]
distance = { value = 0.15, tol = 0.0005 }      # from a wire to the axis; other_distance if the second differs
length = { value = 1.5, tol = 0.002 }          # of the wires
period = { values = [20.1, 20.2, 20.15], over = 10, tol = 0.05 }     # or frequency [Hz]
amplitude = { value = 0.1, tol = 0.02 }        # of the swing [rad]: large ones take longer
[body.swing.y]
distance = { value = 0.15, tol = 0.0005 }
length = { value = 1.5, tol = 0.002 }
period = { values = [20.1, 20.1, 20.2], over = 10, tol = 0.05 }

# A body known from its dimensions: cylinder (radius, length, inner_radius; along = "x"), sphere (radius) or
# box (x, y, z) of uniform density; shell = true for a thin one. density [kg/m^3, kg/m^2] may stand for mass.
[[body]]
name = "tip"
frame = "link2"
mass = { value = 0.3, tol = 0.005 }
com = [{ value = 0.35, tol = 0.002 }, 0, 0]
shape = { kind = "cylinder", along = "x", shell = true, radius = { value = 0.03, tol = 0.0005 }, length = 0.1 }

# Measured together with the tip; moments and products of inertia may be stated, about the mass centre.
[[body]]
name = "whole"
frame = "link2"
mass = { value = 1.3, tol = 0.01 }
com = [{ value = 0.2, tol = 0.002 }, 0, 0]
Ixx = { value = 0.002, tol_percent = 50 }
Iyy = { value = 0.03, tol_percent = 4 }
Izz = { value = 0.03, tol_percent = 4 }

# Addition and subtraction of bodies described above, at `pose` (joint positions) where their frames differ.
[[body]]
name = "link2"
plus = ["whole"]
minus = ["tip"]
diagonal = true                      # leave products of inertia about the mass centre out

# A drive: the joint swung on a spring that its own motor made; the arm's share is taken off.
[[drive]]
joint = "q1"
pose = ["-90 deg", 0]                # hanging: where gravity holds it, the other joints locked
stiffness = { value = 60.0, tol_percent = 1 }
period = { values = [12.41, 12.44, 12.43], over = 10, tol = 0.02 }
peaks = { values = [0.300, 0.262, 0.227, 0.196, 0.167], tol = 0.001 }  # sizes of the turning points [rad]
# damping = -0.1                     # the ratio of the oscillation instead, where it is known
# feedback = 0.5                     # positive velocity feedback [N m s/rad] that was added
gear_ratio = 50
max_torque = 40
break_away = [1.1, 1.3, 1.2]
"""
