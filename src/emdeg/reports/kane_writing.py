"""What `emdeg.reports.kane.describe` found, as lines of text or as LaTeX."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from emdeg.codegen.infix import escaped


def as_text(result: dict[str, Any]) -> str:
    """What `describe` found, as lines."""
    out = [f"{result['robot']}: {result['title'] or 'generalized speeds'}", ""]
    foreign = {letter: name for letter, name in result["letters"].items() if letter != name}
    if foreign:
        out += ["letters: " + ", ".join(f"{letter} = {name}" for letter, name in foreign.items()), ""]
    out.append("generalized speeds")
    out += [f"  {s['name']} = {s['formula']}    ({s['is']})" for s in result["speeds"]]
    out += ["", "kinematic equations"]
    out += [f"  {r['rate']} = {r['formula']}" for r in result["rates"]]
    out += ["", f"det A = {result['determinant']}"]
    out.append("singular where " + "; ".join(result["singular"]) if result["singular"] else "never singular")
    for body in result.get("velocities", []):
        out += ["", f"{body['body']}: angular velocity, and velocity of its {body['point']}, in its own axes"]
        for key, form in (("omega", "implicit"), ("omega", "explicit"), ("v", "implicit"), ("v", "explicit")):
            vector = body[key][form]
            lines = ["straight-line solution only"] if vector is None else vector
            out += [f"  {key}, {form}:", *(f"    {axis}: {line}" for axis, line in zip("xyz", lines))]
    for body in result.get("partials", []):
        out += ["", f"{body['body']}: partial angular velocities, and partial velocities of its {body['point']}"]
        for key in ("omega", "v"):
            for name, vector in (body[key] or {}).items():
                if any(entry != "0" for entry in vector):
                    out.append(f"  {key}_{name} = ({', '.join(vector)})")
    if "Z" in result:
        out += ["", *(f"{z['name']} = {z['value']}" for z in result["Z"])]
    if "forces" in result:
        forces = result["forces"]
        out += ["", forces["meaning"], *_matrix_lines("T", forces["T"], symmetric=False)]
        for key in ("H", "G", "E"):
            out += [f"{key}{r + 1} = {text}" for r, text in enumerate(forces[key]) if text != "0"]
        if "equations" not in result:
            out += _matrix_lines("X", forces["X"])
    if "equations" in result:
        out += ["", "X ud = R", *_matrix_lines("X", result["equations"]["X"])]
        out += [f"R{r + 1} = {text}" for r, text in enumerate(result["equations"]["rhs"])]
    return "\n".join(out) + "\n"


def _matrix_lines(name: str, rows: Sequence[Sequence[str]], symmetric: bool = True) -> list[str]:
    wide = "_" if len(rows) > 9 else ""
    return [
        f"{name}{r + 1}{wide}{s + 1} = {text}"
        for r, row in enumerate(rows)
        for s, text in enumerate(row)
        if (s >= r or not symmetric) and text != "0"
    ]


def as_latex(result: dict[str, Any]) -> str:
    """The same as a fragment of LaTeX (amsmath); `result` must have been described with format "latex"."""
    title = _plain(f"{result['robot']}: {result['title'] or 'generalized speeds'}")
    out = [rf"\section*{{{title}}}", r"\subsection*{Generalized speeds}"]
    out += _align([f"{s['name']} &= {s['formula']}" for s in result["speeds"]])
    out += [r"\subsection*{Kinematic equations}"]
    out += _align([f"{r['rate']} &= {_words(r['formula'])}" for r in result["rates"]])
    singular = "; ".join(_plain(text) for text in result["singular"])
    where = f"singular where {singular}." if singular else "never singular."
    out.append(rf"$\det A = {_words(result['determinant'])}$; {where}")
    for body in result.get("velocities", []):
        name = _plain(body["body"])
        out.append(rf"\subsection*{{Velocities of {name} ({body['point']}), in its own axes}}")
        for symbol, key in ((r"\omega", "omega"), ("v", "v")):
            for form in ("implicit", "explicit"):
                if body[key][form] is not None:
                    out.append(f"{form}:")
                    lines = zip("xyz", body[key][form])
                    out += _align([f"{symbol}_{{{axis}}} &= {line}" for axis, line in lines])
    for body in result.get("partials", []):
        out.append(rf"\subsection*{{Partial velocities of {_plain(body['body'])} ({body['point']})}}")
        lines = []
        for symbol, key in ((r"\omega", "omega"), ("v", "v")):
            for name, vector in (body[key] or {}).items():
                if any(entry != "0" for entry in vector):
                    lines.append(rf"{symbol}_{{{name}}} &= \left({',; '.join(vector)}\right)".replace(",;", r",\;"))
        out += _align(lines)
    if "Z" in result:
        out.append(r"\subsection*{Intermediate quantities}")
        out += _align([f"{z['name']} &= {z['value']}" for z in result["Z"]])
    if "forces" in result:
        forces = result["forces"]
        meaning = r"K^*_r = -\sum_s X_{rs}\dot u_s - H_r,\qquad K_r = \sum_k T_{rk}\tau_k + G_r + E_r"
        out += [r"\subsection*{Generalized forces}", rf"\[{meaning}\]"]
        out += _align(
            [
                *_entries("T", forces["T"], symmetric=False),
                *(f"{key}_{{{r + 1}}} &= {text}" for key in "HGE" for r, text in enumerate(forces[key]) if text != "0"),
                *(_entries("X", forces["X"]) if "equations" not in result else ()),
            ]
        )
    if "equations" in result:
        out += [r"\subsection*{Equations of motion}", r"\[\sum_s X_{rs}\dot u_s = R_r\]"]
        right = [f"R_{{{r + 1}}} &= {text}" for r, text in enumerate(result["equations"]["rhs"])]
        out += _align([*_entries("X", result["equations"]["X"]), *right])
    return "\n".join(out) + "\n"


def _align(lines: Sequence[str]) -> list[str]:
    if not lines:
        return []
    return [r"\begin{align*}", " \\\\\n".join(lines), r"\end{align*}"]


def _entries(name: str, rows: Sequence[Sequence[str]], symmetric: bool = True) -> list[str]:
    return [
        f"{name}_{{{r + 1},{s + 1}}} &= {text}"
        for r, row in enumerate(rows)
        for s, text in enumerate(row)
        if (s >= r or not symmetric) and text != "0"
    ]


def _words(text: str) -> str:
    return rf"\text{{{text}}}" if text.endswith(("solution", "terms")) else text


def _plain(name: str) -> str:
    """A name from a file as LaTeX text: everything unusual percent-encoded, then LaTeX's own characters escaped."""
    return escaped(name).replace("%", r"\%").replace("_", r"\_")
