"""Machine code from LLVM assembly, in this process: no compiler, no files."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from llvmlite import binding as llvm

from emdeg.programs import Program
from emdeg.runtime.llvm_text import assembly


@dataclass(frozen=True)
class MachineCode:
    """Addresses of compiled functions; alive as long as this object is. `lanes` states make a vector."""

    one: Any
    """words -> None; keeps the interpreter's lock, being over before another thread could use it."""
    states: Any
    """words, start, stop -> None; for any number of states."""
    vectors: Any
    """words, start, stop -> None; for at least `lanes` states."""
    lanes: int
    engine: Any


@lru_cache(maxsize=1)
def _host() -> tuple[str, str, frozenset[str]]:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    features = llvm.get_host_cpu_features()
    present = frozenset(name for name, here in features.items() if here)
    return llvm.get_host_cpu_name(), features.flatten(), present


def vector_bits() -> int:
    """The width of this machine's vector registers."""
    present = _host()[2]
    return 512 if "avx512f" in present else 256 if "avx2" in present else 128


def target_machine(opt: int = 3) -> Any:
    """This processor, with all it can do."""
    cpu, features, _ = _host()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(cpu=cpu, features=features, opt=opt, reloc="pic", codemodel="small", jit=True)


def machine_engine(text: str, opt: int = 3) -> Any:
    """The compiled functions of LLVM assembly; alive as long as this object is. `opt` 0 compiles long texts soon."""
    module = llvm.parse_assembly(text)
    # llvmlite's own memory manager keeps code and constants together, as the small code model needs.
    engine = llvm.create_mcjit_compiler(module, target_machine(opt), use_lmm=True)
    engine.finalize_object()
    return engine


def machine_code(program: Program, bits: int, shared: frozenset[str]) -> MachineCode:
    """The program compiled for this processor, for float64 or float32 arrays.

    `shared` names inputs of which one state serves all states of a batch.
    """
    lanes = vector_bits() // bits
    engine = machine_engine(assembly(program, bits, lanes, shared))
    loop = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
    return MachineCode(
        one=ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(engine.get_function_address("one")),
        states=loop(engine.get_function_address("states")),
        vectors=loop(engine.get_function_address("lanes")),
        lanes=lanes,
        engine=engine,
    )
