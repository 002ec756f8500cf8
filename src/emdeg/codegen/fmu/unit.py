"""An FMU and its certificate: made of proved C functions, printed again and compiled again to be checked.

The functions of the robot are artefacts of the target C, each with its own proof, kept in the FMU's certificate. All
else (the description, the interface, laws of friction and of motors) follows from the robot and the request, and is
printed again; the zip must then be the same, byte for byte, the binary among it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from importlib.resources import files as resources
from pathlib import Path
from typing import Any

from emdeg._version import __version__
from emdeg.codegen.artefact import Artefact, Request, as_bytes, beside, emit
from emdeg.codegen.c import emit_c
from emdeg.codegen.execution import Execution
from emdeg.codegen.fmu.archive import archive, binary_place, compiled
from emdeg.codegen.fmu.description import build_description, model_description
from emdeg.codegen.fmu.model import FmuModel, fmu_model
from emdeg.codegen.identity import FMU, FORMAT, SIGNATURE, check_command, only_known, robot_data, signed, stored_robot
from emdeg.codegen.infix import identifier, parts
from emdeg.codegen.rechecking import recheck
from emdeg.dynamics.formulations import FrictionLaw, smooth_sign
from emdeg.errors import EmdegError, NotAProgram, NotCertified, OverBudget
from emdeg.programs import Dependence, Program, Tracer, from_data, normal_digest
from emdeg.robot import Robot
from emdeg.simulation import METHODS, Explicit, motor_efforts

METHOD = "rk4"


@dataclass(frozen=True, slots=True)
class FmuRequest:
    """What the FMU is to have; `robot_name` is its file's stem, `command` stands in its description."""

    robot_name: str
    fmi: int = 3
    servo: bool = False
    friction: bool = False
    tunable: tuple[str, ...] = ()
    prefix: str = ""
    command: str = ""

    @property
    def name(self) -> str:
        """The model's identifier and the file's stem."""
        return identifier(self.prefix + self.robot_name)


def make_fmu(
    robot: Robot,
    request: FmuRequest,
    prove: Callable[[Robot, Sequence[str], str], Sequence[Artefact]],
    key: Path | None,
) -> Artefact:
    """The FMU with its certificate. `prove(robot, functions, name)` makes the proved C that it consists of."""
    model = _model(robot, request)
    members = prove(model.robot, model.functions, request.name)
    files = _files(robot, request, model, [one.certificate for one in members])
    place = binary_place(request.fmi, request.name)
    built = compiled(files) if place is not None else None
    if place is not None and built is not None:
        files[place] = built
    data = archive(files)
    certificate: dict[str, Any] = {
        "format": FORMAT,
        "emdeg": __version__,
        "artefact": f"{request.name}.fmu",
        "digest": hashlib.sha256(data).hexdigest(),
        "robot": robot_data(robot),
        FMU: {
            "request": asdict(request) | {"tunable": list(request.tunable)},
            "binary": place if built is not None else None,
            "members": {one.file: one.certificate for one in members},
        },
    }
    certificate = certificate if key is None else signed(certificate, key)
    return Artefact(certificate["artefact"], data, certificate)


def recheck_fmu(data: bytes, certificate: dict[str, Any]) -> Execution:
    """What was executed, after every function was proved again and the FMU was made again from them."""
    try:
        only_known(certificate, {"format", "emdeg", "artefact", "digest", "robot", FMU, SIGNATURE})
        given = certificate[FMU]
        request, members, place = _request(given["request"]), dict(given["members"]), given["binary"]
        if set(given) != {"request", "members", "binary"} or certificate["artefact"] != f"{request.name}.fmu":
            raise ValueError("its request is not one of this program's")
        robot = stored_robot(certificate["robot"])
        check_command(request.command, "generate", certificate["robot"]["digest"])
        model = _model(robot, request)
        wanted = {f"{request.name}_{function}.c": function for function in model.functions}
        if list(members) != list(wanted):
            raise ValueError("its functions are not those that an FMU consists of")
        for file, function in wanted.items():
            _plain_member(members[file], function, request.name, model.robot)
    except OverBudget:
        raise
    except (KeyError, TypeError, AttributeError, NotAProgram, EmdegError, ValueError) as problem:
        raise NotCertified(f"the certificate is damaged: {problem}") from None
    if hashlib.sha256(data).hexdigest() != certificate["digest"]:
        raise NotCertified("the artefact was changed: its digest is not the certificate's")
    executed = []
    for proof in members.values():
        asked, program = _stored_member(proof)
        executed.append(recheck(as_bytes(emit(program, proof["robot"]["name"], asked)), proof))
    files = _files(robot, request, model, list(members.values()))
    if place is not None:
        built = compiled(files) if place == binary_place(request.fmi, request.name) else None
        if built is None:
            raise NotCertified(f"its binary {str(place)[:80]!r} cannot be made again here; its functions hold")
        files[place] = built
    if archive(files) != data:
        what = "" if place is None else ", and what the compiler here makes of them,"
        raise NotCertified(f"the stored programs{what} are not this FMU (it was made by emdeg {certificate['emdeg']})")
    functions = tuple(name for one in executed for name in one.functions)
    why = next((one.not_because for one in executed if one.not_because), "")
    return Execution(executed[0].by, functions, why)


