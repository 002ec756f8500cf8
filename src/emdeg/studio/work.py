"""Work that takes a while, each piece in a process of its own, with a budget: it tells how far it is, can be stopped.

The page's process only waits, so that twenty pages stay alive while one robot's search runs. What goes into a piece of
work and what comes out is plain data (a robot is its file's text).
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import signal
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

from emdeg.errors import EmdegError, OverBudget, Stopped
from emdeg.studio.tasks import TASKS

BYTES = 4 * 2**30
"""Of memory that a piece of work may have."""
TICK = 0.01
"""Seconds between looks at a running piece of work."""
LONG = frozenset({"significance", "search", "report"})
"""Work of minutes: it leaves a processor to the others."""

Tell = Callable[[Any], None]


@dataclass
class Workshop:
    """Runs pieces of work; `hands` at a time, and of long ones fewer. The rest wait in order."""

    hands: int = field(default_factory=lambda: max(2, os.cpu_count() or 2))

    def __post_init__(self) -> None:
        if "forkserver" in multiprocessing.get_all_start_methods():
            # A process that has everything imported, to be forked: work begins within milliseconds.
            self._context = multiprocessing.get_context("forkserver")
            # The command itself is imported there, too: each process would else do it again.
            self._context.set_forkserver_preload(["__main__", "emdeg.studio.tasks", "emdeg.studio.work"])
        else:
            self._context = multiprocessing.get_context("spawn")
        self._places = asyncio.Semaphore(self.hands)
        self._long_places = asyncio.Semaphore(max(1, self.hands // 2))
        self._running: dict[tuple[str, str], BaseProcess] = {}

    async def warm(self) -> None:
        """Have the process ready that others are forked of."""
        await self.run("", "nothing", {}, 60.0)

    async def run(self, owner: str, task: str, data: dict[str, Any], seconds: float, tell: Tell | None = None) -> Any:
        """What the task yields of `data`; OverBudget after so many seconds, Stopped where it was ended."""
        self.stop(owner, task)
        places = self._long_places if task in LONG else self._places
        async with places:
            here, there = self._context.Pipe(duplex=False)
            process = self._context.Process(target=_child, args=(there, task, json.dumps(data)), daemon=True)
            process.start()
            there.close()
            self._running[owner, task] = process
            try:
                return await _awaited(process, here, seconds, tell)
            finally:
                if self._running.get((owner, task)) is process:
                    del self._running[owner, task]
                process.kill()
                here.close()
                await asyncio.to_thread(process.join)

    def stop(self, owner: str, task: str, gently: bool = False) -> None:
        """End a piece of work; gently: as Ctrl-C does, after which it may still yield what it has."""
        process = self._running.get((owner, task))
        if process is not None and process.pid is not None and process.is_alive():
            if gently:
                os.kill(process.pid, signal.SIGINT)
            else:
                process.kill()

    def dismiss(self, owner: str) -> None:
        """End all work of one page."""
        for of, task in list(self._running):
            if of == owner:
                self.stop(of, task)


async def _awaited(process: BaseProcess, pipe: Connection, seconds: float, tell: Tell | None) -> Any:
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    while True:
        if not pipe.poll():
            if loop.time() > end:
                raise OverBudget(f"it takes more than {seconds:g} s, which is the budget")
            await asyncio.sleep(TICK)
            continue
        try:
            message = json.loads(pipe.recv_bytes())
        except EOFError:
            process.join(1)
            if process.exitcode == -signal.SIGKILL:
                raise Stopped("stopped") from None
            raise OverBudget("the process that worked on it ended (for lack of memory?)") from None
        if "told" in message:
            if tell is not None:
                tell(message["told"])
        elif "problem" in message:
            raise EmdegError(message["problem"])
        else:
            return message["result"]


def _child(pipe: Connection, task: str, data: str) -> None:
    """One piece of work, in its own process."""
    _bounded(BYTES)
    if task in LONG:
        with suppress(OSError):
            os.nice(10)

    def send(message: dict[str, Any]) -> None:
        pipe.send_bytes(json.dumps(message).encode())

    try:
        send({"result": TASKS[task](json.loads(data), lambda told: send({"told": told}))})
    except (EmdegError, ValueError) as problem:
        send({"problem": str(problem) or type(problem).__name__})
    except MemoryError:
        send({"problem": f"it needs more than {BYTES // 2**30} GiB of memory, which is the budget"})
    except RecursionError:
        send({"problem": "it is nested too deeply"})
    except KeyboardInterrupt:
        send({"problem": "stopped"})
    except Exception as problem:
        traceback.print_exc()  # for who started the studio
        send({"problem": f"the studio has a fault: {type(problem).__name__}: {problem}"})


def _bounded(most: int) -> None:
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (most, most))
    except (ImportError, OSError, ValueError):
        return
