"""Arms written out for the tests of the equations: symbols in the geometry and the bodies, their values beside them."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations

from emdeg.algebra import Angle, Exact, TrigAlgebra, TrigPoly
from emdeg.dynamics.formulations import composite_body, energy
from emdeg.dynamics.mechanism import frames, mechanism_of
from emdeg.robot.model import BASE, Drive, Inertia, Joint, Link, Placement, Robot
from emdeg.robot.substitution import substitute

RIGHT = Angle.parse("90 deg")


@dataclass
class Arm:
    """A chain under construction; `values` and `tolerances` belong to the symbols its text mentions."""

    name: str
    links: list[Link] = field(default_factory=list)
    values: dict[str, Fraction] = field(default_factory=dict)
    tolerances: dict[str, Fraction] = field(default_factory=dict)

    def value(self, text) -> Exact:
        """A number, the name of a symbol, or "name=value" or "name=value+-tolerance" of a new symbol."""
        if not isinstance(text, str):
            return Exact.of(Fraction(str(text)))
        name, _, rest = text.partition("=")
        number, _, tolerance = rest.partition("+-")
        if number:
            self.values[name] = Fraction(number)
        if tolerance.endswith("%"):
            self.tolerances[name] = abs(self.values[name]) * Fraction(tolerance[:-1]) / 100
        elif tolerance:
            self.tolerances[name] = Fraction(tolerance)
        return Exact.symbol(name)

    def link(
        self,
        alpha="0",
        a=0,
        d=0,
        m=0,
        r=(0, 0, 0),
        I=(0, 0, 0, 0, 0, 0),
        drive=0,
        kind="revolute",
        theta="0",
    ) -> Arm:
        """One more link: tensor (xx, yy, zz, xy, xz, yz) about the mass centre r."""
        xx, yy, zz, xy, xz, yz = (self.value(v) for v in (*I, 0, 0, 0)[:6])
        inertia = Inertia.about_mass_center(self.value(m), tuple(self.value(v) for v in r), (xx, xy, xz, yy, yz, zz))
        place = Placement(Angle.parse(alpha), self.value(a), Angle.parse(theta), self.value(d))
        k = len(self.links)
        joint = Joint(f"q{k + 1}", kind, place, drive=Drive(inertia=self.value(drive)))
        self.links.append(Link(f"link{k + 1}", k - 1 if k else BASE, joint, inertia))
        return self

    @property
    def robot(self) -> Robot:
        return Robot(self.name, tuple(self.links))

    @property
    def numeric(self) -> Robot:
        return substitute(self.robot, {name: self.values[name] for name in self.robot.symbols})


def formulas(robot: Robot) -> dict[str, TrigPoly]:
    """{entry: formula}: M11, M12, ..., b112, ..., c11, ..., g1, ... of the explicit model, indices from 1."""
    n = robot.n
    names = sorted(robot.symbols)
    angles = [a for link in robot.links for a in (link.joint.placement.alpha, link.joint.placement.theta)]
    algebra = TrigAlgebra(
        [i + 1 for i, j in enumerate(robot.joints) if j.kind == "revolute"],
        [i + 1 for i, j in enumerate(robot.joints) if j.kind == "prismatic"],
        names,
        angles,
    )
    mech = mechanism_of(robot, algebra)
    position = [algebra.joint_sincos(i + 1) if mech.revolute[i] else algebra.displacement(i + 1) for i in range(n)]
    frame = frames(mech, position)
    M = composite_body.mass_matrix(mech, frame)
    V = energy.potential_energy(mech, frame)
    dM = [[[M[i][j].derivative(k + 1) for k in range(n)] for j in range(n)] for i in range(n)]

    def beta(i, j, k):
        return (dM[i][j][k] + dM[i][k][j] - dM[j][k][i]) / 2

    found = {f"M{i + 1}{j + 1}": M[i][j] for i in range(n) for j in range(i, n)}
    for i in range(n):
        for j, k in combinations(range(n), 2):
            found[f"b{i + 1}{j + 1}{k + 1}"] = 2 * beta(i, j, k)
    found |= {f"c{i + 1}{j + 1}": beta(i, j, j) for i in range(n) for j in range(n)}
    found |= {f"g{i + 1}": V.derivative(i + 1) for i in range(n)}
    return found


def puma560() -> Arm:
    """Armstrong, Khatib, Burdick: Tables A1, 4, 5, 6; masses +-(0.01 + 1 %), the wrist's +-25 % and +-50 %."""
    return (
        Arm("puma560")
        .link(I=(0, 0, "Izz1=0.35"), drive="Ia1=1.14+-0.27")
        .link(
            "-90 deg",
            d="d2=0.2435",
            m="m2=17.40+-0.184",
            r=("rx2=0.068+-0.003", "ry2=0.006+-0.003", "rz2=-0.016+-0.003"),
            I=("Ixx2=0.130+-3%", "Iyy2=0.524+-5%", "Izz2=0.539+-3%"),
            drive="Ia2=4.71+-0.54",
        )
        .link(
            "0",
            a="a2=0.4318",
            d="d3=-0.0934",
            m="m3=4.80+-0.058",
            r=(0, "ry3=-0.070+-0.003", "rz3=0.014+-0.003"),
            I=("Ixx3=0.066+-0.00768", "Iyy3=0.0125+-0.00077", "Izz3=0.086+-0.00848"),
            drive="Ia3=0.83+-0.09",
        )
        .link(
            "90 deg",
            a="a3=-0.0203",
            d="d4=0.4331",
            m="m4=0.82+-25%",
            r=(0, 0, "rz4=-0.019+-25%"),
            I=("Ixx4=0.0018+-50%", "Iyy4=0.0018+-50%", "Izz4=0.0013+-50%"),
            drive="Ia4=0.200+-0.016",
        )
        .link(
            "-90 deg",
            m="m5=0.34+-25%",
            I=("Ixx5=0.0003+-50%", "Iyy5=0.0003+-50%", "Izz5=0.0004+-50%"),
            drive="Ia5=0.179+-0.014",
        )
        .link(
            "90 deg",
            m="m6=0.09+-25%",
            r=(0, 0, "rz6=0.032+-25%"),
            I=("Ixx6=0.00015+-50%", "Ixx6", "Izz6=0.00004+-50%"),
            drive="Ia6=0.193+-0.015",
        )
    )


