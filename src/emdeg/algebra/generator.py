"""The letters of a formula: joint sines and cosines, displacements, rates, parameters."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from emdeg.algebra.angle import Angle

Kind = Literal["sine", "cosine", "displacement", "rate", "acceleration", "parameter"]

GREEK = frozenset(
    re.findall(
        "[A-Za-z]+",
        "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon"
        " phi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega",
    )
)
_HEAD = re.compile(r"([A-Za-z]+)_*(.*)\Z")


@dataclass(frozen=True, slots=True)
class Generator:
    """One letter: `kind` says what it measures, `of` whose it is.

    `of` is a joint's number, a parameter's name, or the constant angle whose sine or cosine it is.

    >>> print(Generator("sine", 2), Generator("rate", 1), Generator("parameter", "m3"))
    s2 qd1 m3
    """

    kind: Kind
    of: int | str | Angle

    @property
    def is_joint_angle(self) -> bool:
        """Whether this is the sine or cosine of a joint's angle."""
        return self.kind in ("sine", "cosine") and isinstance(self.of, int)

    def __str__(self) -> str:
        if self.kind in ("sine", "cosine"):
            if isinstance(self.of, int):
                return f"{self.kind[0]}{self.of}"
            return f"{self.kind[:3]}({self.of})"
        prefix = {"displacement": "q", "rate": "qd", "acceleration": "qdd", "parameter": ""}[self.kind]
        return f"{prefix}{self.of}"

    @property
    def latex(self) -> str:
        """LaTeX for this letter; every character of a parameter's name is a letter, a digit or _."""
        if self.kind in ("sine", "cosine"):
            if isinstance(self.of, int):
                return f"{self.kind[0]}_{{{self.of}}}"
            return rf"\{self.kind[:3]}\left({_angle_latex(self.of)}\right)"
        if self.kind == "parameter":
            return name_latex(str(self.of))
        dots = {"displacement": "q", "rate": r"\dot{q}", "acceleration": r"\ddot{q}"}[self.kind]
        return f"{dots}_{{{self.of}}}"


def name_latex(name: str) -> str:
    """LaTeX for a symbol's name: what follows its first letters becomes a subscript.

    >>> print(name_latex("m2"), name_latex("Ixx_3"), name_latex("alpha"))
    m_{2} \\mathrm{Ixx}_{3} \\alpha
    """
    match = _HEAD.match(name)
    if match is None:
        raise ValueError(f"{name!r} is not a symbol's name (a letter, then letters, digits or _)")
    head, tail = match[1], match[2].strip("_").replace("_", ",")
    if head in GREEK:
        head = f"\\{head}"
    elif len(head) > 1:
        head = rf"\mathrm{{{head}}}"
    return f"{head}_{{{tail}}}" if tail else head


def _angle_latex(angle: str | Angle) -> str:
    if isinstance(angle, str):
        return name_latex(angle)
    parts = []
    if angle.pi_times:
        p, q = angle.pi_times.numerator, angle.pi_times.denominator
        multiple = {1: "", -1: "-"}.get(p, str(p)) + r"\pi"
        parts.append(multiple if q == 1 else rf"\frac{{{multiple}}}{{{q}}}")
    if angle.radians:
        parts.append(repr(float(angle.radians)))
    if angle.symbol is not None:
        parts.append(name_latex(angle.symbol))
    return " + ".join(parts)
