"""An emitted object, called: its bytes, loaded by LLVM into this process, where they are for this processor."""

from __future__ import annotations

import ctypes
import platform
from dataclasses import replace
from types import SimpleNamespace

import numpy as np

from emdeg.codegen.execution import CalledC, Executed
from emdeg.codegen.infix import parts
from emdeg.codegen.object.processors import PROCESSORS
from emdeg.errors import NotExecutable, Refuted
from emdeg.programs import Program

HERE = {"x86_64": "x86-64", "AMD64": "x86-64"}
"""What the platform calls its processor -> the processor whose objects it runs."""


def executed_object(
    text: bytes, name: str, program: Program, *, cpu: str, single: bool = False, multirate: bool = False, **_: object
) -> Executed:
    """The function `name` of an object as a function of arrays, and its rates; NotExecutable on another processor."""
    if cpu != HERE.get(platform.machine()) or platform.system() != "Linux":
        raise NotExecutable(f"it is for another processor, {cpu}")
    from llvmlite import binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_triple(PROCESSORS[cpu].triple).create_target_machine(jit=True)
    # llvmlite's own memory manager keeps code and constants together: the object's addresses are 32 bits apart.
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine, use_lmm=True)
    engine.add_object_file(llvm.ObjectFileRef.from_data(text))
    engine.finalize_object()
    functions = parts(program, name, multirate)
    addresses = {part.name: engine.get_function_address(part.name) for part in functions}
    if missing := [one for one, address in addresses.items() if not address]:
        raise Refuted(f"{name}: the object has no function {missing[0]}")
    # Arrays by pointer, the engine kept alive by what calls into it.
    entries = {
        part.name: ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * (len(part.inputs) + len(part.outputs)))(
            addresses[part.name]
        )
        for part in functions
    }
    loaded = SimpleNamespace(**entries, engine=engine)
    called = CalledC(loaded, replace(program, name=name), np.dtype(np.float32 if single else np.float64))
    return Executed(called.plain, {f"{name}_rates": called.rates} if multirate else {}, by="this processor")
