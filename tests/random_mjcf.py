"""Random MJCF documents from a grammar: whatever changes how bodies move in MuJoCo, and much that does not."""

from __future__ import annotations

from random import Random

MESH = '<mesh name="wedge" vertex="0 0 0  0.2 0 0  0 0.3 0  0 0 0.1"/>'


def random_mjcf(rng: Random) -> str:
    """A document with one to six moving joints or so; now and then one that must be refused."""
    return _Writer(rng).document()


class _Writer:
    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.joints: list[str] = []
        self.bodies = 0
        self.classes = ["one", "two", "three"]
        self.stated = rng.random() < 0.1  # every inertia is
        self.rarely = rng.random() < 0.3  # what is seldom seen comes in company

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def number(self, low: float = -1.0, high: float = 1.0) -> str:
        value = self.rng.uniform(low, high)
        written = [f"{value:.3g}", f"{value:.6f}", f"{value:.2e}", str(round(value, 1))]
        return self.rng.choice(written[: 3 if low > 0 else 4])

    def numbers(self, count: int, low: float = -1.0, high: float = 1.0) -> str:
        return " ".join(self.number(low, high) for _ in range(count))

    def some(self, share: float = 0.5, **choices: str) -> str:
        """Each attribute with that chance."""
        return "".join(f' {key}="{value}"' for key, value in choices.items() if self.chance(share))

    def document(self) -> str:
        r = self.rng
        compiler = self.some(
            0.3,
            angle=r.choice(["radian", "degree"]),
            eulerseq=r.choice(["xyz", "XYZ", "zyx", "ZXZ", "yXz"]),
            balanceinertia="true",
            inertiafromgeom=r.choice(["true", "auto", "auto"]) if not self.stated else "false",
            inertiagrouprange=r.choice(["0 10", "0 5", "1 3", "2 2", "3 12", "0 0"]),
        )
        compiler += self.some(
            0.15,
            boundmass=self.number(0.01, 0.5),
            boundinertia=self.number(0.001, 0.1),
            settotalmass=self.number(-1, 20),
            fusestatic=r.choice(["true", "false"]),
            discardvisual="true",
            coordinate="local",
            alignfree="true",
            saveinertial="true",
        )
        again = f"<compiler{self.some(0.3, angle='radian', settotalmass='7', inertiagrouprange='0 2')}/>"
        parts = [f"<compiler{compiler}/>", again if self.chance(0.1) else "", self.option(), self.defaults()]
        parts.append(f"<asset>{MESH}</asset>")
        if self.chance(0.2):
            parts.append('<size njmax="50"/><statistic extent="2"/><visual><global fovy="40"/></visual>')
        world = self.shapes(0.3) + "".join(self.body(0) for _ in range(r.choice([1, 1, 1, 2])))
        parts.append(f"<worldbody>{world}</worldbody>")
        parts += self.others()
        return f"<mujoco model='random'>{''.join(parts)}</mujoco>"

    def option(self) -> str:
        r = self.rng
        values = self.some(0.4, gravity=self.numbers(3, -10, 10), integrator=r.choice(["Euler", "implicit"]))
        values += self.some(0.08, density=self.number(0, 1000), viscosity=self.number(0, 1), wind=self.numbers(3))
        on_off = ["enable", "disable"]
        names = ("gravity", "spring", "damper", "frictionloss", "constraint", "contact", "eulerdamp", "energy")
        flag = self.some(0.1, **{name: r.choice(on_off) for name in names}) if self.chance(0.4) else ""
        return f"<option{values}>{f'<flag{flag}/>' if flag else ''}</option>"

    def defaults(self) -> str:
        if self.chance(0.3):
            self.classes = []
            return ""
        inner = f'<default class="three">{self.default_content()}</default>'
        two = f'<default class="two">{self.default_content()}{inner}</default>'
        one = f'<default class="one">{self.default_content()}</default>'
        main = ' class="main"' if self.chance(0.5) else ""
        return f"<default{main}>{self.default_content()}{one}{two}</default>"

    def default_content(self) -> str:
        r = self.rng
        joint = self.joint_values(0.15) + self.some(0.15, type=r.choice(["hinge", "slide"]), axis=self.axis())
        geom = self.some(0.15, density=self.number(0, 2000), mass=self.number(0, 2), group=str(r.randrange(6)))
        geom += self.some(0.15, type=r.choice(["box", "sphere"]), size="0.1 0.2 0.15")
        geom += self.some(0.1, contype="0", conaffinity="0", rgba="1 0 0 1")
        motor = f'<motor armature="{self.number(0, 1)}"/>' if self.chance(0.02) else ""
        return f"<joint{joint}/><geom{geom}/>{motor}"

    def axis(self) -> str:
        return self.rng.choice(["1 0 0", "0 1 0", "0 0 1", "0 0 -2", "1 1 0", "0.3 -0.5 0.8"])

    def of_class(self) -> str:
        return f' class="{self.rng.choice(self.classes)}"' if self.classes and self.chance(0.25) else ""

    def place(self, share: float = 0.7) -> str:
        turn = {
            "quat": self.numbers(4),
            "axisangle": f"{self.axis()} {self.number(-3, 3)}",
            "euler": self.numbers(3, -90, 90),
            "xyaxes": "0 1 0.1 -1 0 0.3",
            "zaxis": self.numbers(3),
        }
        key = self.rng.choice(list(turn))
        return self.some(share, pos=self.numbers(3)) + self.some(share / 2, **{key: turn[key]})

    def body(self, depth: int) -> str:
        r = self.rng
        self.bodies += 1
        name = f' name="b{self.bodies}"' if self.chance(0.8) else ""
        childclass = f' childclass="{r.choice(self.classes)}"' if self.classes and self.chance(0.2) else ""
        extra = self.some(0.05, gravcomp=self.number(0, 1.5), user="1") if self.rarely else ""
        joints = "" if self.chance(0.2) else "".join(self.joint() for _ in range(r.choice([1, 1, 1, 1, 1, 1, 2, 3])))
        inside = joints
        stated = self.stated or self.chance(0.45)
        inside += self.inertial() if stated else self.shape() if joints else ""
        inside += self.shapes(0.85)
        if self.chance(0.2):
            inside += f"<site{self.place()}/><camera/><light/>"
        if depth < 3:
            inside += "".join(self.body(depth + 1) for _ in range(r.choice([0, 0, 1, 1, 2])))
        if self.chance(0.12):
            inside += f"<frame{self.place()}{self.frame_values()}>{self.shapes(0.7)}</frame>"
        whole = f"<body{name}{childclass}{extra}{self.place()}>{inside}</body>"
        if self.chance(0.12):
            whole = f"<frame{self.place()}{self.frame_values()}>{whole}</frame>"
        return whole

    def frame_values(self) -> str:
        values = f' childclass="{self.rng.choice(self.classes)}"' if self.classes and self.chance(0.3) else ""
        if self.rarely:
            values += self.some(
                0.2,
                scale=self.number(0.5, 2),
                massscale=self.number(0.5, 2),
                scaling=self.rng.choice(["similar", "geometry"]),
            )
        return values

    def joint_values(self, share: float) -> str:
        values = self.some(share, armature=self.number(0, 1), damping=self.number(0, 2), frictionloss=self.number(0, 1))
        values += self.some(share, pos=self.numbers(3), ref=self.number(-2, 2), range="-40 60", margin="0.1")
        if self.rarely:
            values += self.some(share / 2, stiffness=self.number(0, 10), springref=self.number(-1, 1))
            if self.chance(share / 2):
                values = values.split(" damping=")[0] + f' damping="{self.numbers(3, 0, 1)}"'
            values += self.some(share / 3, springdamper=self.numbers(2, 0.1, 1)) if " stiffness" not in values else ""
        return values

    def joint(self) -> str:
        r = self.rng
        name = f"j{len(self.joints) + 1}"
        self.joints.append(name)
        kind = r.choices(["hinge", "slide", "ball"], [70, 30, 1])[0]
        values = self.some(0.8, type=kind, axis=self.axis()) + self.of_class() + self.joint_values(0.3)
        values += self.some(0.1, limited=r.choice(["true", "false"])) if " range" in values else ""
        return f'<joint name="{name}"{values}/>'

    def inertial(self) -> str:
        a, b = self.rng.uniform(0.05, 1), self.rng.uniform(0.05, 1)
        c = self.rng.uniform(abs(a - b) + 0.01, a + b - 0.01)
        mass = self.number(0.1, 5)
        if self.chance(0.4):
            full = f"{a + 0.3:.4f} {b + 0.3:.4f} {c + 0.2:.4f} {self.number(-0.02, 0.02)} 0.01 -0.01"
            return f'<inertial pos="{self.numbers(3)}" mass="{mass}" fullinertia="{full}"/>'
        turn = f' quat="{self.numbers(4)}"' if self.chance(0.5) else ""
        return f'<inertial pos="{self.numbers(3)}" mass="{mass}" diaginertia="{a:.6f} {b:.6f} {c:.6f}"{turn}/>'

    def shapes(self, share: float) -> str:
        found = ""
        while self.chance(share) and len(found) < 600:
            found += self.shape()
            share /= 2
        return found

    def shape(self) -> str:
        r = self.rng
        values = self.of_class() + self.some(0.2, mass=self.number(0, 3), density=self.number(0, 3000))
        values += self.some(0.3, group=str(r.choice([0, 1, 2, 3, 4, 5])))
        values += self.some(0.1, contype="0", conaffinity="0", friction="1 0.1 0.1", rgba="1 1 1 1", condim="4")
        if self.chance(0.03):
            light = "" if self.chance(0.3) else ' mass="0"' if " mass=" not in values else ""
            return f'<geom type="mesh" mesh="wedge"{values}{light}/>'
        kind = r.choice(["box", "sphere", "capsule", "cylinder", "ellipsoid"])
        if kind in ("capsule", "cylinder") and self.chance(0.4):
            return f'<geom type="{kind}" fromto="{self.numbers(6)}" size="{self.number(0.02, 0.2)}"{values}/>'
        values += self.some(0.1, shellinertia="true")
        return f'<geom type="{kind}" size="{self.numbers(3, 0.02, 0.3)}"{values}{self.place(0.5)}/>'

    def others(self) -> list[str]:
        """Sections that act on joints from outside."""
        if not self.joints or not self.rarely:
            return []
        joint = self.rng.choice(self.joints)
        found = []
        if self.chance(0.15):
            armature = self.some(0.3, armature=self.number(0, 1), damping=self.number(0, 1), gear="3")
            found.append(f'<actuator><motor joint="{joint}"{armature}/><position joint="{joint}" kp="3"/></actuator>')
        if self.chance(0.1):
            values = self.some(0.5, stiffness="3", damping="1", armature="0.2")
            found.append(f'<tendon><fixed name="t"{values}><joint joint="{joint}" coef="2"/></fixed></tendon>')
        if self.chance(0.1):
            found.append(f'<equality><joint joint1="{joint}" polycoef="0.1 0 0 0 0"/></equality>')
        return found
