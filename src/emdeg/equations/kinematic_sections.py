"""Sections beyond the equations of motion: kinematics, matrices after Lagrange and Uicker, parameters, relations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from emdeg.algebra import Sum, TrigPoly
from emdeg.documents import (
    AbbreviatedFormula,
    Combination,
    Equation,
    FactoredFormula,
    Formula,
    Item,
    Label,
    MatrixEquation,
    Paragraph,
    Section,
    Table,
    Zeros,
)
from emdeg.dynamics import pose_matrices
from emdeg.dynamics.formulations import (
    first_derivatives,
    inverse4,
    matmul4,
    pseudo_inertias,
    restated,
    second_derivatives,
    standard_frames,
)
from emdeg.dynamics.parameters import Column, base_parameters, base_values, regressor_formulas
from emdeg.equations.coefficient_relations import EntryRelation, Tally, relations
from emdeg.equations.kinematics import FrameName, Matrix
from emdeg.equations.model import Model, entry_name
from emdeg.equations.reading import ABBREVIATIONS, abbreviated
from emdeg.robot import Pose, parallel_joints


@dataclass(frozen=True, slots=True)
class Choice:
    """How the parts are to be written."""

    compact: bool = False
    """M, b, c and g in lumped constants instead of expanded."""
    frame: FrameName | None = None
    """Whose axes the Jacobian and its inverse are in."""
    rows: tuple[int, ...] | None = None
    """Which rows (1-6) of the Jacobian."""
    standard: bool = False
    """Whether U and P are of standard Denavit-Hartenberg frames, instead of modified ones."""
    scheme: str = "diagonal"
    """Which of Burdick's recursions reaches the dyadics of extended bodies."""


def coriolis_matrix(model: Model, _: Choice) -> Section:
    """C with M-dot - 2C skew."""
    matrix = MatrixEquation(Label("C"), model.coriolis_matrix)
    return Section("C", "Coriolis matrix from Christoffel symbols: M-dot - 2C is skew", (matrix,))


def transforms(model: Model, _: Choice) -> Section:
    """Every frame in its parent's, and the tool in the base."""
    kinematics = model.kinematics
    items: list[Item] = []
    for i, link in enumerate(model.robot.links, 1):
        parent = link.parent + 1
        seen_from = parent if parent else "base"
        items.append(matrix(model, Label("T", f"_{parent}_{i}"), kinematics.transform(i, seen_from)))
    items.append(matrix(model, Label("T", "_0_tool"), kinematics.transform("tool")))
    return Section("T", "Transforms T_i_j: frame j in frame i (0 is the base)", with_legend(model, items))


def matrix(model: Model, label: Label, rows: Matrix) -> MatrixEquation:
    """The matrix in sines and cosines of sums of angles, where parallel axes make that shorter."""
    return MatrixEquation(label, abbreviated(rows, parallel_joints(model.robot)))


def equation(model: Model, label: Label, formula: TrigPoly) -> Equation:
    """The equation in sines and cosines of sums of angles, as in `matrix`."""
    return Equation(label, abbreviated(((formula,),), parallel_joints(model.robot))[0][0])


def with_legend(model: Model, items: Sequence[Item]) -> tuple[Item, ...]:
    """The items, and what the abbreviations among them mean."""
    shown = [entry for item in items if isinstance(item, MatrixEquation) for row in item.rows for entry in row]
    shown += [item.value for item in items if isinstance(item, Equation)]
    short = any(isinstance(entry, AbbreviatedFormula) or _has_sums(entry) for entry in shown)
    return (*items, Paragraph(ABBREVIATIONS)) if short and model.algebra.short else tuple(items)


def _has_sums(value: Formula) -> bool:
    """Whether a product has factors in sines and cosines of sums of angles."""
    factors = (*value.above, *value.below) if isinstance(value, FactoredFormula) else ()
    return any(isinstance(base, Sum) for base, _ in factors)


def uicker(model: Model, choice: Choice) -> Section:
    """The derivatives of the transforms and the pseudo-inertias of Bejczy's Appendices A and B."""
    mech, frame = model.kinematics.mechanism, model.kinematics.frames
    U = {("U", *of): one for of, one in first_derivatives(mech, frame).items()}
    U |= {("U", *of): one for of, one in second_derivatives(mech, frame).items()}
    P = {("P", j): one for j, one in enumerate(pseudo_inertias(mech))}
    words: list[Item] = []
    if choice.standard:
        first, *F = standard_frames(mech, _last_frame(model))
        back = inverse4(first, mech)
        U = {of: matmul4(matmul4(back, one), F[of[1]]) for of, one in U.items()}
        P = {of: restated(one, F[of[1]], mech) for of, one in P.items()}
        words = [Paragraph("Standard Denavit-Hartenberg frames: frame j lies on the axis of joint j + 1.")]
    items = [
        MatrixEquation(Label(letter, "".join(f"_{k + 1}" for k in of)), cast(Matrix, one))
        for (letter, *of), one in (U | P).items()
    ]
    title = "U_ji = dT_j/dq_i and U_jkp = d^2T_j/dq_k dq_p of link frames in frame 0; pseudo-inertias P_j"
    return Section("U", title, (*words, *items))


