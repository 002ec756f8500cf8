"""What a model can show: part name -> section. The command line and the notebook take theirs from here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from emdeg.algebra import TrigPoly
from emdeg.equations.base_parameters import base_parameters
from emdeg.equations.inverse_jacobian import determinant, inverse_jacobian
from emdeg.equations.model import Model
from emdeg.equations.regressor import regressor_formulas
from emdeg.equations.relations import Relation, Tally, compare, relations
from emdeg.equations.writing.document import (
    Document,
    Equation,
    Item,
    Label,
    MatrixEquation,
    Reference,
    Remark,
    Section,
    Table,
    Zeros,
    resolved,
)
from emdeg.equations.writing.grouped import Grouped
from emdeg.mechanics.lagrange import first_derivatives, pseudo_inertias, second_derivatives

Builder = Callable[[Model], Section]


def document(model: Model, parts: Iterable[str]) -> Document:
    """The parts asked for, in their order; ValueError for an unknown one."""
    sections = []
    for part in parts:
        if part not in PARTS:
            raise ValueError(f"there is no part {part!r}; parts: {', '.join(PARTS)}")
        sections.append(PARTS[part](model))
    title = f"Equations of motion of {model.robot.title or model.robot.name}"
    return resolved(Document(title, tuple(sections)))


def mass_matrix(model: Model) -> Section:
    """M's upper triangle."""
    return Section("M", "Mass matrix M [kg m^2, kg m, kg], symmetric", tuple(_entries(model, "M")))


def coriolis(model: Model) -> Section:
    """The coefficients of products of two rates."""
    return Section("b", "Coriolis coefficients b_ijk of qd_j qd_k", tuple(_entries(model, "b")))


def centrifugal(model: Model) -> Section:
    """The coefficients of squared rates."""
    return Section("c", "Centrifugal coefficients c_ij of qd_j^2", tuple(_entries(model, "c")))


def gravity(model: Model) -> Section:
    """The efforts that hold the robot still."""
    return Section("g", "Gravity g [N m, N]", tuple(_entries(model, "g")))


def coriolis_matrix(model: Model) -> Section:
    """C with M-dot - 2C skew."""
    matrix = MatrixEquation(Label("C"), model.coriolis_matrix)
    return Section("C", "Coriolis matrix from Christoffel symbols: M-dot - 2C is skew", (matrix,))


def transforms(model: Model) -> Section:
    """Every frame in its parent's, and the tool in the base."""
    kinematics = model.kinematics
    items: list[Item] = []
    for i, link in enumerate(model.robot.links, 1):
        parent = link.parent + 1
        seen_from = parent if parent else "base"
        matrix = kinematics.transform(i, seen_from)
        items.append(MatrixEquation(Label("T", f"_{parent}_{i}"), matrix))
    items.append(MatrixEquation(Label("T", "_0_tool"), kinematics.transform("tool")))
    return Section("T", "Transforms T_i_j: frame j in frame i (0 is the base)", tuple(items))


def jacobian(model: Model) -> Section:
    """The tool's Jacobian in base axes and in the axes where it is shortest; its determinant."""
    kinematics = model.kinematics
    items: list[Item] = [MatrixEquation(Label("J"), kinematics.jacobian())]
    simplest = kinematics.simplest_frame()
    if simplest != "base":
        items.append(Remark(f"In the axes of frame {simplest}, where it is shortest:"))
        items.append(MatrixEquation(Label("J", f"_{simplest}"), kinematics.jacobian(simplest)))
    if model.n == 6:
        items += _determinant(determinant(kinematics))
    return Section("J", "Jacobian at the tool: velocity, then angular velocity, base axes", tuple(items))


def inverse(model: Model) -> Section:
    """The inverse Jacobian."""
    found = inverse_jacobian(model.kinematics)
    items: list[Item] = [Remark(f"Axes of frame {found.frame}; qd = Jinv (v, omega) with v of the tool's origin.")]
    if found.wrist is not None:
        items.append(
            Remark(f"The last three axes meet in the origin of frame {found.wrist.point}: inverted by blocks.")
        )
    items += _determinant(found.determinant)
    items.append(MatrixEquation(Label("Jinv"), found.entries))
    return Section("Jinv", "Inverse of the Jacobian", tuple(items))


def uicker(model: Model) -> Section:
    """The derivatives of the transforms and the pseudo-inertias of Bejczy's Appendices A and B."""
    mech, frame = model.kinematics.mechanism, model.kinematics.frames
    items: list[Item] = []
    for (j, i), U in first_derivatives(mech, frame).items():
        items.append(MatrixEquation(Label("U", f"_{j + 1}_{i + 1}"), U))
    for (j, k, p), U in second_derivatives(mech, frame).items():
        items.append(MatrixEquation(Label("U", f"_{j + 1}_{k + 1}_{p + 1}"), U))
    for j, P in enumerate(pseudo_inertias(mech), 1):
        items.append(MatrixEquation(Label("P", f"_{j}"), P))
    title = "U_ji = dT_j/dq_i and U_jkp = d^2T_j/dq_k dq_p of link frames in frame 0; pseudo-inertias P_j"
    return Section("U", title, tuple(items))


