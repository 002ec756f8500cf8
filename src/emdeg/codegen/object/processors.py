"""Processors that objects are made for: what LLVM calls them, and whether they have double precision."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Processor:
    """A core. `tested`: whether this project's tests run its objects; `double`: whether it computes with doubles.

    `jumps`: whether LLVM makes a jump where one of two reals is chosen, and none where it is one of two integers.
    """

    triple: str
    cpu: str
    features: str = ""
    reloc: str = "static"
    double: bool = True
    tested: bool = False
    jumps: bool = False


_THUMB = "thumbv7em-none-unknown-eabihf"
PROCESSORS: Mapping[str, Processor] = {
    "cortex-m4f": Processor(_THUMB, "cortex-m4", "+vfp4d16sp", double=False, tested=True),
    "cortex-m7": Processor(_THUMB, "cortex-m7", "+fp-armv8d16", tested=True),
    "x86-64": Processor("x86_64-unknown-linux-gnu", "x86-64", reloc="pic", tested=True, jumps=True),
    "cortex-m33": Processor("thumbv8m.main-none-unknown-eabihf", "cortex-m33", "+fp-armv8d16sp", double=False),
    "cortex-a53": Processor("aarch64-none-unknown-elf", "cortex-a53"),
    "rv64gc": Processor("riscv64-unknown-none-elf", "generic-rv64", "+m,+a,+f,+d,+c"),
}