def _model(robot: Robot, request: FmuRequest) -> FmuModel:
    return fmu_model(robot, servo=request.servo, friction=request.friction, tunable=request.tunable)


def _request(given: Mapping[str, Any]) -> FmuRequest:
    """The request of a certificate; ValueError where it is none."""
    kinds = {"int": int, "bool": bool, "str": str, "tuple[str, ...]": list}
    wanted = {each.name: kinds[str(each.type)] for each in fields(FmuRequest)}
    if set(given) != set(wanted) or any(type(given[name]) is not kind for name, kind in wanted.items()):
        raise ValueError("its request is not one of this program's")
    if given["fmi"] not in (2, 3) or not all(isinstance(path, str) for path in given["tunable"]):
        raise ValueError("its request is not one of this program's")
    return FmuRequest(**{**given, "tunable": tuple(given["tunable"])})


def _stored_member(proof: Mapping[str, Any]) -> tuple[Request, Program]:
    asked = proof["request"]
    return Request(**{**asked, "functions": tuple(asked["functions"])}), from_data(proof["program"])


def _plain_member(proof: Mapping[str, Any], function: str, name: str, robot: Robot) -> None:
    """ValueError unless this is the certificate of a function of this robot as plain C."""
    asked, _ = _stored_member(proof)
    if asked != Request((function,), "c", name) or proof["robot"]["digest"] != normal_digest(robot):
        raise ValueError(f"{function} is not the robot's, or not as an FMU has it")


def _files(robot: Robot, request: FmuRequest, model: FmuModel, proofs: Sequence[Mapping[str, Any]]) -> dict[str, bytes]:
    """Every file of the FMU but its binary, by its place there."""
    name = request.name
    sources: dict[str, str] = {}
    calls: list[Program] = []
    for proof in proofs:
        asked, program = _stored_member(proof)
        text = emit(program, proof["robot"]["name"], asked)
        assert isinstance(text, str)
        sources |= {f"{asked.name}.c": text, **beside(text, program, asked)}
        calls += parts(program, asked.name)
    rubbing = friction_program(robot, f"{name}_rubbed")
    own = [rubbing, *([motor_program(robot, f"{name}_motors")] if request.servo and model.own_motors else [])]
    sources |= {f"{program.name}.c": emit_c(program) for program in own}
    interface = f"fmi{request.fmi}.c"
    listed = [interface, *(file for file in sources if file.endswith(".c"))]
    sources |= {file: _resource(file) for file in ("core.h", interface)}
    header = model_header(model, name, calls, own)

    def described(token: str) -> str:
        return model_description(
            model,
            fmi=request.fmi,
            name=name,
            robot=robot.name,
            token=token,
            sources=listed,
            command=request.command,
        )

    digest = hashlib.sha256("\0".join([described(""), header, *sources.values()]).encode()).hexdigest()
    token = f"{{{digest[:8]}-{digest[8:12]}-{digest[12:16]}-{digest[16:20]}-{digest[20:32]}}}"
    sources["model.h"] = header.replace(_TOKEN, token)
    if request.fmi == 3:
        sources["buildDescription.xml"] = build_description(name, listed)
    found = {"modelDescription.xml": described(token)}
    found |= {f"sources/{file}": text for file, text in sources.items()}
    return {place: text.encode() for place, text in found.items()}


def _resource(file: str) -> str:
    return resources("emdeg.codegen.fmu").joinpath("sources", file).read_text(encoding="utf-8")