def base(model: Model) -> Section:
    """The base parameters: which are kept and what is grouped into them."""
    found = base_parameters(model.robot)
    items: list[Item] = [Remark(f"{len(found)} base parameters of {len(found.columns)}; the torques show no others.")]
    for column, parts in found.grouping.items():
        items.append(Equation(Label(f"{column.name}r", str(column.link + 1)), Grouped(column, parts)))
    if found.without_effect:
        items.append(Remark("Without effect: " + ", ".join(map(str, found.without_effect))))
    return Section("base", "Base parameters", tuple(items))


def regressor(model: Model) -> Section:
    """Y with tau = Y pi for the base parameters."""
    found = regressor_formulas(model.robot, base=True, max_terms=model.algebra.max_terms)
    names = ", ".join(f"{k} {column.name}r{column.link + 1}" for k, column in enumerate(found.columns, 1))
    items = (Remark(f"Columns: {names}"), MatrixEquation(Label("Y"), found.Y))
    return Section("regressor", "Regressor Y of the base parameters: tau = Y pi", items)


def found_relations(model: Model) -> Section:
    """Counts, and every relation among the coefficients."""
    found = relations(model)
    head = ("", "possible", "after the general rules", "nonzero", "distinct", "up to sign", "up to a multiple")
    counts = Table(head, (_row("Christoffel symbols", found.christoffel), _row("dM_ij/dq_k", found.derivatives)))
    items: list[Item] = [counts, Remark("Coefficients that remain: " + ", ".join(found.independent))]
    items += _related("By the general rules", [r for r in found.coefficients if r.rule == "general"])
    items += _related("Due to this robot", [r for r in found.coefficients if r.rule == "geometry"])
    items += _related("Derivatives of M, due to this robot", found.equal_derivatives)
    items += _related("Mass matrix", found.mass_matrix)
    if found.constant:
        items.append(Remark("Constant entries of M: " + ", ".join(found.constant)))
    items += _related("Gravity", found.gravity)
    return Section("relations", "Relations among the coefficients", tuple(items))


PARTS: dict[str, Builder] = {
    "M": mass_matrix,
    "b": coriolis,
    "c": centrifugal,
    "g": gravity,
    "C": coriolis_matrix,
    "T": transforms,
    "J": jacobian,
    "Jinv": inverse,
    "U": uicker,
    "relations": found_relations,
    "base": base,
    "regressor": regressor,
}
"""Part name -> what makes its section."""

NEEDS: Mapping[str, tuple[str, ...]] = {
    "M": ("M",),
    "b": ("M", "b", "c"),
    "c": ("M", "b", "c"),
    "g": ("g",),
    "C": ("M", "b", "c"),
    "relations": ("M", "b", "c", "g"),
}
"""Part name -> what of the dynamics must be derived for it; none for the others."""


def _entries(model: Model, part: str) -> Iterable[Item]:
    """Equations; one that repeats another up to a factor refers to it, and the zeros stand in one line."""
    entries = model.entries([part])
    aliases = _aliases(model, part)
    zeros = []
    for name, value in entries.items():
        if not value:
            zeros.append(_label(name))
        elif name in aliases:
            relation = aliases[name]
            yield Equation(_label(name), Reference(_label(relation.of or ""), relation.factor, value))
        else:
            yield Equation(_label(name), value)
    if zeros:
        yield Zeros(tuple(zeros))


def _aliases(model: Model, part: str) -> dict[str, Relation]:
    if part in ("b", "c"):
        found = relations(model).coefficients
    else:
        found = compare(model.entries([part]))[0]
    return {relation.name: relation for relation in found if relation.of is not None}


def _label(name: str) -> Label:
    return Label(name[0], name[1:])


def _determinant(factors: tuple[TrigPoly, ...]) -> list[Item]:
    """det J, as a product where it has several factors."""
    if len(factors) == 1:
        return [Equation(Label("detJ"), factors[0])]
    items: list[Item] = [Equation(Label("detJ", f"_{k}"), factor) for k, factor in enumerate(factors, 1)]
    names = " ".join(f"detJ_{k}" for k in range(1, len(factors) + 1))
    return [*items, Remark(f"The determinant is the product {names}; where a factor vanishes the arm is singular.")]


def _row(what: str, tally: Tally) -> tuple[str, ...]:
    numbers = (
        tally.possible, tally.after_general_rules, tally.nonzero, tally.distinct, tally.up_to_sign,
        tally.up_to_multiple,
    )  # fmt: skip
    return (what, *(str(number) for number in numbers))


def _related(what: str, found: Iterable[Relation]) -> list[Item]:
    zeros = [relation.name for relation in found if relation.of is None]
    others = [str(relation) for relation in found if relation.of is not None]
    items: list[Item] = []
    if zeros:
        items.append(Remark(f"{what}, zero: {', '.join(zeros)}"))
    if others:
        items.append(Remark(f"{what}: {'; '.join(others)}"))
    return items
