"""Programs as callables: one state or a batch, compiled in this process, on all cores."""

from typing import TYPE_CHECKING

from emdeg._exports import on_demand

if TYPE_CHECKING:
    from emdeg.runtime.compiled import BoundProgram, CompiledProgram, compile
    from emdeg.runtime.engine import machine_engine, vector_bits
    from emdeg.runtime.kane import KaneModel
    from emdeg.runtime.kernel import machine_available
    from emdeg.runtime.llvm_memory import Rows
    from emdeg.runtime.llvm_text import operations
    from emdeg.runtime.llvm_writer import EXPONENTIALS, LOG2_E, PRECISIONS, TANH_SERIES, Writer, vector_attributes
    from emdeg.runtime.pools import cores, in_blocks, one_thread, thread_pool
    from emdeg.runtime.random_streams import (
        GOLDEN,
        UniformRows,
        counter_start,
        mixed,
        normal_at,
        normal_text,
        signed_word,
        stream_key,
        uniform_at,
        uniform_text,
    )
    from emdeg.runtime.statistics import Fold

on_demand(globals())