def planar(joints: int) -> Arm:
    """A planar arm in the vertical plane, its links' mass centres off their lines."""
    arm = Arm(f"planar{joints}r")
    for k in range(1, joints + 1):
        place = {"alpha": "90 deg"} if k == 1 else {"a": f"a{k - 1}=0.{4 + k}"}
        arm.link(
            **place,
            m=f"m{k}={6 - k}",
            r=(f"rx{k}=0.{k}2", f"ry{k}=0.0{k}", 0),
            I=(0, 0, f"Izz{k}=0.1{k}"),
            drive=f"Ia{k}=0.5",
        )
    return arm


def scara() -> Arm:
    """Two vertical parallel axes, a vertical slide, and a wrist that turns about the vertical."""
    return (
        Arm("scara")
        .link(m="m1=3", r=("rx1=0.1", 0, 0), I=(0, 0, "Izz1=0.02"), drive="Ia1=0.3")
        .link(a="a1=0.3", m="m2=2", r=("rx2=0.12", 0, 0), I=(0, 0, "Izz2=0.01"), drive="Ia2=0.2")
        .link(a="a2=0.25", m="m3=1", r=("rx3=0.01", 0, 0), kind="prismatic", drive="Ia3=4")
        .link(m="m4=0.5", r=("rx4=0.03", "ry4=0.02", 0), I=(0, 0, "Izz4=0.001"), drive="Ia4=0.01")
    )


def stanford() -> Arm:
    """The Stanford arm's chain: two crossed axes, a slide, a spherical wrist."""
    return (
        Arm("stanford")
        .link(I=(0, 0, "Izz1=0.3"))
        .link("-90 deg", d="d2=0.16", m="m2=5", r=(0, "ry2=-0.05", 0), I=("Ixx2=0.1", "Iyy2=0.02", "Izz2=0.1"))
        .link("90 deg", m="m3=4", r=(0, 0, "rz3=-0.6"), I=("Ixx3=2.5", "Iyy3=2.5", "Izz3=0.01"), kind="prismatic")
        .link(m="m4=1", r=(0, 0, "rz4=0.02"), I=("Ixx4=0.002", "Iyy4=0.001", "Izz4=0.001"))
        .link("-90 deg", m="m5=0.6", r=(0, "ry5=0.03", 0), I=("Ixx5=0.003", "Iyy5=0.0004", "Izz5=0.003"))
        .link("90 deg", m="m6=0.5", r=(0, 0, "rz6=0.15"), I=("Ixx6=0.013", "Ixx6", "Izz6=0.0003"))
    )


def jpl_rrp() -> Arm:
    """The chain of the JPL arm's first three links: two crossed axes and a slide."""
    return (
        Arm("jpl_rrp")
        .link(m="m1=9.29", r=(0, "ry1=0.0175", "rz1=-0.11"), I=(0, 0, "Izz1=0.255"), drive="Ia1=0.953")
        .link("-90 deg", d="d2=0.2", m="m2=5.5", r=(0, "ry2=-0.1", "rz2=0.01"), I=("Ixx2=0.1", "Iyy2=0.02", "Izz2=0.1"))
        .link("90 deg", m="m3=4.25", r=(0, 0, "rz3=-0.6"), I=("Ixx3=2.5", "Iyy3=2.5", "Izz3=0.006"), kind="prismatic")
    )


def seven() -> Arm:
    """Seven crossed axes with numbers only."""
    arm = Arm("seven")
    turns = ["0", "-90 deg", "90 deg", "90 deg", "-90 deg", "90 deg", "90 deg"]
    for k, alpha in enumerate(turns, 1):
        arm.link(
            alpha,
            a={4: 0.0825, 5: -0.0825, 7: 0.088}.get(k, 0),
            d={1: 0.333, 3: 0.316, 5: 0.384}.get(k, 0),
            m=4 - 0.5 * k + 0.25,
            r=(0.01 * k, -0.02, 0.03),
            I=(0.02, 0.03, 0.01, 0.001, -0.002, 0.003),
        )
    return arm
