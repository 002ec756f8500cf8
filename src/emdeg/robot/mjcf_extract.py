"""The part of an MJCF document that the dynamics depends on, as a new document fit for MuJoCo's compiler.

Everything is left out that is not named here, so nothing in a stranger's file can make the compiler open
another file, load a plugin or build a thousand bodies. Shapes stay only where an inertia comes from them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from xml.sax.saxutils import quoteattr

from emdeg.errors import RobotError, TooLarge
from emdeg.robot.checks import BUDGET
from emdeg.robot.markup import LONGEST_NAME, Element, clipped, exact_number

_PLACE = frozenset(["pos", "quat", "axisangle", "xyaxes", "zaxis", "euler"])
_KEPT: dict[str, frozenset[str]] = {
    "compiler": frozenset(
        [
            "angle",
            "eulerseq",
            "autolimits",
            "boundmass",
            "boundinertia",
            "balanceinertia",
            "inertiafromgeom",
            "inertiagrouprange",
            "settotalmass",
        ]
    ),
    "option": frozenset(["gravity"]),
    "default": frozenset(["class"]),
    "worldbody": frozenset(),
    "body": _PLACE | frozenset(["name", "childclass"]),
    "frame": _PLACE | frozenset(["childclass"]),
    "joint": frozenset(
        [
            "name",
            "class",
            "type",
            "pos",
            "axis",
            "range",
            "limited",
            "ref",
            "armature",
            "damping",
            "frictionloss",
            "actuatorfrcrange",
            "actuatorfrclimited",
        ]
    ),
    "freejoint": frozenset(["name"]),
    "inertial": _PLACE | frozenset(["mass", "diaginertia", "fullinertia"]),
    "geom": _PLACE | frozenset(["class", "type", "size", "mass", "density", "fromto", "group", "shellinertia"]),
}
_WORDS = frozenset(
    [
        "angle",
        "eulerseq",
        "autolimits",
        "balanceinertia",
        "inertiafromgeom",
        "class",
        "childclass",
        "name",
        "type",
        "limited",
        "actuatorfrclimited",
        "shellinertia",
    ]
)
_REFUSED = {
    "include": "an <include> is refused: other files are not opened; expand the model into one file first",
    "plugin": "a <plugin> is refused: its forces and inertias are not known",
    "extension": "an <extension> is refused: plugins are not loaded",
    "attach": "an <attach> is refused: other files are not opened; expand the model into one file first",
    "replicate": "a <replicate> is refused: write its bodies out",
    "composite": "a <composite> is refused: it is not a rigid body",
    "flexcomp": "a <flexcomp> is refused: it is not a rigid body",
    "deformable": "a <deformable> is refused: it is not a rigid body",
}
_IGNORED = ("equality", "tendon")
_SHAPES_IN_FILES = frozenset(["mesh", "hfield", "sdf"])


@dataclass(slots=True)
class Extract:
    """The new document, and where its parts stand in the old one."""

    xml: str = ""
    model: str = ""
    lines: dict[int, int] = field(default_factory=dict)
    """Line of the new document -> line of the old."""
    body_lines: dict[str, int] = field(default_factory=dict)
    joint_lines: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    weightless: bool = False
    """Whether the file switches gravity off."""


def extract(root: Element) -> Extract:
    """What of the MJCF document under `root` the dynamics needs; RobotError where it must be refused."""
    _check_format(root)
    result = Extract(model=clipped(root.attributes.get("model", "").strip(), LONGEST_NAME))
    kept = _Pruning(root, result).document()
    lines: list[str] = []
    _write(kept, lines, result.lines)
    result.xml = "\n".join(lines) + "\n"
    for tag in _IGNORED:
        if any(section.children for section in root.all(tag)):
            result.notes.append(f"the file's <{tag}> section was left out")
    return result


def _check_format(root: Element) -> None:
    if root.tag == "robot":
        raise RobotError("this is a URDF file, not an MJCF", line=root.line)
    if root.tag != "mujoco":
        raise RobotError(f"its root element is <{root.tag}>; an MJCF's is <mujoco>", line=root.line)
    bodies = 0
    for element in root.walk():
        if element.tag in _REFUSED:
            raise RobotError(_REFUSED[element.tag], line=element.line)
        bodies += element.tag == "body"
    if bodies > BUDGET.links:
        raise TooLarge(f"it has {bodies} bodies; the budget is {BUDGET.links}")


class _Pruning:
    """Copies of a document's elements without what the dynamics does not need."""

    def __init__(self, root: Element, result: Extract) -> None:
        self.root, self.result = root, result
        self.defaults: dict[tuple[str, str], Mapping[str, str]] = {}
        for default in root.all("default"):
            self._resolve(default, None)
        compilers = [element.attributes for element in root.all("compiler")]
        self.always_from_shapes = any(c.get("inertiafromgeom") == "true" for c in compilers)
        self.groups = next((c["inertiagrouprange"] for c in compilers if "inertiagrouprange" in c), "0 5")
        self.taken = {e.attributes["name"] for e in root.walk() if "name" in e.attributes}

    def _resolve(self, default: Element, parent: str | None) -> None:
        """What each class of defaults says about shapes and joints; the outermost one is called main here."""
        name = "main" if parent is None else default.attributes.get("class", "")
        for tag in ("geom", "joint"):
            merged = dict(self.defaults.get((tag, name if parent is None else parent), {}))
            for element in default.all(tag):
                merged |= element.attributes
            self.defaults[tag, name] = merged
            if parent is None and "class" in default.attributes:
                self.defaults[tag, default.attributes["class"]] = merged
        for inner in default.all("default"):
            self._resolve(inner, name)

    def effective(self, element: Element, childclass: str) -> Mapping[str, str]:
        """The element's attributes with those its class of defaults adds."""
        name = element.attributes.get("class", childclass)
        return {**self.defaults.get((element.tag, name), {}), **element.attributes}

    def document(self) -> Element:
        kept: list[Element] = []
        for element in self.root.children:
            if element.tag == "compiler":
                kept.append(_bare(element))
            elif element.tag == "option":
                kept.append(_bare(element))
                flags = [flag.attributes.get("gravity") for flag in element.all("flag")]
                self.result.weightless = self.result.weightless or "disable" in flags
            elif element.tag == "default":
                kept.append(self.default(element))
            elif element.tag == "worldbody":
                kept.append(_bare(element, self.contents(element, "main", moving=False, shapes=False)))
        return Element("mujoco", {}, self.root.line, kept)

    def default(self, element: Element) -> Element:
        kept: list[Element] = []
        for child in element.children:
            if child.tag == "default":
                kept.append(self.default(child))
            elif child.tag in ("joint", "geom"):
                bare = _bare(child)
                unwanted = {"name", "class"}
                if bare.attributes.get("type") in _SHAPES_IN_FILES:  # no shape that needs it is kept
                    unwanted.add("type")
                bare.attributes = {k: v for k, v in bare.attributes.items() if k not in unwanted}
                kept.append(bare)
        return _bare(element, kept)

    def contents(self, element: Element, childclass: str, moving: bool, shapes: bool) -> list[Element]:
        """What is kept inside a body or frame.

        `moving`: a joint stands between here and the world; `shapes`: the inertia comes from the shapes.
        """
        childclass = element.attributes.get("childclass", childclass)
        kept: list[Element] = []
        for child in element.children:
            if child.tag == "body":
                kept.append(self.body(child, childclass, moving))
            elif child.tag == "frame":
                kept.append(_bare(child, self.contents(child, childclass, moving, shapes)))
            elif child.tag in ("joint", "freejoint") and element.tag != "worldbody":
                kept.append(self.joint(child, childclass))
            elif child.tag == "inertial" or (child.tag == "geom" and shapes and self.has_mass(child, childclass)):
                kept.append(_bare(child))
        return kept

    def body(self, element: Element, childclass: str, moving: bool) -> Element:
        moving = moving or any(_joints(element))
        stated = bool(element.all("inertial")) and not self.always_from_shapes
        named = self._named(element, self.result.body_lines)
        if element.attributes.get("gravcomp", "0").strip() not in ("", "0"):
            name = named["name"]
            self.result.notes.append(f"body {name!r}: its gravity compensation was left out")
        children = self.contents(element, childclass, moving, shapes=moving and not stated)
        bare = _bare(element, children)
        bare.attributes = {**bare.attributes, **named}
        return bare

    def joint(self, element: Element, childclass: str) -> Element:
        named = self._named(element, self.result.joint_lines)
        spring = self.effective(element, childclass).get("stiffness", "0").split()
        if any(part.strip("0.") for part in spring):
            name = named["name"]
            self.result.notes.append(f"joint {name!r}: its spring was left out")
        bare = _bare(element)
        bare.attributes = {**bare.attributes, **named}
        return bare

    def _named(self, element: Element, lines: dict[str, int]) -> dict[str, str]:
        """The element's name, made up where the file gives none."""
        if "name" in element.attributes:
            name = element.need_name()
        else:
            kind = "body" if element.tag == "body" else "joint"
            name = f"{kind}{len(lines) + 1}"
            while name in self.taken:
                name += "_"
        self.taken.add(name)
        lines[name] = element.line
        return {"name": name}

    def has_mass(self, geom: Element, childclass: str) -> bool:
        """Whether the shape adds to its body's inertia; RobotError if that cannot be known."""
        what = self.effective(geom, childclass)
        if what.get("mesh") is None and what.get("type", "sphere") not in _SHAPES_IN_FILES:
            return True
        massless = (what.get("mass", what.get("density", "1"))).strip()
        low_high, group = self.groups.split(), what.get("group", "0").strip()
        counted = len(low_high) != 2 or low_high[0] <= group <= low_high[1]
        if not massless.strip("0.") or not counted:
            return False
        raise RobotError(
            "its body has no <inertial>, so its inertia would come from this mesh, and meshes are not "
            'opened; give the body an <inertial>, or the geom mass="0"',
            line=geom.line,
        )


def _joints(body: Element) -> Iterator[Element]:
    """The joints of a body, those inside its frames included."""
    for child in body.children:
        if child.tag in ("joint", "freejoint"):
            yield child
        elif child.tag == "frame":
            yield from _joints(child)


def _bare(element: Element, children: list[Element] | None = None) -> Element:
    """The element with the attributes that are kept, each a word or finite numbers."""
    kept: dict[str, str] = {}
    for key, value in element.attributes.items():
        if key not in _KEPT[element.tag]:
            continue
        if key not in _WORDS:
            for part in value.split():
                try:
                    exact_number(part, f"{key!r} of <{element.tag}>")
                except RobotError as problem:
                    raise problem.at(line=element.line) from None
        kept[key] = value
    return Element(element.tag, kept, element.line, children or [])


def _write(element: Element, out: list[str], lines: dict[int, int]) -> None:
    """The element as text, one tag a line; `lines` maps those lines to where the tags come from."""
    said = "".join(f" {key}={quoteattr(value)}" for key, value in element.attributes.items())
    out.append(f"<{element.tag}{said}{'' if element.children else '/'}>")
    lines[len(out)] = element.line
    if element.children:
        for child in element.children:
            _write(child, out, lines)
        out.append(f"</{element.tag}>")
