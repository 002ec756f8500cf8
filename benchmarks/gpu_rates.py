"""How fast calls on a GPU are, the interpreter not counted."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import emdeg
from emdeg.runtime.cuda import CudaProgram

LAUNCHES = 100


def bound(program: emdeg.Program, dtype: str, states: int, layout: str = "rows", parts: int | None = None):
    """A call on random arrays of that many states; the program in so many parts, or in as many as suit it."""
    import torch

    kind = getattr(torch, dtype)
    inputs = [torch.rand((states, group.size), dtype=kind, device="cuda") * 2 - 1 for group in program.inputs]
    outputs = [torch.empty((states, *group.shape), dtype=kind, device="cuda") for group in program.outputs]
    return CudaProgram(program, np.dtype(dtype), layout=layout, parts=parts).bind(*inputs, *outputs)


def rate(program: emdeg.Program, dtype: str, states: int, layout: str = "rows", parts: int | None = None) -> float:
    """Million states a second."""
    import torch

    launches = LAUNCHES if states < 1 << 20 else 10
    with torch.cuda.stream(torch.cuda.Stream()):
        seconds = captured_seconds(bound(program, dtype, states, layout, parts), launches)
    return states * launches / seconds / 1e6


def rows_over_entries(program: emdeg.Program, dtype: str, states: int, turns: int = 3) -> float:
    """The rate of arrays row by row over that of arrays entry by entry; in turns, the best of each."""
    layouts = ("rows", "entries")
    best = dict.fromkeys(layouts, 0.0)
    for _ in range(turns):
        best = {layout: max(best[layout], rate(program, dtype, states, layout)) for layout in layouts}
    return best["rows"] / best["entries"]


def captured_seconds(run: Callable[[], object], launches: int) -> float:
    """Seconds of so many calls in a captured graph, in torch's present stream or one of its own; the best of five."""
    import torch

    stream = torch.cuda.current_stream()
    if stream == torch.cuda.default_stream():
        stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            run()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            for _ in range(launches):
                run()
        graph.replay()
        torch.cuda.synchronize()
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        seconds = []
        for _ in range(5):
            begin.record(stream)
            graph.replay()
            end.record(stream)
            torch.cuda.synchronize()
            seconds.append(begin.elapsed_time(end) / 1e3)
    return min(seconds)
