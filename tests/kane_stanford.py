"""The paper's Z1..Z196 beside the intermediate values of our programs; operations beside its 646 x and 394 +.

`python -m tests.kane_stanford` writes docs/kane_stanford.md.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import emdeg
from emdeg.dynamics.kane import joint_rates, load_setup
from emdeg.programs.ir import Kind, Program, count
from emdeg.programs.kane import METHODS, kane_program
from emdeg.programs.values import array_functions, constants, every_value
from tests import kane_levinson

ROOT = Path(__file__).parents[1]
STATES = 4
SYMBOL = {Kind.ADD: "+", Kind.SUB: "-", Kind.MUL: "*", Kind.DIV: "/"}


def page() -> str:
    """The page as Markdown."""
    arm = emdeg.load("stanford_arm")
    setup = load_setup(ROOT / "examples" / "speeds" / "stanford_arm.toml", arm)
    rng = np.random.default_rng(1983)
    q, u, tau = rng.uniform(0.2, 1.2, (3, STATES, 6))
    paper = [kane_levinson.values(kane_levinson.state(q[i], u[i], tau[i])) for i in range(STATES)]
    program = kane_program(arm, setup, "equations", method="partial velocities", base_parameters=False, factored=False)
    ours = _values(program, {"q": q, "u": u, "tau": tau})
    rows, matched = [], 0
    for definition in kane_levinson.definitions():
        if definition.name[0] not in "ZXR" or not definition.name[1:].isdigit():
            continue
        theirs = np.array([letters[definition.name] for letters in paper])
        found = _found(program, ours, theirs)
        matched += definition.name[0] == "Z" and found != ""
        rows.append(f"| {definition.name} | `{definition.text}` | {found} |")
    return "\n".join([*_head(arm, setup, matched), *rows]) + "\n"


def _head(arm, setup, matched: int) -> list[str]:
    plain = joint_rates(arm)
    lines = [
        "# The Stanford Arm of Kane and Levinson",
        "",
        "T. R. Kane and D. A. Levinson, The Use of Kane's Dynamical Equations in Robotics, Int. J. of Robotics",
        "Research 2(3), 1983, with their generalized speeds (eqs. 2, 3; `examples/speeds/stanford_arm.toml`).",
        "Written by `python -m tests.kane_stanford`. X and the right-hand sides of eqs. 118-123 equal the corrected",
        "Appendices 1 and 2 to 1e-12 at random states (`tests/programs/test_kane.py`); the corrections stand in",
        "`tests/data/kane_levinson.txt`.",
        "",
        "## Operations",
        "",
        "| program | x (with divisions) | + |",
        "|---|---:|---:|",
        "| torques from motion, the paper's count | 646 | 394 |",
    ]
    names = {
        "torques": "torques from q, u, ud",
        "accelerations": "ud and qd from q, u, tau",
        "equations": "X and right-hand side",
        "rates": "qd from q, u",
    }
    for function, words in names.items():
        for title, of in (("the paper's speeds", setup), ("joint rates", plain)):
            found = count(kane_program(arm, of, function))
            lines.append(f"| {words}, {title} | {found.mul + found.div} | {found.add} |")
    ways = ", ".join(
        f"{method} {c.mul + c.div} x {c.add} +"
        for method in METHODS["accelerations"]
        for c in [count(kane_program(arm, setup, "accelerations", method=method))]
    )
    return [
        *lines,
        "",
        f"ud from torques by each way, the paper's speeds: {ways}.",
        "",
        "## The paper's quantities and ours",
        "",
        "Ours are the values of the program of X and the right-hand side by partial velocities, with the bodies' own",
        "inertias, before common factors are taken out: v7 is its value number 7, shown with the operation that makes",
        "it. A multiple is named where the values differ by a constant factor, as they do where ours keeps a mass or a",
        "length apart; an empty field means that our program never forms the quantity: it takes velocities of the",
        f"frames' origins where the paper takes those of mass centres. {matched} of the 196 Z's occur.",
        "",
        "| | the paper | ours |",
        "|---|---|---|",
    ]


def _values(program: Program, inputs: dict[str, np.ndarray]) -> list[np.ndarray]:
    fixed = constants(program)

    def leaf(index: int):
        op = program.ops[index]
        if op.kind is Kind.INPUT:
            return inputs[op.slot[0]][:, op.slot[1]]
        return np.full(STATES, float(fixed[index])) if index in fixed else None

    return [np.broadcast_to(value, STATES) for value in every_value(program, leaf, array_functions(np))]


def _found(program: Program, ours: list[np.ndarray], theirs: np.ndarray) -> str:
    """Our value that equals theirs up to sign, or else up to a constant factor."""
    if not theirs.any():
        return "0"
    multiple = ""
    for index, value in enumerate(ours):
        if program.ops[index].kind is Kind.NUMBER or not value.all():
            continue
        ratio = theirs / value
        if np.ptp(ratio) > 1e-11 * np.abs(ratio).max() or np.ptp(value) == 0:
            continue
        if abs(abs(ratio[0]) - 1) < 1e-11:
            return _named(program, index, "-" if ratio[0] < 0 else "")
        multiple = multiple or _named(program, index, f"{ratio[0]:.6g} ")
    for index, value in enumerate(ours):
        if program.ops[index].kind is Kind.NUMBER and np.allclose(np.abs(theirs), value, rtol=1e-12):
            return f"{theirs[0]:.6g}"
    return multiple


def _named(program: Program, index: int, factor: str) -> str:
    op = program.ops[index]
    if op.kind not in SYMBOL:
        return factor + _leaf(program, index)
    a, b = (_leaf(program, arg) for arg in op.args)
    made = f"v{index} = {a} {SYMBOL[op.kind]} {b}"
    return f"{factor}v{index}, {made}" if factor else made


def _leaf(program: Program, index: int) -> str:
    op = program.ops[index]
    if op.kind is Kind.NUMBER:
        return f"{float(op.number):g}"
    joints = (1, 2, 6, 3, 4, 5)
    if op.kind is Kind.INPUT:
        name, place = op.slot
        return f"u{place + 1}" if name == "u" else f"{name}{joints[place]}"
    if op.kind in (Kind.SIN, Kind.COS):
        return ("s" if op.kind is Kind.SIN else "c") + str(joints[program.ops[op.args[0]].slot[1]])
    return f"v{index}"


def main() -> None:
    target = ROOT / "docs" / "kane_stanford.md"
    target.write_text(page(), encoding="utf-8")
    print(target)


if __name__ == "__main__":
    main()
