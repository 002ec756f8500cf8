"""The part of an MJCF document that the dynamics depends on, as a new document fit for MuJoCo's compiler.

Everything is left out that is not named here, so nothing in a stranger's file can make the compiler open
another file, load a plugin or build a thousand bodies. Shapes stay only where an inertia comes from them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from xml.sax.saxutils import quoteattr

from emdeg.documents import plain
from emdeg.errors import RobotError, TooLarge
from emdeg.robot.checks import BUDGET
from emdeg.robot.markup import LONGEST_NAME, Element, clipped, exact_number

_PLACE = frozenset(["pos", "quat", "axisangle", "xyaxes", "zaxis", "euler"])


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_KEPT: dict[str, frozenset[str]] = {
    "compiler": _names(
        "angle eulerseq autolimits boundmass boundinertia balanceinertia inertiafromgeom inertiagrouprange settotalmass"
    ),
    "option": _names("gravity density viscosity wind"),
    "flag": _names("gravity spring damper passive frictionloss constraint equality"),
    "default": _names("class"),
    "worldbody": frozenset(),
    "body": _PLACE | _names("name childclass gravcomp"),
    "frame": _PLACE | _names("childclass scale massscale scaling"),
    "joint": _names(
        "name class type pos axis range limited ref armature damping frictionloss actuatorfrcrange actuatorfrclimited "
        "stiffness springref springdamper"
    ),
    "freejoint": _names("name"),
    "inertial": _PLACE | _names("mass diaginertia fullinertia"),
    "geom": _PLACE | _names("class type size mass density fromto group shellinertia"),
    "site": _PLACE | _names("name class type size fromto"),
    "equality": _names("active"),
    "connect": _names("name class active body1 body2 anchor site1 site2"),
    "weld": _names("name class active body1 body2 relpose anchor torquescale site1 site2"),
    "equality joint": _names("name class active joint1 joint2 polycoef"),
}
_SOFT = _names("solref solimp")
"""How hard MuJoCo pulls what is to be equal together: here it is equal."""
_HARMLESS: dict[str, frozenset[str]] = {
    "compiler": _names(
        "alignfree assetdir conflict convexhull coordinate discardvisual exactmeshinertia fitaabb fusestatic meshdir "
        "passthrough savecanonical savecompiled saveinertial strippath texturedir usethread"
    ),
    "option": _names(
        "actuatorgroupdisable apirate ccd_iterations ccd_tolerance collision cone impratio integrator iterations "
        "jacobian ls_iterations ls_tolerance magnetic mpr_iterations mpr_tolerance noslip_iterations noslip_tolerance "
        "o_friction o_margin o_solimp o_solref sdf_initpoints sdf_iterations sleep_tolerance solver timestep tolerance"
    ),
    "flag": _names(
        "actuation autoreset clampctrl contact diagexact energy eulerdamp filterparent fwdinv invdiscrete ipc "
        "island limit midphase multiccd nativeccd override refsafe sensor sensornoise sleep speculative warmstart"
    ),
    "worldbody": _names("name childclass"),
    "body": _names("fuse mocap simple sleep user"),
    "frame": _names("name"),
    "joint": _names(
        "actuatorgravcomp group margin solimpfriction solimplimit solreffriction solreflimit springyield user"
    ),
    "freejoint": _names("align group"),
    "geom": _names(
        "adhesion castshadow conaffinity condim contype fitscale fluidcoef fluidshape friction gap hfield margin "
        "material mesh name priority rgba solimp solmix solref surfacevel user"
    ),
    "site": _names("group material rgba user"),
    "equality": _SOFT,
    "connect": _SOFT,
    "weld": _SOFT,
    "equality joint": _SOFT,
}
"""What does not change how bodies move. What is on neither list is refused: a later MuJoCo may know what it does."""
_SECTIONS = _names(
    "compiler option default worldbody size statistic visual custom asset contact sensor keyframe equality"
)
_LOOKS = _names("site camera light")
_WORDS = _names(
    "angle eulerseq autolimits balanceinertia inertiafromgeom class childclass name type limited actuatorfrclimited "
    "shellinertia scaling active body1 body2 site1 site2 joint1 joint2"
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
_IGNORED = ("tendon",)
_EQUAL = {"connect": "connect", "weld": "weld", "joint": "equality joint"}
"""Equality constraints that are read: two that close loops of bodies, one that ties a joint."""
_ACTUATORS = _names(
    "general motor position velocity pid intvelocity damper cylinder muscle adhesion dcmotor orientation"
)
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
    equality_lines: dict[str, int] = field(default_factory=dict)
    driven: list[str] = field(default_factory=list)
    """The joints that actuators act on, in the file's order."""
    notes: list[str] = field(default_factory=list)