def friction_program(robot: Robot, name: str) -> Program:
    """The drives' rates and the numbers of their laws -> what friction takes from their efforts [N m, N]."""
    tracer, motors = Tracer(), robot.driven
    numbers = ("viscous", "coulomb", "stribeck_peak", "stribeck_velocity", "rest_speed")
    v = tracer.inputs("v", len(motors), Dependence.RATES)
    given = [tracer.inputs(number, len(motors), Dependence.RATES) for number in numbers]
    taken = []
    for k, joint in enumerate(motors):
        viscous, coulomb, peak, velocity, rest = (array[k] for array in given)
        fades = joint.drive.friction.rest_speed is not None
        law = FrictionLaw(viscous, coulomb, peak, velocity, rest if fades else None)
        taken.append(law.effort(v[k], smooth_sign(rest, tracer.sqrt), tracer.exp, tracer.tanh))
    return tracer.program(name, {"tau": taken})


def motor_program(robot: Robot, name: str) -> Program:
    """The motors' Jacobian, row by row, and forces on the coordinates -> the motors' efforts [N m, N]."""
    tracer, n, motors = Tracer(), robot.freedoms, len(robot.driven)
    entries = tracer.inputs("J", motors * n, Dependence.RATES)
    force = tracer.inputs("force", n, Dependence.RATES)
    J = [entries[n * i : n * (i + 1)] for i in range(motors)]
    return tracer.program(name, {"tau": motor_efforts(robot, tracer, J, list(force))})


_TOKEN = "@TOKEN@"
_KINDS = {"independent": "i", "state": "s", "calculated": "c", "input": "u", "parameter": "p", "switch": "b"}


def model_header(model: FmuModel, name: str, calls: Sequence[Program], own: Sequence[Program]) -> str:
    """The text of model.h: sizes, places, starts, the integrator's numbers, how the robot's functions are called."""
    robot, variables = model.robot, model.variables
    method = METHODS[METHOD]
    assert isinstance(method, Explicit)
    constants: dict[str, int] = {}
    total = 0
    for program in calls:
        if program.outputs[0].name == "constants":
            constants[program.name.removesuffix("_constants")] = total
            total += len(program.outputs[0].entries)
    headers = [program.name for program in calls if not program.name.endswith("_constants")]
    prepared = [f"{of}_constants((m)->v + PARAMETERS, (m)->constants + {place})" for of, place in constants.items()]
    lines = [
        f"/* model.h: generated by emdeg, do not edit. What is special to {name}. */",
        "#ifndef EMDEG_FMU_MODEL_H",
        "#define EMDEG_FMU_MODEL_H",
        "",
        *(f'#include "{header}.h"' for header in headers),
        *(f"void {one.name}({_arguments(one)});" for one in own),
        "",
        f'#define TOKEN "{_TOKEN}"',
        f"#define N {robot.freedoms}",
        f"#define MOTORS {len(robot.driven)}",
        f"#define SERVO {int(model.servo)}",
        f"#define OWN_MOTORS {int(model.own_motors)}",
        f"#define VARIABLES {len(variables)}",
        f"#define CONSTANTS {max(total, 1)}",
        f"#define STAGES {len(method.a)}",
        *(f"#define {group} {place}" for group, place in model.places.items()),
        "",
        f"#define PREPARE(m) do {{ {'; '.join([*prepared, '(void)(m)'])}; }} while (0)",
    ]
    for program in calls:
        function = program.name.removeprefix(f"{name}_")
        if program.outputs[0].name == "constants":
            continue
        inputs = [group.name for group in program.inputs if group.name != "constants"]
        outputs = [group.name for group in program.outputs]
        given = ", ".join(
            f"m->constants + {constants[program.name]}" if group.name == "constants" else group.name
            for group in program.inputs
        )
        lines.append(f"#define {function.upper()}({', '.join([*inputs, *outputs])}) \\")
        lines.append(f"    {program.name}({', '.join([given, *outputs])})")
    lines += [f"#define {_OWN[one.name.removeprefix(f'{name}_')]} {one.name}" for one in own]
    lines += [
        "",
        f"static const double METHOD_A[STAGES] = {{{', '.join(map(repr, method.a))}}};",
        f"static const double METHOD_B[STAGES] = {{{', '.join(map(repr, method.b))}}};",
        "static const double START[VARIABLES] = {",
        *(f"    {variable.start or 0.0!r}, /* {variable.name} */" for variable in variables),
        "};",
        "static const char KIND[VARIABLES] = {",
        *(f"    '{_KINDS[variable.role]}'," for variable in variables),
        "};",
        "",
        "#endif /* EMDEG_FMU_MODEL_H */",
        "",
    ]
    return "\n".join(lines)


_OWN = {"rubbed": "RUBBED", "motors": "MOTOR_EFFORTS"}


def _arguments(program: Program) -> str:
    return ", ".join(
        [*(f"const double *{group.name}" for group in program.inputs), *(f"double *{g.name}" for g in program.outputs)]
    )
