"""Write docs/puma560_tables.md and docs/emdeg_appendix2.md: emdeg's tables of the PUMA 560 beside the papers'.

python examples/make_paper_tables.py
"""

from __future__ import annotations

import json
from pathlib import Path

import emdeg
from emdeg.algebra.expression import PrintedCount
from emdeg.documents.text import line as text
from emdeg.equations import Compact, Hierarchy, Lumped, compact, derive, hierarchy, lumped_constants

DOCS = Path(__file__).resolve().parent.parent / "docs"
COMMAND = "python examples/make_paper_tables.py"


def main() -> None:
    armstrong = json.loads((DOCS / "errata" / "armstrong_tables.json").read_text(encoding="utf-8"))
    burdick = json.loads((DOCS / "errata" / "burdick_appendix2.json").read_text(encoding="utf-8"))
    found = lumped_constants(derive(emdeg.load("puma560"), symbolic=True))
    names = paper_names(found, armstrong["constants"])
    renamed = found.renamed(names)
    (DOCS / "puma560_tables.md").write_text(puma_page(renamed, compact(renamed), armstrong), encoding="utf-8")
    symbolic = lumped_constants(derive(emdeg.load("puma560_emdeg")))
    (DOCS / "emdeg_appendix2.md").write_text(appendix_page(symbolic, hierarchy(symbolic), burdick), encoding="utf-8")


def paper_names(found: Lumped, paper: dict) -> dict[str, str]:
    """Our name -> the paper's: the same where the values are near (I1 and I3 are misprinted), else the nearest."""

    def distance(value: float, theirs: str) -> float:
        return abs(value - paper[theirs]["value"]) / abs(paper[theirs]["value"])

    names: dict[str, str] = {}
    for constant in found.constants:
        assert constant.value is not None
        kind = constant.name.rstrip("0123456789").replace("G", "g")
        known = [name for name in paper if name.rstrip("0123456789") == kind]
        own = constant.name.replace("G", "g")
        if own in known and distance(constant.value, own) < 0.2:
            names[constant.name] = own
        else:
            names[constant.name] = min(known, key=lambda name: distance(constant.value, name))
    return names


def puma_page(found: Lumped, table: Compact, paper: dict) -> str:
    """The page with Tables A2 to A7."""
    lines = [
        "# The PUMA 560's tables, as emdeg prints them and as the paper does",
        "",
        f"Written by `{COMMAND}`. The paper is {paper['paper']}; its appendix is transcribed in",
        "`errata/armstrong_tables.json`. A misprint is shown as ~~printed~~ and then corrected; each was found by",
        "comparison with first principles. `tests/equations/test_paper_tables.py` repeats the comparison.",
        "",
        "emdeg's constants carry the paper's names here. It needs 22 inertial constants where the paper has 23,",
        "because I19 = -(I20 + I21); emdeg writes those terms with I20 and I21.",
        "",
        *counts(table),
        "## Constants (Tables A2 and A3)",
        "",
        "The tolerance is the root mean square of the parameters' tolerances (Tables 4 to 6), to first order.",
        "",
        "| constant | emdeg's formula | the paper's | value | +- | the paper's value | +- |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    ours = {c.name: c for c in found.constants}
    for name, data in paper["constants"].items():
        stated = f"{data['value']:g} | {data['tolerance']:g}"
        theirs = corrected(data)
        if name not in ours:
            lines.append(f"| {name} | (-I20 - I21) | {theirs} |  |  | {stated} |")
            continue
        c = ours[name]
        lines.append(f"| {name} | `{text(c.expression)}` | {theirs} | {c.value:.10g} | {c.tolerance:.3g} | {stated} |")
    titles = {
        "M": "Kinetic energy matrix (Table A4)",
        "b": "Coriolis (Table A5)",
        "c": "Centrifugal (Table A6)",
        "g": "Gravity (Table A7)",
    }
    for letter, title in titles.items():
        lines += ["", f"## {title}", "", "| entry | emdeg | the paper |", "| --- | --- | --- |"]
        for name, entry in table.entries.items():
            if name[0] == letter and not (entry.text == "0" and paper["entries"][name]["printed"] == "0"):
                lines.append(f"| {name} | `{entry.text}` | {corrected(paper['entries'][name])} |")
    return "\n".join(lines) + "\n"


def counts(table: Compact) -> list[str]:
    theirs = {
        "M": PrintedCount(173, 86),
        "b": PrintedCount(330, 133),
        "c": PrintedCount(73, 26),
        "g": PrintedCount(21, 9),
    }
    lines = [
        "Operations to evaluate the tables as printed, aliases and signs free:",
        "",
        "| | emdeg | the paper |",
        "| --- | --- | --- |",
    ]
    for letter, paper in theirs.items():
        total = PrintedCount()
        for name, entry in table.entries.items():
            if name[0] == letter:
                total += entry.count
        lines.append(f"| {letter} | {total.mul} x, {total.add} + | {paper.mul} x, {paper.add} + |")
    lines.append(f"| abbreviated products | {len(table.products)} x | 12 x |")
    return [*lines, ""]


def corrected(data: dict) -> str:
    if "correct" not in data:
        return f"`{data['printed']}`" if data["printed"] else ""
    printed = f"~~`{data['printed']}`~~ " if data["printed"] else "(not printed) "
    return f"{printed}`{data['correct']}`"


def appendix_page(found: Lumped, form: Hierarchy, paper: dict) -> str:
    """The page with Appendix II."""
    total = form.count
    lines = [
        "# EMDEG's Appendix II, as emdeg writes it and as the paper does",
        "",
        f"Written by `{COMMAND}`, for the library's `puma560_emdeg`. The paper is {paper['paper']}; its Appendix II is",
        "transcribed in `errata/burdick_appendix2.json`, misprints shown as ~~printed~~ and then corrected.",
        "",
        "Each program chooses its own symbols, so a T, V or K here is not the one of the same name there. The paper's",
        "c_ijj is c_ij here. S and C are sine and cosine of the angles whose joints follow: S23 is that of q2 + q3.",
        "",
        f"emdeg's form takes {total.mul} multiplications and {total.add} additions; the paper states 291 and 131,",
        "and its appendix, misprints mended, counts 278 and 140.",
        "",
        "## Entries",
        "",
        "| entry | emdeg | the paper |",
        "| --- | --- | --- |",
    ]
    for name in form.entries:
        key = name if name[0] != "c" else name + name[-1]
        data = paper["entries"].get(key)
        ours = text(form.steps[name])
        if data is not None or ours != "0":
            lines.append(f"| {name} | `{ours}` | {corrected(data) if data else ''} |")
    for title, letters, own in (
        ("V: brackets that recur", ("V", "D", "e"), {n: form.steps[n] for n in form.brackets}),
        ("T: products of sines and cosines", ("T",), dict(form.products)),
    ):
        lines += ["", f"## {title}", "", "emdeg:", "", "```"]
        lines += [f"{name} = {text(expression)}" for name, expression in own.items()]
        lines += ["```", "", "The paper:", ""]
        lines += [f"- {name} = {corrected(data)}" for name, data in paper["entries"].items() if name[0] in letters]
    lines += ["", "## K: constants", "", "```"]
    lines += [f"{name} = {text(expression)}" for name, expression in form.constants.items()]
    lines += ["", *(f"{c.name} = {text(c.expression)}" for c in found.constants), "```"]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
