"""Programs on NVIDIA GPUs: PTX by LLVM, loaded by the driver; no toolkit, no compiler."""

from typing import TYPE_CHECKING

from emdeg._exports import on_demand

if TYPE_CHECKING:
    from emdeg.runtime.cuda.arrays import (
        Borrowed,
        borrowed,
        emptied,
        handed_back,
        library_of,
        lives_on_device,
        namespace,
        where_it_lies,
    )
    from emdeg.runtime.cuda.assembler import ARCHITECTURES, architecture, assembled, ptx, ptxas, register_use
    from emdeg.runtime.cuda.drawn_states import GridStates, MotionStates, RandomStates, StateRule
    from emdeg.runtime.cuda.driver import Device, Launch, Launchable, cuda_driver, device, devices
    from emdeg.runtime.cuda.kernel_file import KernelFile
    from emdeg.runtime.cuda.kernel_text import KernelPlan, KernelShape, emulated_kernel, kernel, kernel_plan
    from emdeg.runtime.cuda.parts import KernelPart, kernel_parts, suitable_parts
    from emdeg.runtime.cuda.program import CudaProgram
    from emdeg.runtime.cuda.statistics import StateStatistics
    from emdeg.runtime.cuda.threads import ThreadFunction, thread_text

on_demand(globals())
