"""Threads: one pool of each size for the whole process, work in ordered blocks, and linear algebra on one thread."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from itertools import islice
from typing import TypeVar

from threadpoolctl import ThreadpoolController

Item = TypeVar("Item")
Result = TypeVar("Result")

AHEAD = 1
"""Blocks per core that may be finished before the caller asks for them: it keeps memory small."""


def cores() -> int:
    """The processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@cache
def thread_pool(threads: int) -> ThreadPoolExecutor:
    """The pool of this many threads; its threads live as long as the process."""
    return ThreadPoolExecutor(max_workers=threads, thread_name_prefix="emdeg")


def in_blocks(function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """Yield function(item) for every item, in order, computed on all cores by threads (NumPy releases the lock)."""
    threads = cores()
    rest = iter(items)
    first = list(islice(rest, 2))
    if threads == 1 or len(first) < 2:
        yield from map(function, first)
        yield from map(function, rest)
        return
    with ThreadPoolExecutor(threads, thread_name_prefix="emdeg-blocks") as pool:
        waiting: deque[Future[Result]] = deque(pool.submit(function, item) for item in first)
        waiting.extend(pool.submit(function, item) for item in islice(rest, (1 + AHEAD) * threads - len(first)))
        while waiting:
            result = waiting.popleft().result()
            waiting.extend(pool.submit(function, item) for item in islice(rest, 1))
            yield result


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


@contextmanager
def one_thread() -> Iterator[None]:
    """Run the linear algebra of NumPy and SciPy on one thread while the context lasts.

    A search multiplies thousands of small matrices. Divided among the cores they take many times the processor time,
    and what a search finds in its time then depends on the other load of the machine.
    """
    with _controller().limit(limits=1, user_api="blas"):
        yield