def extract(root: Element) -> Extract:
    """What of the MJCF document under `root` the dynamics needs; RobotError where it must be refused."""
    _check_format(root)
    result = Extract(model=clipped(plain(root.attributes.get("model", "")).strip(), LONGEST_NAME))
    kept = _Pruning(root, result).document()
    lines: list[str] = []
    _write(kept, lines, result.lines)
    result.xml = "\n".join(lines) + "\n"
    for tag in _IGNORED:
        if any(section.children for section in root.all(tag)):
            result.notes.append(f"the file's <{tag}> section was left out")
    # On a hinge or a slide a force stated in the parent's frame is the same.
    moved = (
        e.attributes.get("joint") or e.attributes.get("jointinparent", "")
        for section in root.all("actuator")
        for e in section.children
    )
    result.driven = [name for name in dict.fromkeys(moved) if name in result.joint_lines]
    if any(_moves_by_itself(element) for element in root.walk()):
        result.notes.append("the inertia and damping of the file's <actuator> section were left out")
    if result.notes and any("springdamper" in element.attributes for element in root.walk()):
        result.notes.append("what springdamper makes of the joints' inertia was computed without what was left out")
    return result


def _moves_by_itself(element: Element) -> bool:
    """Whether an actuator, or the defaults of some, have inertia or damping of their own."""
    if element.tag == "dcmotor":
        return True
    return element.tag in _ACTUATORS and not {"armature", "damping"}.isdisjoint(element.attributes)


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
    for element in root.children:
        if element.tag not in _SECTIONS and element.tag not in (*_IGNORED, "actuator"):
            raise RobotError(f"a section <{element.tag}> is not known", line=element.line)
    if bodies > BUDGET.links:
        raise TooLarge(f"it has {bodies} bodies; the budget is {BUDGET.links}")