def _last_frame(model: Model) -> tuple[Any, Any]:
    """Where the last link's frame lies: the file's own, if it is one of Denavit and Hartenberg's; else the joint's.

    Theirs has its x axis across the joint's axis, and meets that axis with it.
    """
    last = model.robot.links[-1].name
    pose = next((frame.pose for frame in model.robot.frames if frame.name == last), Pose())
    R, p = pose_matrices(pose, model.algebra)
    is_theirs = not R[2][0] and not p[0] * R[1][0] - p[1] * R[0][0]
    return (R, p) if is_theirs else pose_matrices(Pose(), model.algebra)


def lagrange(model: Model, _: Choice) -> Section:
    """D_ij, D_ijk and D_i of Bejczy (1), each in full; they are the same in whatever frames U and P are written."""
    joints = range(1, model.n + 1)
    D: dict[tuple[int, ...], TrigPoly] = {(i, j): model.M[i - 1][j - 1] for i in joints for j in joints if i <= j}
    D |= {(i, j, k): model.christoffel(i, j, k) for i in joints for j in joints for k in joints if j <= k}
    D |= {(i,): model.g[i - 1] for i in joints}
    labels = {of: Label("D", entry_name("", *of)) for of in D}
    words = (
        "T_i = sum_j D_ij qdd_j + sum_jk D_ijk qd_j qd_k + D_i, the sum over all j and k, where D_ikj = D_ijk; D_ii "
        "holds the drive's inertia. D_ij = sum_p Tr(U_pj P_p U_pi^T), D_ijk = sum_p Tr(U_pjk P_p U_pi^T)."
    )
    items = [Equation(labels[of], value) for of, value in D.items() if value]
    zeros = tuple(labels[of] for of, value in D.items() if not value)
    title = "D_ij, D_ijk and D_i of Lagrange's equations"
    return Section("D", title, (Paragraph(words), *items, *((Zeros(zeros),) if zeros else ())))


def base(model: Model, _: Choice) -> Section:
    """The base parameters: which are kept and what is grouped into them."""
    found = base_parameters(model.robot)
    items: list[Item] = [
        Paragraph(f"{len(found)} base parameters of {len(found.columns)}; the torques show no others.")
    ]
    for column, parts in found.grouping.items():
        grouped = Combination(((1, _parameter(column)), *((factor, _parameter(other)) for other, factor in parts)))
        items.append(Equation(Label(f"{column.name}r", str(column.link + 1)), grouped))
    if not model.robot.symbols:
        values = zip(found.kept, base_values(model.robot, found))
        named = ((f"{column.name}r{column.link + 1}", value, _unit(column.name)) for column, value in values)
        rows = tuple((name, f"{float(value):.10g}", unit) for name, value, unit in named)
        items.append(Table(("base parameter", "value", "unit"), rows))
    if found.without_effect:
        items.append(Paragraph("Without effect: " + ", ".join(map(str, found.without_effect))))
    return Section("base", "Base parameters", tuple(items))


def _unit(name: str) -> str:
    """Of an inertia, a first moment or a mass; SI, of a turning joint's drive."""
    return "kg" if name == "M" else "kg m" if name in ("MX", "MY", "MZ") else "kg m^2"


def _parameter(column: Column) -> Label:
    return Label(column.name, str(column.link + 1))


def regressor(model: Model, _: Choice) -> Section:
    """Y with tau = Y pi for the base parameters."""
    found = regressor_formulas(model.robot, base=True, max_terms=model.algebra.max_terms)
    names = ", ".join(f"{k} {column.name}r{column.link + 1}" for k, column in enumerate(found.columns, 1))
    items = (Paragraph(f"Columns: {names}"), MatrixEquation(Label("Y"), found.Y))
    return Section("regressor", "Regressor Y of the base parameters: tau = Y pi", items)


def found_relations(model: Model, _: Choice) -> Section:
    """Counts, and every relation among the coefficients."""
    found = relations(model)
    head = ("", "possible", "after the general rules", "nonzero", "distinct", "up to sign", "up to a multiple")
    counts = Table(head, (_row("Christoffel symbols", found.christoffel), _row("dM_ij/dq_k", found.derivatives)))
    items: list[Item] = [counts, Paragraph("Coefficients that remain: " + ", ".join(found.independent))]
    items += _related("By the general rules", [r for r in found.coefficients if r.rule == "general"])
    items += _related("Due to this robot", [r for r in found.coefficients if r.rule == "geometry"])
    items += _related("Derivatives of M, due to this robot", found.equal_derivatives)
    items += _related("Mass matrix", found.mass_matrix)
    if found.constant:
        items.append(Paragraph("Constant entries of M: " + ", ".join(found.constant)))
    items += _related("Gravity", found.gravity)
    return Section("relations", "Relations among the coefficients", tuple(items))


def _row(what: str, tally: Tally) -> tuple[str, ...]:
    numbers = (
        tally.possible,
        tally.after_general_rules,
        tally.nonzero,
        tally.distinct,
        tally.up_to_sign,
        tally.up_to_multiple,
    )
    return (what, *(str(number) for number in numbers))


def _related(what: str, found: Iterable[EntryRelation]) -> list[Item]:
    zeros = [relation.name for relation in found if relation.of is None]
    others = [str(relation) for relation in found if relation.of is not None]
    items: list[Item] = []
    if zeros:
        items.append(Paragraph(f"{what}, zero: {', '.join(zeros)}"))
    if others:
        items.append(Paragraph(f"{what}: {'; '.join(others)}"))
    return items
