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
from emdeg.codegen.artefact import Artefact, Request
from emdeg.codegen.execution import Execution
from emdeg.codegen.identity import FORMAT, SIGNATURE, only_known, signed
from emdeg.codegen.infix import identifier
from emdeg.codegen.rechecking import check_run_of_stored
from emdeg.codegen.targets import TARGETS, Printing
from emdeg.errors import BadRequest, NotAProgram, NotCertified, NotExecutable, OffTheVariety, Refuted
from emdeg.programs import Program, from_data

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
    path: Path,
    certificate: dict[str, Any],
    member: Callable[[Path], tuple[dict[str, Any], Execution]],
    read: Callable[[Path], bytes],
) -> Execution:
    """What was executed, after every member was proved again (by `member`) and the files were printed again from them.

    Of what a library adds those functions are executed that compute; the rest is the same bytes again.
    """
    given = certificate[LIBRARY]
    try:
        only_known(certificate, _KEYS)
        if set(given) != {"members", "files"}:
            raise ValueError("it says what is not checked about its members")
        members, stated = [str(name) for name in given["members"]], dict(given["files"])
        if any(Path(name).name != name for name in (*members, *stated)):
            raise NotCertified("the certificate is damaged: a file of the library lies in another folder")
        if len(members) > MOST_MEMBERS:
            raise NotCertified(f"the certificate is damaged: it has more than {MOST_MEMBERS} members")
        proofs = [_alone(member(path.with_name(name))[0]) for name in members]
        name, programs, options, target = _joined(proofs)
        files = _files(proofs)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, NotAProgram, BadRequest) as problem:
        raise NotCertified(f"the certificate is damaged: {problem}") from None
    if any(proof["robot"] != certificate["robot"] for proof in proofs):
        raise NotCertified("the library's members are of different robots")
    first = next(iter(files))
    if (path.name, certificate["artefact"], certificate["digest"]) != (first, first, _digest(files[first])):
        raise NotCertified(f"it is not {first}, which its members make")
    if {name: _digest(text) for name, text in files.items()} != stated:
        raise NotCertified("its members' programs do not print to the library that is stated")
    for each, text in files.items():
        if read(path.with_name(each)) != text.encode():
            raise NotCertified(f"{each} was changed")
    if target.execute_library is None:
        return Execution(not_because="its members were, and what joins them are the same words again")
    try:
        runs = target.execute_library(files, name, programs, **options)
        for proof, run in zip(proofs, runs.values(), strict=True):
            check_run_of_stored(proof, run)
    except NotExecutable as problem:
        return Execution(not_because=str(problem))
    except (Refuted, OffTheVariety, ValueError) as problem:
        raise NotCertified(f"the library is wrong: {problem}") from None
    return Execution(next(iter(runs.values())).by, tuple(f"{of}_shared" for of in runs))


_KEYS = {"format", "emdeg", "artefact", "digest", "robot", LIBRARY, SIGNATURE}
MOST_MEMBERS = 200


def _alone(proof: dict[str, Any]) -> dict[str, Any]:
    """The proof of one function; a library in a library could be itself."""
    if "request" not in proof:
        raise ValueError("a member is no function's file")
    return proof


def _joined(certificates: Sequence[Mapping[str, Any]]) -> tuple[str, dict[str, Program], dict[str, Any], Printing]:
    """The library's name, its functions' programs by name, the options and the target that all of them have."""
    requests = [Request(**{**one["request"], "functions": tuple(one["request"]["functions"])}) for one in certificates]
    target = TARGETS[requests[0].target]
    if len({replace(one, functions=(), command="", base=False) for one in requests}) != 1:
        raise BadRequest("the functions of a library have the same options")
    programs = {one.name: from_data(said["program"]) for one, said in zip(requests, certificates)}
    options = {option: getattr(requests[0], option) for option in target.options}
    return identifier(requests[0].prefix + requests[0].robot_name), programs, options, target


def _files(certificates: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """What the target's library is made of, from the certificates of its members."""
    name, programs, options, target = _joined(certificates)
    if target.library is None:
        able = ", ".join(name for name, one in TARGETS.items() if one.library)
        raise BadRequest(f"--library: for --target {able} only, not for {certificates[0]['request']['target']}")
    return dict(target.library(name, programs, **options))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
