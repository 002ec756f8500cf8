"""Work that takes a while, each piece in a process of its own, with a budget: it tells how far it is, can be stopped.

The page's process only waits, so that twenty pages stay alive while one robot's search runs. What goes into a piece of
work and what comes out is plain data (a robot is its file's text). Where a page asks for the same again with one number
changed, the process stays for that, with what it found.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import signal
import traceback
from collections import OrderedDict
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
STAYING = frozenset({"equations"})
"""Work whose process waits for the next piece of its page: another number mostly leaves the formulas as they are."""
MOST_WAITING = 4
"""Processes that wait; those that have waited longest end."""

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
        self._waiting: OrderedDict[tuple[str, str], Worker] = OrderedDict()

    async def warm(self) -> None:
        """Have the process ready that others are forked of."""
        await self.run("", "nothing", {}, 60.0)

    async def run(self, owner: str, task: str, data: dict[str, Any], seconds: float, tell: Tell | None = None) -> Any:
        """What the task yields of `data`; OverBudget after so many seconds, Stopped where it was ended."""
        self.stop(owner, task)
        places = self._long_places if task in LONG else self._places
        async with places:
            worker, stays = self._ready(owner, task), False
            self._running[owner, task] = worker.process
            try:
                worker.pipe.send_bytes(json.dumps([task, data]).encode())
                found = await _awaited(worker, seconds, tell)
                stays = task in STAYING
                return found
            finally:
                if self._running.get((owner, task)) is worker.process:
                    del self._running[owner, task]
                if stays:
                    await self._keep((owner, task), worker)
                else:
                    await worker.end()

    def _ready(self, owner: str, task: str) -> Worker:
        """The process that waits for this, or a new one."""
        found = self._waiting.pop((owner, task), None)
        return found if found is not None and found.process.is_alive() else self._started()

    def _started(self) -> Worker:
        here, there = self._context.Pipe()
        process = self._context.Process(target=_child, args=(there,), daemon=True)
        process.start()
        there.close()
        return Worker(process, here)

    async def _keep(self, whose: tuple[str, str], worker: Worker) -> None:
        ended = [self._waiting.pop(whose, None)]
        self._waiting[whose] = worker
        while len(self._waiting) > MOST_WAITING:
            ended.append(self._waiting.popitem(last=False)[1])
        for one in ended:
            if one is not None:
                await one.end()

    def stop(self, owner: str, task: str, gently: bool = False) -> None:
        """End a piece of work; gently: as Ctrl-C does, after which it may still yield what it has."""
        process = self._running.get((owner, task))
        if process is not None and process.pid is not None and process.is_alive():
            if gently:
                os.kill(process.pid, signal.SIGINT)
            else:
                process.kill()


@dataclass(frozen=True, slots=True)
class Worker:
    """A process that does what comes through its pipe, a piece at a time."""

    process: BaseProcess
    pipe: Connection

    async def end(self) -> None:
        """It is gone."""
        self.process.kill()
        self.pipe.close()
        await asyncio.to_thread(self.process.join)


async def _awaited(worker: Worker, seconds: float, tell: Tell | None) -> Any:
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    while True:
        if not worker.pipe.poll():
            if loop.time() > end:
                raise OverBudget(f"it takes more than {seconds:g} s, which is the budget")
            await asyncio.sleep(TICK)
            continue
        try:
            message = json.loads(worker.pipe.recv_bytes())
        except (EOFError, ConnectionResetError):
            worker.process.join(1)
            if worker.process.exitcode == -signal.SIGKILL:
                raise Stopped("stopped") from None
            raise OverBudget("the process that worked on it ended (for lack of memory?)") from None
        if "told" in message:
            if tell is not None:
                tell(message["told"])
        elif "problem" in message:
            raise EmdegError(message["problem"])
        else:
            return message["result"]


def _child(pipe: Connection) -> None:
    """One piece of work after the other, until nobody asks for more."""
    _bounded(BYTES)
    with suppress(EOFError, OSError, KeyboardInterrupt):
        while True:
            task, data = json.loads(pipe.recv_bytes())
            _done(pipe, task, data)


def _done(pipe: Connection, task: str, data: dict[str, Any]) -> None:
    """One piece of work; what came of it is sent."""
    if task in LONG:
        with suppress(OSError):
            os.nice(10)

    def send(message: dict[str, Any]) -> None:
        pipe.send_bytes(json.dumps(message).encode())

    try:
        send({"result": TASKS[task](data, lambda told: send({"told": told}))})
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
