"""Many searches in a given time, two at once: a short try of each, then what is left for those that need it.

Threads suffice: a search spends its time in operations on large arrays, which run side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from emdeg.bounds import SearchLimits, cancelled, clock

Key = TypeVar("Key")
Result = TypeVar("Result")
WORKERS = 2
FIRST = 1.5
"""The most seconds of a first try."""


def search_each(
    keys: Sequence[Key],
    search: Callable[[Key, SearchLimits], Result],
    seconds: float,
    done: Callable[[Result], bool] = lambda _: True,
) -> dict[Key, Result]:
    """{key: its search's result}; what is not `done` after the first try is searched again, longer, in `keys`' order.

    `seconds` are those of `clock` on each of two cores. A keyboard interrupt ends the searches under way at once.
    """
    if not keys:
        return {}

    def timed(key: Key, share: float) -> tuple[Result, float]:
        start = clock()
        return search(key, SearchLimits(seconds=share)), clock() - start

    left = WORKERS * seconds
    found: dict[Key, Result] = {}
    with ThreadPoolExecutor(WORKERS) as pool, _prompt(pool):
        first = min(FIRST, left / (3 * len(keys)))

        def run(some: Sequence[Key], share: float) -> float:
            tries = list(pool.map(timed, some, [share] * len(some)))
            found.update({key: result for key, (result, _) in zip(some, tries)})
            return sum(spent for _, spent in tries)

        left -= run(keys, first)
        hard = [key for key in keys if not done(found[key])]
        while hard and left > WORKERS * first:
            # A pair at a time: what the easier ones leave is the harder ones'.
            rounds = -(-len(hard) // WORKERS)
            pair = hard[: len(hard) % WORKERS or WORKERS]
            left -= run(pair, left / (WORKERS * rounds))
            hard = hard[len(pair) :]
    return found


@contextmanager
def _prompt(pool: ThreadPoolExecutor) -> Iterator[None]:
    """An interrupt cancels what the pool's threads do, instead of waiting for their time to pass."""
    try:
        yield
    except KeyboardInterrupt:
        with cancelled():
            pool.shutdown(cancel_futures=True)
        raise
