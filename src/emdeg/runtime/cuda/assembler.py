"""PTX, the assembly that NVIDIA's driver takes, from a kernel's LLVM text."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from llvmlite import binding as llvm

from emdeg.errors import BadRequest, DeviceError
from emdeg.programs import Program
from emdeg.runtime.cuda.driver import assembler_effort
from emdeg.runtime.cuda.kernel_text import KernelShape, Layout, kernel, kernel_plan
from emdeg.runtime.cuda.parts import KernelPart

ARCHITECTURES = (75, 80, 86, 87, 89, 90, 100, 103, 120, 121)
"""Compute capabilities, times ten: sm_75 is Turing, sm_90 Hopper, sm_100 and sm_120 Blackwell."""

MOST_REGISTERS = 255
"""Of 32 bits, that a thread can have."""


def ptx(
    program: Program,
    name: str,
    *,
    bits: int = 64,
    layout: Layout = "rows",
    shared: frozenset[str] = frozenset(),
    sm: int = 75,
    parts: tuple[KernelPart, ...] | None = None,
) -> tuple[str, KernelShape]:
    """(the text of a program's kernel for GPUs of compute capability `sm` / 10 and newer, how it is launched)."""
    plan = kernel_plan(program, bits, layout, shared, parts)
    return assembled(kernel(plan, name), plan.shape.threads, sm, crowded=plan.shape.crowded), plan.shape


def assembled(text: str, threads: int, sm: int, loops: bool = False, crowded: bool = False) -> str:
    """PTX of a kernel's LLVM text; its blocks have `threads` threads.

    `crowded`: it has more values at once than a thread has registers, so that it takes them all; NVIDIA's assembler
    takes fewer of very long ones and stores the more.

    With `loops` LLVM's passes move what does not change out of them and inline calls; a straight line is in the order
    that keeps few values alive already, and stays as it is.
    """
    module, machine = llvm.parse_assembly(text), _machine(sm)
    if loops:
        passes = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=2))
        passes.getModulePassManager().run(module, passes)
    written = machine.emit_assembly(module)
    # Every kernel says how many threads a block of it has: a launch with another number is refused by the driver.
    says = f".reqntid {threads}, 1, 1\n" + (f".maxnreg {MOST_REGISTERS}\n" if crowded else "")
    return re.sub(r"(\.visible \.entry [^)]*\))\n", rf"\1\n{says}", written)


def architecture(sm: int) -> int:
    """The newest architecture here that a GPU of compute capability `sm` / 10 can run."""
    return max(each for each in ARCHITECTURES if each <= max(sm, ARCHITECTURES[0]))


@lru_cache(maxsize=8)
def _machine(sm: int) -> Any:
    if sm not in ARCHITECTURES:
        raise BadRequest(f"there is no sm_{sm} here; there are {', '.join(f'sm_{each}' for each in ARCHITECTURES)}")
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return llvm.Target.from_triple("nvptx64-nvidia-cuda").create_target_machine(cpu=f"sm_{sm}", opt=3)


@dataclass(frozen=True, slots=True)
class RegisterUse:
    """What NVIDIA's assembler makes of a kernel: registers of a thread, bytes that it stores beside them."""

    registers: int
    spill_bytes: int


def ptxas() -> str | None:
    """NVIDIA's assembler: on the path, or in the package `nvidia-cuda-nvcc-cu12`; None where it is neither."""
    found = shutil.which("ptxas")
    if found is None:
        nvidia = importlib.util.find_spec("nvidia")
        homes = list(nvidia.submodule_search_locations or ()) if nvidia is not None else []
        found = next((str(path) for home in homes for path in Path(home).rglob("ptxas") if path.is_file()), None)
    return found


def register_use(text: str, sm: int) -> RegisterUse:
    """Registers and spills of the kernel in `text`; DeviceError with the assembler's words where it refuses it."""
    program = ptxas()
    if program is None:
        raise DeviceError("there is no ptxas: pip install nvidia-cuda-nvcc-cu12")
    with tempfile.TemporaryDirectory(prefix="emdeg-") as folder:
        source, result = Path(folder, "kernel.ptx"), Path(folder, "kernel.cubin")
        source.write_text(text, encoding="utf-8")
        words = [program, f"-arch=sm_{sm}", f"-O{assembler_effort(text)}", "-v", str(source), "-o", str(result)]
        done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        raise DeviceError(f"ptxas refused the kernel:\n{done.stderr.strip()}", driver_code=done.returncode)
    registers = re.search(r"Used (\d+) registers", done.stderr)
    spills = re.search(r"(\d+) bytes spill stores", done.stderr)
    return RegisterUse(int(registers[1]) if registers else 0, int(spills[1]) if spills else 0)