class _Pruning:
    """Copies of a document's elements without what the dynamics does not need."""

    def __init__(self, root: Element, result: Extract) -> None:
        self.root, self.result = root, result
        self.defaults: dict[tuple[str, str], Mapping[str, str]] = {}
        for default in root.all("default"):
            self._resolve(default, None)
        said = self.compiler()
        self.from_shapes = said.get("inertiafromgeom", "auto")
        self.groups = _whole_numbers(said.get("inertiagrouprange", "0 5"))
        self.scaled = _may_be_positive(said.get("settotalmass", "-1"))
        self.taken = {e.attributes["name"] for e in root.walk() if "name" in e.attributes}
        self.equalities = [e for section in root.all("equality") for e in section.children]
        mocap = [e for e in root.walk() if e.tag == "body" and e.attributes.get("mocap") == "true"]
        self.led = {part.attributes.get("name", "") for one in mocap for part in one.walk()} - {""}
        self.sites = {e.attributes[key] for e in self.equalities for key in ("site1", "site2") if key in e.attributes}

    def compiler(self) -> Mapping[str, str]:
        """What the file asks of the compiler, of several settings the last; RobotError where it cannot be had."""
        said: dict[str, str] = {}
        for element in self.root.all("compiler"):
            said |= element.attributes
            if said.get("coordinate", "local") != "local":
                raise RobotError("coordinate must be local: MuJoCo knows no other any more", line=element.line)
            if said.get("fusestatic") == "true" and (why := _by_body(said)) is not None:
                raise RobotError(
                    f"{why} together with fusestatic is refused: what it does to masses depends on which bodies are "
                    "fused, and that on what refers to them; write the inertias themselves, or leave fusestatic out",
                    line=element.line,
                )
        return said

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
                kept.append(_bare(element, [_bare(flag) for flag in element.all("flag")]))
            elif element.tag == "default":
                kept.append(self.default(element))
            elif element.tag == "worldbody":
                kept.append(_bare(element, self.contents(element, "main", moving=False, shapes=False)))
        equal = [self.equality(element) for element in self.equalities if element.attributes.get("active") != "false"]
        if len(equal) > BUDGET.links:
            raise TooLarge(f"it has {len(equal)} equality constraints; the budget is {BUDGET.links}")
        if equal:
            kept.append(Element("equality", {}, self.root.line, equal))
        return Element("mujoco", {}, self.root.line, kept)

    def equality(self, element: Element) -> Element:
        if element.tag not in _EQUAL:
            raise RobotError(
                f"an <equality> between <{element.tag}>s is refused: bodies move otherwise because of it",
                line=element.line,
            )
        for end in ("body1", "body2", "site1", "site2"):
            if element.attributes.get(end) in self.led:
                raise RobotError(
                    f"its {end} is, or is on, a mocap body, which moves as a program says: refused", line=element.line
                )
        named = self._named(element, self.result.equality_lines)
        bare = _bare(element, kind=_EQUAL[element.tag])
        bare.attributes = {**bare.attributes, **named}
        return bare

    def default(self, element: Element) -> Element:
        kept: list[Element] = []
        for child in element.children:
            if child.tag == "default":
                kept.append(self.default(child))
            elif child.tag in ("joint", "geom") or (child.tag in ("site", "equality") and self.equalities):
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
            elif child.tag in ("joint", "freejoint"):
                kept.append(self.joint(child))
            elif child.tag == "inertial":
                kept.append(_bare(child))
            elif child.tag == "geom":
                bare = _bare(child)
                if shapes and self.has_mass(child, childclass):
                    kept.append(bare)
            elif child.tag == "site" and child.attributes.get("name") in self.sites:
                kept.append(_bare(child))
            elif child.tag not in _LOOKS:
                raise RobotError(f"<{child.tag}> is not known inside <{element.tag}>", line=child.line)
        return kept

    def body(self, element: Element, childclass: str, moving: bool) -> Element:
        moving = moving or any(_joints(element))
        stated = bool(element.all("inertial")) and self.from_shapes != "true"
        named = self._named(element, self.result.body_lines)
        # A body that stands still has a part in the total mass to which all are scaled.
        shapes = (moving or self.scaled) and not stated and self.from_shapes != "false"
        children = self.contents(element, childclass, moving, shapes)
        bare = _bare(element, children)
        bare.attributes = {**bare.attributes, **named}
        return bare

    def joint(self, element: Element) -> Element:
        named = self._named(element, self.result.joint_lines)
        bare = _bare(element)
        bare.attributes = {**bare.attributes, **named}
        return bare

    def _named(self, element: Element, lines: dict[str, int]) -> dict[str, str]:
        """The element's name, made up where the file gives none."""
        if "name" in element.attributes:
            name = element.need_name()
        else:
            kind = {"body": "body", "connect": "loop", "weld": "loop"}.get(element.tag, "joint")
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
        mass, range_, group = (
            what.get("mass", what.get("density", "1")),
            self.groups,
            _whole_numbers(what.get("group", "0")),
        )
        counted = range_ is None or group is None or len(range_) != 2 or range_[0] <= group[0] <= range_[1]
        if not counted or _is_zero(mass):
            return False
        raise RobotError(
            "its body has no <inertial>, so its inertia would come from this mesh, and meshes are not "
            'opened; give the body an <inertial>, or the geom mass="0"',
            line=geom.line,
        )


def _whole_numbers(text: str) -> list[int] | None:
    """The numbers of an attribute; None where these are not whole numbers or there are none."""
    try:
        return [int(part) for part in text.split()] or None
    except ValueError:
        return None


def _is_zero(text: str) -> bool:
    try:
        return float(text) == 0
    except ValueError:
        return False


def _may_be_positive(text: str) -> bool:
    try:
        return not float(text) <= 0
    except ValueError:
        return True


def _by_body(compiler: Mapping[str, str]) -> str | None:
    """A setting that changes masses body by body, so that it matters which bodies there are; None without one."""
    for key, usual in (("settotalmass", "-1"), ("boundmass", "0"), ("boundinertia", "0")):
        if _may_be_positive(compiler.get(key, usual)):
            return key
    for key in ("inertiafromgeom", "balanceinertia"):
        if compiler.get(key) == "true":
            return f"{key}=true"
    return None


def _joints(body: Element) -> Iterator[Element]:
    """The joints of a body, those inside its frames included."""
    for child in body.children:
        if child.tag in ("joint", "freejoint"):
            yield child
        elif child.tag == "frame":
            yield from _joints(child)


def _bare(element: Element, children: list[Element] | None = None, kind: str = "") -> Element:
    """The element with the attributes that are kept of its kind, each a word or finite numbers."""
    kept: dict[str, str] = {}
    kind = kind or element.tag
    for key, value in element.attributes.items():
        if key not in _KEPT[kind]:
            if key not in _HARMLESS.get(kind, ()):
                raise RobotError(f"an attribute {clipped(key)!r} of <{element.tag}> is not known", line=element.line)
            continue
        if key not in _WORDS and element.tag != "flag":
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
