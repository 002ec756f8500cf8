"""The section of code: C files with their certificates, and the commands that make everything on the page."""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Mapping, Sequence

from emdeg.codegen import CERTIFICATE, Artefact, Request, make_artefact
from emdeg.codegen.js import emit_js
from emdeg.documents import Facts, File, Files, Item, Note, Paragraph, Section, Table, Verbatim
from emdeg.programs import Program
from emdeg.reports.subject import Subject
from emdeg.robot import to_toml

FUNCTIONS = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "gravity")
LARGEST = 1_500_000
"""Characters of one function's code and certificate that the page carries."""


def code(
    subject: Subject, programs: Mapping[str, Program], words: Sequence[str], stem: str, command: str, made_by: str
) -> tuple[Section, list[Artefact]]:
    """C of the main functions, each proved against an independent formulation; `words` choose the robot."""
    files: list[File] = []
    rows: list[tuple[str, ...]] = []
    made: list[Artefact] = []
    notes: list[Item] = []
    for name in (name for name in FUNCTIONS if name in programs):
        subject.progress(f"code and proof of {name}")
        line = shlex.join(["emdeg", "generate", *words, f"--function={name}", "--target=c", "--out=."])
        request = Request((name,), robot_name=stem, command=line)
        try:
            one = make_artefact(subject.robot, request, program=programs[name])
        except ValueError as problem:  # a proof that is out of reach; a wrong program is another error
            notes.append(Note(f"{name} is left out because it cannot be proved: {problem}", warning=True))
            continue
        proof = json.dumps(one.certificate, indent=1) + "\n"
        made.append(one)
        rows.append(_proof(name, one))
        code = str(one.text)
        if len(code) + len(proof) > LARGEST:
            notes += [Note(f"{one.file} is too long for the page. It is written by"), Verbatim(line)]
            continue
        files.append(File(one.file, code, f"{len(code.splitlines())} lines of C99"))
        files.append(File(one.file + CERTIFICATE, proof, "its certificate"))
    head = ("function", "formulations compared", "points", "degree", "false pass", "rounding [ulp]")
    text = (
        "Each function is C99 on the caller's arrays: no allocation, no static state, no library but sine and cosine. "
        "Before it was written, its program was evaluated at random points modulo random primes and found equal to "
        "another formulation of the same robot there; the certificate beside it says how to repeat that "
        "(emdeg verify FILE, both files in one folder)."
    )
    digest = hashlib.sha256(to_toml(subject.robot).encode()).hexdigest()
    items: list[Item] = [Paragraph(text), Files(tuple(files)), *notes] if files else [*notes]
    if rows:
        items.append(Table(head, tuple(rows), "Proofs"))
    items += [
        Facts((("made by", made_by), ("digest of the robot", digest))),
        Paragraph("This page is made anew, byte for byte, by"),
        Verbatim(command),
    ]
    return Section("code", "Code and proof", tuple(items)), made


LIVE = ("mass_matrix", "gravity", "inverse_dynamics")
"""What the page computes at a configuration."""


def page_programs(subject: Subject, programs: Mapping[str, Program], proved: Sequence[Artefact]) -> str:
    """A module of JavaScript with the functions that were proved here, of a robot of numbers; else nothing."""
    known = {name for one in proved for name in one.certificate["request"]["functions"]}
    found = [name for name in LIVE if name in known]
    return "" if subject.symbolic or not found else module({name: programs[name] for name in found})


def module(programs: Mapping[str, Program]) -> str:
    """The programs as a module of JavaScript that hands them to the page's script, by their names."""
    texts = [emit_js(program, name=name) for name, program in programs.items()]
    names = ", ".join(programs)
    told = f'window.emdegPrograms = {{ {names} }};\nwindow.dispatchEvent(new Event("emdeg-programs"));\n'
    return "\n".join([*texts, told])


def _proof(name: str, one: Artefact) -> tuple[str, ...]:
    data = one.certificate
    errors = data["float_error_ulps"].values()
    return (
        name,
        " / ".join(data["formulations"]),
        str(data["points"]),
        str(data["degree_bound"]),
        f"{data['false_pass_probability']:.1g}",
        f"{max(errors, default=0.0):.3g}",
    )
