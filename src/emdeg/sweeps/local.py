"""Chunks on this machine: processes that each compute one chunk after the other.

They are started as programs of their own and spoken to through pipes, so that nothing of the calling process (its
threads, its open files, its main script) comes along, and a notebook may start them.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import NamedTuple

from emdeg.errors import SweepError
from emdeg.sweeps.worker import LENGTH, SECONDS, receive, send

TRIES = 3
"""How often a chunk may end the process that computes it."""


# Queues here are all SimpleQueue: Ctrl-C in the midst of a `Queue` can leave its lock taken, and nobody gets on.
Answers = SimpleQueue["Computed | SweepError"]


class Computed(NamedTuple):
    """A chunk's number, its Parquet bytes, and the seconds of computing."""

    chunk: int
    data: bytes
    seconds: float


def local_chunks(plan_text: str, chunks: Sequence[int], workers: int) -> Iterator[Computed]:
    """Each chunk as it is finished, in any order. Closing the iterator ends the processes."""
    todo: SimpleQueue[int] = SimpleQueue()
    for chunk in chunks:
        todo.put(chunk)
    found: Answers = SimpleQueue()
    room: SimpleQueue[None] = SimpleQueue()
    for _ in range(2 * workers):  # so many chunks may wait for whoever asked for them
        room.put(None)
    stopped = Event()
    hands = [_Hand(plan_text, todo, found, room, stopped) for _ in range(min(workers, len(chunks)))]
    try:
        for hand in hands:
            hand.start()
        for _ in chunks:
            answer = _next(found)
            room.put(None)
            if isinstance(answer, SweepError):
                raise answer
            yield answer
    finally:
        stopped.set()
        for _ in hands:
            room.put(None)
        for hand in hands:
            while hand.is_alive():  # a process that was just being started is ended the next time round
                hand.end()
                hand.join(0.05)


def _next(found: Answers) -> Computed | SweepError:
    while True:
        try:
            return found.get(timeout=1.0)  # in steps, so that Ctrl-C is heard on every system
        except Empty:
            continue


class _Hand(Thread):
    """A thread that looks after one worker process."""

    def __init__(
        self, plan_text: str, todo: SimpleQueue[int], found: Answers, room: SimpleQueue[None], stopped: Event
    ) -> None:
        super().__init__(daemon=True)
        self._plan = plan_text.encode()
        self._todo, self._found, self._room, self._stopped = todo, found, room, stopped
        self._process: subprocess.Popen[bytes] | None = None

    def run(self) -> None:
        while not self._stopped.is_set():
            try:
                chunk = self._todo.get_nowait()
            except Empty:
                break
            answer = self._computed(chunk)
            self._room.get()
            if answer is not None and not self._stopped.is_set():
                self._found.put(answer)
        self._dismiss()

    def end(self) -> None:
        """End the process; its thread then finds its pipe closed and ends too."""
        if (process := self._process) is not None:
            process.kill()

    def _dismiss(self) -> int | None:
        """Let the process go; how it ended."""
        process, self._process = self._process, None
        if process is None:
            return None
        process.kill()
        with contextlib.suppress(OSError):  # what was still to be sent
            process.communicate()
        return process.returncode

    def _computed(self, chunk: int) -> Computed | SweepError | None:
        code = None
        for _ in range(TRIES):
            if self._stopped.is_set():
                return None
            answer = self._asked(chunk)
            if answer is None:
                code = self._ended()
                continue
            if answer[:1] == b"E":
                return SweepError(f"chunk {chunk} cannot be computed: {answer[1:].decode()}")
            (seconds,) = SECONDS.unpack(answer[1 : 1 + SECONDS.size])
            return Computed(chunk, answer[1 + SECONDS.size :], seconds)
        how = f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
        return SweepError(f"the process that computes chunk {chunk} ended {TRIES} times, last with {how}")

    def _ended(self) -> int | None:
        """How the process ended by itself."""
        if self._process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=5)  # its pipe is closed, so it is about to
        return self._dismiss()

    def _asked(self, chunk: int) -> bytes | None:
        """The worker's answer, None if the process ended instead."""
        try:
            if self._process is None:
                self._process = _started()
                assert self._process.stdin is not None
                send(self._process.stdin, self._plan)  # type: ignore[arg-type]
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            send(self._process.stdin, LENGTH.pack(chunk))  # type: ignore[arg-type]
            return receive(self._process.stdout)  # type: ignore[arg-type]
        except (OSError, ValueError):
            return None


def _started() -> subprocess.Popen[bytes]:
    paths = [str(Path(__file__).parents[3]), *filter(None, [os.environ.get("PYTHONPATH")])]
    # One thread for linear algebra in each: there is a process for each core.
    alone = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return subprocess.Popen(
        [sys.executable, "-P", "-c", "from emdeg.sweeps.worker import main; main()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=os.environ | alone | {"PYTHONPATH": os.pathsep.join(paths)},
    )
