"""Objects for small processors, linked and run on QEMU's boards: results, executed instructions, stack.

Nothing of a C library is linked: a vector table, a loop over states, and semihosting to print. Instructions are counted
exactly: QEMU executes one at a time and writes a line for each in the function's range of addresses.
"""

from __future__ import annotations

import re
import struct
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from emdeg.programs import Program
from tests.languages import need, told

BOARDS = {
    "cortex-m4f": ("mps2-an386", "cortex-m4", "fpv4-sp-d16"),
    "cortex-m7": ("mps2-an500", "cortex-m7", "fpv5-d16"),
}
PAINT = 0xC0FFEE11

LAYOUT = """
ENTRY(reset)
MEMORY { code (rx) : ORIGIN = 0x00000000, LENGTH = 4M  data (rw) : ORIGIN = 0x20000000, LENGTH = 4M }
SECTIONS {
  .text : { KEEP(*(.vectors)) *(.text*) *(.rodata*) } > code
  .bss (NOLOAD) : { *(.bss*) *(COMMON) *(.data*) } > data
  .ARM.exidx : { *(.ARM.exidx*) } > code
}
"""

FIRMWARE = """
#include <stdint.h>
#include "%(header)s"
typedef %(real)s real;
extern void reset(void);
static void fault(void);
__attribute__((section(".vectors"), used)) void *const vectors[16] = {
    (void *)0x20300000, (void *)reset, (void *)fault, (void *)fault, (void *)fault, (void *)fault, (void *)fault };
static int host(int what, const void *argument)
{
    register int r0 __asm__("r0") = what;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}
static void leave(int status) { const int words[2] = {0x20026, status}; host(0x20, words); for (;;) {} }
static void fault(void) { leave(1); }
static void tell(const void *bytes, unsigned size)
{
    char line[20];
    const unsigned char *byte = bytes;
    unsigned k = 0;
    for (unsigned i = size; i-- > 0;) {
        line[k++] = "0123456789abcdef"[byte[i] >> 4];
        line[k++] = "0123456789abcdef"[byte[i] & 15];
    }
    line[k++] = '\\n';
    line[k] = 0;
    host(4, line);
}
static const uint%(bits)d_t given[%(states)d][%(inputs)d] = {%(given)s};
static real outputs[%(outputs)d];
static char *before;
static uint32_t *lowest(uint32_t *from) { while (*from == 0x%(paint)xu) ++from; return from; }
__attribute__((noinline)) static void run(int state)
{
    const real *in = (const real *)given[state];
    __asm__ volatile("mov %%0, sp" : "=r"(before));
    %(call)s;
    __asm__ volatile("" ::: "memory");
}
__attribute__((noinline)) static void measured(int state)
{
    uint32_t *here;
    __asm__ volatile("mov %%0, sp" : "=r"(here));
    for (int k = 1; k < 4096; ++k) ((volatile uint32_t *)here)[-k] = 0x%(paint)xu;
    run(state);
    char *least = (char *)lowest(here - 4095);
    const uint32_t used = least < before ? (uint32_t)(before - least) : 0;
    tell(&used, 4);
}
int main(void)
{
    for (int state = 0; state < %(states)d; ++state) {
        measured(state);
        for (int k = 0; k < %(outputs)d; ++k) tell(&outputs[k], sizeof(real));
    }
    leave(0);
    return 0;
}
__attribute__((naked, used)) void reset(void)
{
    __asm__ volatile("ldr r0, =0xE000ED88\\n ldr r1, [r0]\\n orr r1, r1, #0xF00000\\n str r1, [r0]\\n"
                     "dsb\\n isb\\n b main\\n");
}
"""


@dataclass(frozen=True)
class Flown:
    """What came of a run: outputs by state, instructions of one call and bytes of stack and code."""

    outputs: list[dict[str, np.ndarray]]
    instructions: int
    stack: int
    code: int


def run_object(
    program: Program, name: str, made: bytes, header: str, cpu: str, single: bool, states: Sequence[dict], folder: Path
) -> Flown:
    """The object's function at each state, on QEMU's board with that processor; no parameters among the inputs."""
    need("qemu-system-arm", "arm-none-eabi-gcc")
    board, core, unit = BOARDS[cpu]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.o").write_bytes(made)
    (folder / f"{name}.h").write_text(header)
    bits, code = (32, "f") if single else (64, "d")
    rows = []
    for state in states:
        words = np.concatenate([np.ravel(state[group.name]) for group in program.inputs])
        rows.append(
            ", ".join(f"0x{struct.pack('>' + code, float(word)).hex()}u{'ll' * (not single)}" for word in words)
        )
    arguments, at = [], 0
    for group in program.inputs:
        arguments.append(f"in + {at}")
        at += group.size
    total = 0
    for group in program.outputs:
        arguments.append(f"outputs + {total}")
        total += len(group.entries)
    words = {
        "header": f"{name}.h",
        "real": "float" if single else "double",
        "bits": bits,
        "states": len(states),
        "inputs": at,
        "outputs": total,
        "given": ", ".join(f"{{{row}}}" for row in rows),
        "paint": PAINT,
        "call": f"{name}({', '.join(arguments)})",
    }
    (folder / "main.c").write_text(FIRMWARE % words)
    (folder / "layout.ld").write_text(LAYOUT)
    flags = ["-mthumb", f"-mcpu={core}", f"-mfpu={unit}", "-mfloat-abi=hard", "-O1", "-ffreestanding", "-nostdlib"]
    told(["arm-none-eabi-gcc", *flags, "-T", "layout.ld", "main.c", f"{name}.o", "-lgcc", "-o", "main.elf"], folder)
    sizes = told(["arm-none-eabi-nm", "-S", "main.elf"], folder)
    found = re.search(rf"^(\w+) (\w+) T {name}$", sizes, re.MULTILINE)
    assert found is not None, sizes
    start, length = int(found[1], 16), int(found[2], 16)
    words_of_qemu = ["qemu-system-arm", "-M", board, "-nographic", "-semihosting-config", "enable=on,target=native"]
    words_of_qemu += [
        "-singlestep",
        "-d",
        "exec,nochain",
        "-dfilter",
        f"0x{start & ~1:x}+0x{length:x}",
        "-D",
        "trace.log",
    ]
    done = subprocess.run(
        [*words_of_qemu, "-kernel", "main.elf", "-monitor", "none", "-serial", "null"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    executed = (folder / "trace.log").read_text().count("Trace")
    assert executed % len(states) == 0, "the number of instructions changed with the state"
    told_lines = iter((done.stdout + done.stderr).split())
    stacks, results = [], []
    for _ in states:
        stacks.append(int(next(told_lines), 16))
        results.append(
            {
                group.name: np.array(
                    [struct.unpack(">" + code, bytes.fromhex(next(told_lines)))[0] for _ in group.entries]
                ).reshape(group.shape)
                for group in program.outputs
            }
        )
    return Flown(results, executed // len(states), max(stacks), length)
