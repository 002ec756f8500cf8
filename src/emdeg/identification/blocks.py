"""Long work cut into blocks: all cores at once, results in order, a few ahead of whoever takes them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import TypeVar

from emdeg.runtime import cores

Item = TypeVar("Item")
Result = TypeVar("Result")

AHEAD = 1
"""Blocks a core that may be done before they are asked for: what is held stays small."""


def in_blocks(function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """function(item) for every item, in order; NumPy lets go of Python's lock, so that threads are enough."""
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
            found = waiting.popleft().result()
            waiting.extend(pool.submit(function, item) for item in islice(rest, 1))
            yield found
