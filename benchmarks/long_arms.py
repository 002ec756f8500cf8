"""Arms longer than any robot of the library, whose programs have more values than a GPU's thread has registers."""

from __future__ import annotations

import tempfile
from pathlib import Path

import emdeg

JOINTS = (12, 30)
DYNAMICS = ("inverse_dynamics", "forward_dynamics", "mass_matrix")


def chain(joints: int) -> emdeg.Robot:
    """A serial arm of that many joints, axes in turn across and along."""
    text = ["schema = 1", f'name = "chain{joints}"', 'convention = "modified"']
    for k in range(joints):
        twist, length = ("90 deg" if k % 2 else "-90 deg", 0.1) if k else ("0 deg", 0)
        joint = f'name = "q{k + 1}", type = "revolute", alpha = "{twist}", a = {length}, d = 0.1'
        inertia = 'about = "com", mass = 1, com = [0.05, 0.01, 0.02], Ixx = 0.01, Iyy = 0.02, Izz = 0.03'
        text += ["[[link]]", f'name = "link{k + 1}"', f"joint = {{ {joint} }}", f"inertia = {{ {inertia} }}"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"chain{joints}.toml")
        path.write_text("\n".join(text), encoding="utf-8")
        return emdeg.load(path)
