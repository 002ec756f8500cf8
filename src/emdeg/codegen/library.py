"""Many functions of a robot as one library: files made of proved artefacts, and of nothing else.

What a library adds (a header over all, shared parts, a build file) is printed from the programs in its members'
certificates. `recheck_library` repeats every member's proof and prints the library again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from emdeg._version import __version__
from emdeg.codegen.artefact import FORMAT, Artefact, Request
from emdeg.codegen.identity import signed
from emdeg.codegen.infix import identifier
from emdeg.codegen.targets import TARGETS
from emdeg.errors import BadRequest, NotAProgram, NotCertified
from emdeg.programs import from_data

LIBRARY = "library"


def with_library(made: Sequence[Artefact], certificate_suffix: str, key: Path | None = None) -> tuple[Artefact, ...]:
    """The artefacts, the first of which brings along the files that make one library of all, and their certificate."""
    files = _files([one.certificate for one in made])
    first = next(iter(files))
    certificate: dict[str, Any] = {
        "format": FORMAT,
        "emdeg": __version__,
        "artefact": first,
        "digest": _digest(files[first]),
        "robot": made[0].certificate["robot"],
        LIBRARY: {"members": [one.file for one in made], "files": {name: _digest(files[name]) for name in files}},
    }
    certificate = certificate if key is None else signed(certificate, key)
    files[first + certificate_suffix] = json.dumps(certificate, indent=1) + "\n"
    return replace(made[0], beside={**made[0].beside, **files}), *made[1:]


def recheck_library(
    path: Path, certificate: dict[str, Any], member: Callable[[Path], dict[str, Any]], read: Callable[[Path], bytes]
) -> dict[str, Any]:
    """The certificate, after every member was proved again (by `member`) and the files were printed again from them."""
    given = certificate[LIBRARY]
    try:
        members, stated = [str(name) for name in given["members"]], dict(given["files"])
        if any(Path(name).name != name for name in (*members, *stated)):
            raise NotCertified("the certificate is damaged: a file of the library lies in another folder")
        proofs = [member(path.with_name(name)) for name in members]
        files = _files(proofs)
    except (KeyError, TypeError, ValueError, NotAProgram, BadRequest) as problem:
        raise NotCertified(f"the certificate is damaged: {problem}") from None
    if len({proof["robot"]["digest"] for proof in proofs} | {certificate["robot"]["digest"]}) != 1:
        raise NotCertified("the library's members are of different robots")
    if {name: _digest(text) for name, text in files.items()} != stated:
        raise NotCertified("its members' programs do not print to the library that is stated")
    for name, text in files.items():
        if read(path.with_name(name)) != text.encode():
            raise NotCertified(f"{name} was changed")
    return certificate


def _files(certificates: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """What the target's library is made of, from the certificates of its members."""
    requests = [Request(**{**one["request"], "functions": tuple(one["request"]["functions"])}) for one in certificates]
    target = TARGETS[requests[0].target]
    if target.library is None:
        able = ", ".join(name for name, one in TARGETS.items() if one.library)
        raise BadRequest(f"--library: for --target {able} only, not for {requests[0].target}")
    if len({replace(one, functions=(), command="", base=False) for one in requests}) != 1:
        raise BadRequest("the functions of a library have the same options")
    programs = {one.name: from_data(said["program"]) for one, said in zip(requests, certificates)}
    options = {option: getattr(requests[0], option) for option in target.options}
    return dict(target.library(identifier(requests[0].prefix + requests[0].robot_name), programs, **options))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
