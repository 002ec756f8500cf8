"""Objects linked and run, on QEMU's boards or on this processor: results, executed instructions, stack.

For a board nothing of a C library is linked: a vector table, a loop over states, and semihosting to print. Instructions
are counted exactly: QEMU executes one at a time and writes a line for each in the function's range of addresses; here
a second process steps through the first.
"""

from __future__ import annotations

import re
import struct
import subprocess
from collections.abc import Mapping, Sequence
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

ON_BOARDS = """
#include <stdint.h>
#include "%(header)s"
#define STACK_POINTER(place) __asm__ volatile("mov %%0, sp" : "=r"(place))
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
static void say(const char *line) { host(4, line); }
static void states(void);
int main(void) { states(); leave(0); return 0; }
__attribute__((naked, used)) void reset(void)
{
    __asm__ volatile("ldr r0, =0xE000ED88\\n ldr r1, [r0]\\n orr r1, r1, #0xF00000\\n str r1, [r0]\\n"
                     "dsb\\n isb\\n b main\\n");
}
"""
HERE = """
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>
#include "%(header)s"
#define STACK_POINTER(place) __asm__ volatile("mov %%%%rsp, %%0" : "=r"(place))
static void say(const char *line) { fputs(line, stdout); }
static void states(void);
int main(void)
{
    const unsigned long long start = (unsigned long long)(uintptr_t)&%(name)s;
    unsigned long executed = 0;
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, 0, 0)) _exit(3);
        raise(SIGSTOP);
        states();
        fflush(stdout);
        _exit(0);
    }
    for (waitpid(child, &status, 0); WIFSTOPPED(status); waitpid(child, &status, 0)) {
        struct user_regs_struct at;
        if (ptrace(PTRACE_GETREGS, child, 0, &at)) return 4;
        executed += at.rip >= start && at.rip < start + %(length)d;
        if (ptrace(PTRACE_SINGLESTEP, child, 0, 0)) return 5;
    }
    fprintf(stderr, "%%lu", executed);
    return WEXITSTATUS(status);
}
"""
CALLS = """
typedef %(real)s real;
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
    say(line);
}
static const uint%(bits)d_t given[%(states)d][%(inputs)d] = {%(given)s};
static real outputs[%(outputs)d];
static char *before;
static uint32_t *lowest(uint32_t *from) { while (*from == 0x%(paint)xu) ++from; return from; }
__attribute__((noinline)) static void run(int state)
{
    const real *in = (const real *)given[state];
    STACK_POINTER(before);
    %(call)s;
    __asm__ volatile("" ::: "memory");
}
__attribute__((noinline)) static void measured(int state)
{
    uint32_t *here;
    STACK_POINTER(here);
    for (int k = 1; k < 4096; ++k) ((volatile uint32_t *)here)[-k] = 0x%(paint)xu;
    run(state);
    char *least = (char *)lowest(here - 4095);
    const uint32_t used = least < before ? (uint32_t)(before - least) : 0;
    tell(&used, 4);
}
static void states(void)
{
    for (int state = 0; state < %(states)d; ++state) {
        measured(state);
        for (int k = 0; k < %(outputs)d; ++k) tell(&outputs[k], sizeof(real));
    }
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
    """The object's function at each state, on QEMU's board with that processor or here; no parameters as inputs."""
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
        "name": name,
        "real": "float" if single else "double",
        "bits": bits,
        "states": len(states),
        "inputs": at,
        "outputs": total,
        "given": ", ".join(f"{{{row}}}" for row in rows),
        "paint": PAINT,
        "call": f"{name}({', '.join(arguments)})",
    }
    executed, length, printed = (_board if cpu in BOARDS else _here)(cpu, words, folder)
    assert executed % len(states) == 0, "the number of instructions changed with the state"
    told_lines = iter(printed.split())
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


def _board(cpu: str, words: Mapping[str, object], folder: Path) -> tuple[int, int, str]:
    """(instructions of all calls, bytes of code, what was printed) on QEMU's board."""
    need("qemu-system-arm", "arm-none-eabi-gcc")
    board, core, unit = BOARDS[cpu]
    (folder / "main.c").write_text((ON_BOARDS + CALLS) % words)
    (folder / "layout.ld").write_text(LAYOUT)
    flags = ["-mthumb", f"-mcpu={core}", f"-mfpu={unit}", "-mfloat-abi=hard", "-O1", "-ffreestanding", "-nostdlib"]
    parts = ["main.c", f"{words['name']}.o", "-lgcc", "-o", "main.elf"]
    told(["arm-none-eabi-gcc", *flags, "-T", "layout.ld", *parts], folder)
    start, length = _extent(told(["arm-none-eabi-nm", "-S", "main.elf"], folder), str(words["name"]))
    words_of_qemu = ["qemu-system-arm", "-M", board, "-nographic", "-semihosting-config", "enable=on,target=native"]
    words_of_qemu += ["-singlestep", "-d", "exec,nochain", "-dfilter", f"0x{start & ~1:x}+0x{length:x}"]
    words_of_qemu += ["-D", "trace.log", "-kernel", "main.elf", "-monitor", "none", "-serial", "null"]
    done = subprocess.run(words_of_qemu, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return (folder / "trace.log").read_text().count("Trace"), length, done.stdout + done.stderr


def _here(cpu: str, words: Mapping[str, object], folder: Path) -> tuple[int, int, str]:
    """The same on this processor, one step at a time."""
    assert cpu == "x86-64", cpu
    need("gcc")
    _, length = _extent(told(["nm", "-S", f"{words['name']}.o"], folder), str(words["name"]))
    (folder / "main.c").write_text((HERE + CALLS) % {**words, "length": length})
    told(["gcc", "-O1", "-mno-red-zone", "main.c", f"{words['name']}.o", "-o", "main"], folder)
    done = subprocess.run(["./main"], cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, f"{done.returncode} {done.stderr[-2000:]}"
    return int(done.stderr), length, done.stdout


def _extent(symbols: str, name: str) -> tuple[int, int]:
    """(first address, bytes) of a function."""
    found = re.search(rf"^(\w+) (\w+) T {name}$", symbols, re.MULTILINE)
    assert found is not None, symbols
    return int(found[1], 16), int(found[2], 16)
