"""The room's two verbs: `generate` makes proved code of a robot's functions, `verify` proves or repeats a proof.

The command line calls these and prints what they return.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Literal

from emdeg.codegen import fmu
from emdeg.codegen.artefact import (
    Artefact,
    Request,
    as_bytes,
    make_artefact,
    measured_errors,
    rounding_of,
    where_defined,
)
from emdeg.codegen.c.acados import EXPLICIT, IMPLICIT
from emdeg.codegen.execution import Execution
from emdeg.codegen.identity import FMU, PROOF, library_note, need_same_robot, same_format, signer
from emdeg.codegen.library import LIBRARY, recheck_library, with_library
from emdeg.codegen.rechecking import beside_stored, recheck, stored_where_defined
from emdeg.codegen.targets import TARGETS, Target
from emdeg.documents import held, read_plain, write_whole
from emdeg.dynamics.functions import DERIVED, RUBBING, WITH_FRICTION, functions_of, parts_of, with_friction_in
from emdeg.errors import BadRequest, NotCertified, RobotError, UnknownFunction
from emdeg.programs import (
    OPERATIONS,
    Progress,
    Weights,
    as_text,
    count,
    joined_functions,
    program,
    slopes_on_file,
    verify_program,
)
from emdeg.robot import SUFFIXES, Robot, RobotLike, additions, as_robot, library_names, resolved

LONGEST_NAME = 160
"""Of a function: its file's and certificate's names must still be ones that a file system takes."""


def generate(
    robot: RobotLike,
    function: str | Sequence[str] | None,
    target: Target = "c",
    *,
    out: str | PathLike[str] | None = None,
    trig: Literal["libm", "inline"] | None = None,
    batch: bool = False,
    casadi: bool = False,
    acados: bool = False,
    multirate: bool = False,
    single: bool = False,
    layout: Literal["rows", "entries"] | None = None,
    sm: int | None = None,
    loader: bool = False,
    cpu: str = "",
    fmi: Literal[2, 3] | None = None,
    pd: bool = False,
    tunable: Sequence[str] = (),
    base: bool = False,
    friction: bool = False,
    effort: float | None = None,
    otherwise: float = 0.0,
    seed: int = 0,
    weights: Weights | str = OPERATIONS,
    name: str | None = None,
    prefix: str = "",
    library: bool = False,
    force: bool = False,
    sign: str | PathLike[str] | None = None,
    words: Sequence[str] = (),
    progress: Progress | None = None,
) -> tuple[Artefact, ...]:
    """The code of each function (or of several in one program, "A+B"), proved, with its certificate; SI units.

    None asks for every function of the robot, derivatives of others left out, and for `mass_matrix+bias`; of the target
    fmu, which takes no function, for an FMU of FMI `fmi` (3), with a servo if `pd`, whose parameters are gravity, a
    load, the robot's symbols and the numbers at the paths `tunable`. `library` adds what makes one library of them: C's
    header over all, CMake's words, what they share computed once.

    With `out` the files are written into that folder, all or none, and each artefact knows its `path`; a file that
    emdeg did not generate is replaced only with `force`. `trig` (the library's sine or polynomials in the file),
    `batch`, `casadi`, `acados` (of forward or inverse dynamics), `multirate` and `single` (float instead of double)
    are some targets' only; `layout` (arrays row by row or entry by entry), `sm` (compute capability times ten) and
    `loader` (also a Python file that needs NumPy and a driver alone) are PTX's, `cpu` is the objects'. `effort`,
    `otherwise`, `seed` and `weights` choose the program as in `emdeg.program`; `base`: a regressor's columns of the
    base parameters only. `friction`: the drives' friction is in the efforts (inverse dynamics, bias), or taken from
    those that act (forward dynamics). `sign` is the file of an Ed25519 private key, whose signature the certificates
    then bear. `name` replaces the robot's in files and functions, `prefix` stands in front of it. `words` are those of
    a command that chooses the robot, for the header's line `command`; a robot's name or path is one by itself.

    >>> import emdeg
    >>> (code,) = emdeg.generate("planar2r", "gravity")
    >>> code
    Artefact(file='planar2r_gravity.c', path=None)
    >>> code.certificate["false_pass_probability"] < 1e-15
    True
    """
    options = {"trig": trig, "batch": batch, "casadi": casadi, "acados": acados}
    options |= {"multirate": multirate, "single": single}
    options |= {"layout": layout, "sm": sm, "loader": loader, "cpu": cpu}
    options |= {"fmi": fmi, "pd": pd, "tunable": list(tunable)}
    for option in (option for option, value in options.items() if value):
        if option not in TARGETS[target].options:
            able = ", ".join(name for name, one in TARGETS.items() if option in one.options)
            raise BadRequest(f"{_written(option)}: for --target {able} only, not for {target}")
    for option, on in (("--casadi", casadi), ("--acados", acados)):
        if on and single:
            raise BadRequest(f"{option} and --float exclude each other: CasADi's interface is of doubles")
    loaded = as_robot(robot)
    if not words and not isinstance(robot, Robot):
        words = [fspath(robot)]
    called = [f"--name={name}"] if name else []
    called += [f"--prefix={prefix}"] if prefix else []
    called += [] if effort is None else [f"--effort={effort:g}"]
    called += [f"--seed={seed}"] if seed else []
    called += [] if weights in ("operations", OPERATIONS) else [f"--weights={as_text(weights)}"]
    robot_name = name or (Path(words[0]).stem if words else loaded.name)
    key = None if sign is None else Path(sign)
    if target == "fmu":
        if function is not None or library or base:
            raise BadRequest("--target fmu takes no --function, --library or --base: it is a robot's forward dynamics")
        choices = [*(["--friction"] if friction else []), "--target=fmu", *_words(options), *called]
        asked_for = fmu.FmuRequest(
            robot_name, fmi or 3, pd, friction, tuple(tunable), prefix, _command(words, choices) if words else ""
        )
        _need_short(asked_for.name)

        def prove(of: Robot, names: Sequence[str], stem: str) -> tuple[Artefact, ...]:
            return generate(of, names, "c", name=stem, effort=effort, seed=seed, weights=weights, progress=progress)

        unit = (fmu.make_fmu(loaded, asked_for, prove, key),)
        return unit if out is None else write(unit, Path(out), force)
    if function is None:
        function = every_function(loaded, friction, multirate)
        otherwise /= len(function)  # the time is for all of them together
    texts = [function] if isinstance(function, str) else list(function)
    if library and TARGETS[target].library is None:
        able = ", ".join(each for each, one in TARGETS.items() if one.library)
        raise BadRequest(f"--library: for --target {able} only, not for {target}")
    asked = dict.fromkeys(texts)
    if friction:
        asked = {rubbing(text): text for text in texts}
        texts = list(asked)
    wanted = {text: tuple(joined_functions(text, loaded, base and "regressor" in text)) for text in texts}
    if base and not any("regressor" in names for names in wanted.values()):
        raise BadRequest("--base applies to regressor, which is not among the functions")
    if acados and any((asked[text] or text) not in (EXPLICIT, IMPLICIT) for text in wanted):
        raise BadRequest(f"--acados applies to {EXPLICIT} (explicit model) and {IMPLICIT} (implicit model), one a file")
    _need_apart(list(wanted.values()), multirate)
    made = []
    for place, (text, names) in enumerate(wanted.items(), 1):
        of_base = base and "regressor" in names
        choices = [f"--function={asked[text] or text}", *(["--friction"] if friction else [])]
        choices += [f"--target={target}", *_words(options), *(["--base"] if of_base else []), *called]
        request = Request(
            functions=names,
            target=target,
            robot_name=robot_name,
            base=of_base,
            command=_command(words, choices) if words else "",
            trig=trig or "libm",
            batch=batch,
            casadi=casadi,
            acados=acados,
            multirate=multirate,
            single=single,
            layout=layout or "rows",
            sm=sm or 75,
            loader=loader,
            prefix=prefix,
            cpu=cpu,
            friction=friction,
        )
        _need_short(request.name)
        if casadi and "__" in request.name:
            raise BadRequest(f"CasADi takes no name with two underscores in a row, {request.name}: give another --name")
        found = program(
            loaded,
            names,
            effort=effort,
            otherwise=otherwise,
            seed=seed,
            base=of_base,
            weights=weights,
            progress=_of_many(progress, text, place, len(wanted)),
        )
        ready = casadi and effort is None and as_text(weights) == as_text(OPERATIONS)
        slopes = slopes_on_file(loaded, names) if ready else None
        made.append(make_artefact(loaded, request, program=found, slopes=slopes, key=key))
    if library:
        made = with_library(made, CERTIFICATE, key)
    return tuple(made) if out is None else write(made, Path(out), force)


def every_function(robot: Robot, friction: bool = False, multirate: bool = False) -> list[str]:
    """The functions of a robot, derivatives of others left out, and mass matrix and bias in one.

    `friction`: those that friction may be in. `multirate`: but for those that another's faster rate is called like.
    """
    plain = [name for name in functions_of(robot) if not name.endswith((*DERIVED, WITH_FRICTION))]
    if multirate:
        plain = [name for name in plain if name not in namesakes(plain)]
    return [name for name in plain if name in RUBBING] if friction else [*plain, "mass_matrix+bias"]


def namesakes(functions: Sequence[str]) -> list[str]:
    """Those among the functions that have the name of another one's part, at the slower or the faster rate."""
    return [
        one for one in functions if one.removesuffix("_rates").removesuffix("_configuration") in {*functions} - {one}
    ]


def _need_apart(wanted: Sequence[Sequence[str]], multirate: bool) -> None:
    """BadRequest where two functions in one folder would have the same name."""
    if multirate and (same := namesakes(["_".join(names) for names in wanted])):
        other = same[0].removesuffix("_rates").removesuffix("_configuration")
        raise BadRequest(
            f"--multirate: {same[0]} is also the name of a part of {other}: give one of them another --name"
        )


def _of_many(progress: Progress | None, function: str, place: int, many: int) -> Progress | None:
    """Progress that says which of many functions it is of."""
    if progress is None or many == 1:
        return progress
    return lambda phase, best: progress(f"{function} ({place} of {many}): {phase}", best)


def _need_short(name: str) -> None:
    if len(name) > LONGEST_NAME:
        raise BadRequest(f"{name[:40]}... has more than {LONGEST_NAME} characters: give a shorter --name")


def _command(words: Sequence[str], choices: Sequence[str]) -> str:
    """The command that makes an artefact again."""
    return shlex.join(["emdeg", "generate", *words, *choices, "--out=."])


def _words(options: Mapping[str, object]) -> list[str]:
    """The options that were asked for, as the command line says them."""
    found = []
    for option, value in options.items():
        values = value if isinstance(value, list) else [value] if value else []
        found += [_written(option) + ("" if one is True else f"={one}") for one in values]
    return found


def _written(option: str) -> str:
    """An option of a request as the command line writes it."""
    return "--float" if option == "single" else f"--{option}"


def rubbing(text: str) -> str:
    """The function "A" or "A+B" with friction in what it may be in; BadRequest where it may be in none."""
    names = parts_of(text)
    rubbed = [with_friction_in(name) for name in names]
    if not any(rubbed):
        raise BadRequest(f"--friction applies to {', '.join(RUBBING)} and derivatives of these, not to {text}")
    return "+".join(one or name for one, name in zip(rubbed, names))


_SHORT = ("box", "certified_error", "largest_effort")
_SHOWN = ("artefact", *PROOF, "rounding", "float_error_ulps", "operations")


def verify(
    robot: RobotLike,
    function: str | None = None,
    *,
    base: bool = False,
    seed: int = 0,
    effort: float | None = None,
    otherwise: float = 0.0,
    weights: Weights | str = OPERATIONS,
    of: RobotLike | None = None,
    signed_by: str | PathLike[str] | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """What a proof says: formulations, primes, points, the probability of a false pass, errors of doubles [ulps].

    `divides_by` names the program's divisors, `nowhere_zero` those that are certainly not zero within joints' limits;
    `roots_of` its radicands, `nowhere_negative` those that are certainly not negative there;
    `executed` which functions of a file were, and by what, or why the program ran instead.

    With a robot and a function (or "A+B") its program, chosen as in `emdeg.program`, is proved equal to an independent
    formulation modulo random primes at random points, and at one drawn from `seed`. With the path of a generated file
    alone, the proof in the certificate beside it is repeated, and the text executed; `of` is the robot that it must be
    of, `signed_by` the file of the public key that must have signed it. `Refuted` or `NotCertified` where it fails.

    >>> import emdeg
    >>> emdeg.verify("planar2r", "gravity")["false_pass_probability"] < 1e-15
    True
    """
    if function is None:
        return _of_file(robot, None if of is None else as_robot(of), None if signed_by is None else Path(signed_by))
    if of is not None or signed_by is not None:
        raise BadRequest("--robot and --signed-by are for a generated file, not for a robot's function")
    loaded = as_robot(robot)
    names = joined_functions(function, loaded, base)
    found = program(loaded, names, effort=effort, otherwise=otherwise, base=base, weights=weights, progress=progress)
    certificate = verify_program(found, loaded, names, base=base, seed=seed)
    proof = certificate.as_dict()
    request = Request(tuple(names), base=base)
    proof["rounding"] = asdict(rounding_of(found, loaded, request, certificate.divides_by, seed=seed))
    return {
        "robot": loaded.name,
        **{key: proof[key] for key in _SHOWN if key in proof},
        "executed": asdict(Execution(not_because="there is none yet; the program was, in floating point")),
        **where_defined(found, loaded, proof),
        "float_error_ulps": measured_errors(found, loaded),
        "operations": count(found).as_dict(),
    }


def _of_file(path: RobotLike, of: Robot | None, signed_by: Path | None) -> dict[str, Any]:
    if isinstance(path, Robot):
        raise UnknownFunction("say which function of the robot to verify")
    text = fspath(path)
    if text in library_names() or Path(text).suffix.lower() in SUFFIXES:
        raise UnknownFunction(f"{text} is a robot: say which FUNCTION to verify")
    certificate, execution = recheck_file(Path(text))
    about = certificate["robot"]
    if of is not None:
        need_same_robot(about, of)
    shown = {"robot": about["name"], "robot_digest": about["digest"], "robot_note": library_note(about)}
    if of is not None:
        shown["robot_note"] = f"it is {of.name}"
    shown |= {"signed_by": signer(certificate, signed_by)}
    if LIBRARY in certificate:
        members = certificate[LIBRARY]["members"]
        return shown | {"digest": certificate["digest"], "members": members, "executed": asdict(execution)}
    if FMU in certificate:
        unit = certificate[FMU]
        shown |= {"digest": certificate["digest"], "members": list(unit["members"]), "binary": unit["binary"]}
        return shown | {"executed": asdict(execution)}
    shown |= {"roots_of": []} | {key: certificate[key] for key in _SHOWN if key in certificate}
    shown |= {"executed": asdict(execution)}
    if "short" not in certificate:
        shown |= stored_where_defined(certificate)
    else:
        shown["short"] = {key: value for key, value in certificate["short"].items() if key in _SHORT}
    return shown


CERTIFICATE = ".certificate.json"
MARK = "generated by emdeg"
LARGEST = 64 * 2**20


def write(artefacts: Sequence[Artefact], folder: Path, force: bool = False) -> tuple[Artefact, ...]:
    """Write every artefact and its certificate into `folder`; the artefacts, which now know their paths.

    A file that emdeg did not generate is replaced only with `force`. Either all files are written or none changes.
    """
    files: dict[str, bytes] = {}
    for one in artefacts:
        files[one.file] = as_bytes(one.text)
        files[one.file + CERTIFICATE] = (json.dumps(one.certificate, indent=1) + "\n").encode()
        files |= {name: text.encode() for name, text in one.beside.items()}
    if len(files) != sum(2 + len(one.beside) for one in artefacts):
        raise RobotError("two of the artefacts would have the same name")
    write_files(files, folder, force)
    return tuple(replace(one, path=folder / one.file) for one in artefacts)


def write_files(files: Mapping[str, bytes], folder: Path, force: bool = False) -> list[Path]:
    """Write files (path below `folder` -> content) that bear emdeg's mark; their paths.

    A file that emdeg did not generate is replaced only with `force`. Either all files are written or none changes.
    """
    paths = {folder / name: content for name, content in files.items()}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path in paths:
            path.parent.mkdir(parents=True, exist_ok=True)
            may_replace(path, force)
        write_whole(paths)
    except OSError as problem:
        where = problem.filename if str(folder) == "." else folder
        raise RobotError(f"cannot be written: {problem.strerror or problem}", file=str(where)) from None
    return list(paths)


def may_replace(path: Path, force: bool) -> None:
    """An error unless there is no such file, emdeg generated it, or `force` is given."""
    if path.is_dir():
        raise RobotError("it is a directory", file=str(path))
    if force or not path.exists():
        return
    with path.open("rb") as stream:
        content = stream.read(LARGEST)  # a PDF has its mark at its end
    if MARK.encode() not in content and not path.name.endswith(CERTIFICATE):
        raise RobotError("it exists and was not generated by emdeg; pass --force to replace it", file=str(path))


def recheck_file(path: Path) -> tuple[dict[str, Any], Execution]:
    """The certificate of an artefact (or of the certificate's artefact), repeated, and what was executed for that.

    NotCertified where it fails.
    """
    if not path.name.removesuffix(CERTIFICATE):
        raise RobotError("it names no file", file=str(path))
    if path.name.endswith(CERTIFICATE):
        path = path.with_name(path.name.removesuffix(CERTIFICATE))
    beside = path.with_name(path.name + CERTIFICATE)
    with held([path.parent], shared=True):  # no writer is between the two
        text = _read(path)
        if not beside.exists():
            raise NotCertified(f"there is no certificate {beside.name} beside it")
        said = _read(beside)
    try:
        certificate = json.loads(said, object_pairs_hook=_once, parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise NotCertified(f"the certificate is damaged: {beside.name} is no JSON") from None
    for key, recheck_record in (row for rows in additions("records") for row in resolved(rows)):
        if isinstance(certificate, dict) and key in certificate:
            same_format(certificate)
            return certificate, resolved(recheck_record)(text, certificate)
    if isinstance(certificate, dict) and LIBRARY in certificate:
        same_format(certificate)
        return certificate, recheck_library(path, certificate, recheck_file, _read)
    if isinstance(certificate, dict) and FMU in certificate:
        same_format(certificate)
        return certificate, fmu.recheck_fmu(text, certificate)
    execution = recheck(text, certificate)
    for name, expected in beside_stored(text, certificate).items():
        file = path.with_name(name)
        if file.exists() and _read(file) != expected.encode():
            raise NotCertified(f"{name}, which lies beside it, was changed")
    return certificate, execution


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a key stands twice")
    return dict(pairs)


def _no_number(text: str) -> Any:
    raise ValueError(f"{text} is no number")


def _read(path: Path) -> bytes:
    try:
        data = read_plain(path, LARGEST)
    except OSError as problem:
        raise RobotError(f"cannot be read: {problem.strerror or problem}", file=str(path)) from None
    if len(data) > LARGEST:
        raise RobotError(f"it is larger than {LARGEST // 2**20} MiB", file=str(path))
    return data
