"""Writes examples/puma560_campaign.toml: the bench of Armstrong, Khatib and Burdick, section 5, as a campaign file.

The paper prints masses, mass centres, moments and drive inertias with their tolerances (Tables 4 to 7), not the
readings behind the moments. Here the wires and the springs are chosen, and the periods computed that would have led
to the printed values; their tolerances are those that make the printed ones.

    python examples/make_puma_campaign.py
"""

from __future__ import annotations

import math
import sys
import tempfile
from pathlib import Path

from emdeg.papers.bench import measure, read_campaign

FILE = Path(__file__).with_name("puma560_campaign.toml")
G, DISTANCE, LENGTH = 9.81, 0.15, 1.5
SWUNG = {  # Tables 4, 5 and 6: mass, mass centre, moments and their tolerances in per cent
    "link2": (17.40, (0.068, 0.006, -0.016), (0.130, 0.524, 0.539), (3, 5, 3)),
    "link3_with_wrist": (6.04, (0, -0.143, 0.014), (0.192, 0.0154, 0.212), (4, 5, 4)),
}
WRIST = {
    "link4": (0.82, -0.019, (1.80e-3, 1.80e-3, 1.30e-3)),
    "link5": (0.34, 0, (0.30e-3, 0.30e-3, 0.40e-3)),
    "link6": (0.09, 0.032, (0.15e-3, 0.15e-3, 0.04e-3)),
}
DRIVES = {  # Tables 6 and 7: drive inertia, its tolerance, gear ratio, largest and break-away torque; the spring
    "q1": (1.14, 0.27, 62.61, 97.6, 6.3, 200),
    "q2": (4.71, 0.54, 107.36, 186.4, 5.5, 400),
    "q3": (0.83, 0.09, 53.69, 89.4, 2.6, 100),
    "q4": (0.200, 0.016, 76.01, 24.2, 1.3, 20),
    "q5": (0.179, 0.014, 71.91, 20.1, 1.0, 20),
    "q6": (0.193, 0.015, 76.73, 21.3, 1.2, 20),
}
DAMPING = -0.1  # joint 1 needed positive velocity feedback

HEAD = """\
# Written by examples/make_puma_campaign.py: see there which readings are the paper's and which are chosen.
schema = 1
name = "puma560_measured"
title = "Unimation PUMA 560, from the bench"
source = "B. Armstrong, O. Khatib, J. Burdick, 1986, section 5: Tables 4 to 7"
robot = "puma560"
gravity = 9.81
nonphysical = "Link 3 breaks the triangle inequality, being a difference; of link 1 only the moment about z is known."

[[body]]
name = "link1"
mass = { value = 0, source = "not removed from the base: its mass does no work" }
Ixx = 0
Iyy = 0
Izz = { value = 0.35, source = "Table 6: computed backwards from the total at the joint" }
"""


def main() -> int:
    text = campaign()
    changed = not FILE.exists() or FILE.read_text() != text
    FILE.write_text(text)
    sys.stdout.write(f"{FILE.name} {'written' if changed else 'is up to date'}\n")
    return 0


def campaign() -> str:
    """The file: bodies first; then the drives, which need the arm's share that the bodies give."""
    bodies = HEAD + "".join(map(_swung, SWUNG)) + "".join(map(_wrist_link, WRIST)) + _LINK3
    with tempfile.TemporaryDirectory() as folder:
        trial = Path(folder) / "trial.toml"
        trial.write_text(bodies + "".join(_drive(joint, 1.0, 0.0) for joint in DRIVES))
        outcome = measure(read_campaign(trial), allow_nonphysical=True)
    drives = []
    for joint, (inertia, tolerance, *_, k) in DRIVES.items():
        total, drive = outcome[f"{joint}.total"], outcome[f"{joint}.drive.inertia"]
        stiffness = total.value * (2 * math.pi) ** 2 / (1 - _damping(joint) ** 2)  # the period tried was 1 s
        wanted = inertia + total.value - drive.value
        period = 2 * math.pi * math.sqrt(wanted / stiffness / (1 - _damping(joint) ** 2))
        # What the period must be uncertain by, so that with the arm's share the printed tolerance comes out.
        rest = math.sqrt(max(0.0, tolerance**2 - _arm_tolerance(drive.parts, total.parts, period) ** 2))
        assert k > 0
        drives.append(_drive(joint, period, rest / (2 * wanted) * period))
    return bodies + "".join(drives)


def _arm_tolerance(drive: dict, total: dict, period: float) -> float:
    """The arm's part of a drive's tolerance when the period is this one instead of 1 s."""
    names = set(drive) | set(total)
    return math.hypot(*(drive.get(n, 0.0) + total.get(n, 0.0) * (period**2 - 1) for n in names))


def _damping(joint: str) -> float:
    return DAMPING if joint == "q1" else 0.0


def _swung(name: str) -> str:
    mass, com, moments, percents = SWUNG[name]
    places = ", ".join(f"{{ value = {v}, tol = 0.003 }}" for v in com)
    text = f'\n[[body]]\nname = "{name}"\nframe = "{name[:5]}"\n'
    text += f'mass = {{ value = {mass}, tol = 0.01, tol_percent = 1, source = "Table 4" }}\ncom = [{places}]\n'
    of_mass = (0.01 + 0.01 * mass) / mass
    for axis, moment, percent in zip("xyz", moments, percents):
        period = 2 * math.pi * math.sqrt(moment * LENGTH / (mass * G * DISTANCE**2))
        share = 50 * math.sqrt((percent / 100) ** 2 - of_mass**2)
        text += f"[body.swing.{axis}]\ndistance = {DISTANCE}\nlength = {LENGTH}\n"
        text += f"period = {{ value = {period:.7g}, tol_percent = {share:.5g} }}\n"
    return text


def _wrist_link(name: str) -> str:
    mass, z, moments = WRIST[name]
    at = f"{{ value = {z}, tol_percent = 25 }}" if z else "0"
    text = f'\n[[body]]\nname = "{name}"\nmass = {{ value = {mass}, tol_percent = 25, source = "Table 4" }}\n'
    text += f"com = [0, 0, {at}]\n"
    rows = (f'{key} = {{ value = {v}, tol_percent = 50, source = "Table 6" }}\n' for key, v in zip(_MOMENTS, moments))
    return text + "".join(rows)


_MOMENTS = ("Ixx", "Iyy", "Izz")
_LINK3 = """
[[body]]
name = "link3"
plus = ["link3_with_wrist"]
minus = ["link4", "link5", "link6"]
diagonal = true
"""


def _drive(joint: str, period: float, tolerance: float) -> str:
    _, _, ratio, largest, break_away, stiffness = DRIVES[joint]
    text = f'\n[[drive]]\njoint = "{joint}"\nstiffness = {stiffness}\n'
    text += f"period = {{ value = {period:.8g}, tol = {tolerance:.6g} }}\n"
    text += f"damping = {DAMPING}\n" if joint == "q1" else ""
    text += f"gear_ratio = {ratio}\nmax_torque = {largest}\nbreak_away = {break_away}\n"
    return text


if __name__ == "__main__":
    raise SystemExit(main())
