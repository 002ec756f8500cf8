"""A worker process: the plan comes in on stdin, then numbers of chunks; each goes out on stdout as a Parquet file.

A message is eight bytes of length and so many bytes. An answer's first byte says what it is: R a result, after eight
bytes of seconds; E an error's text. No code travels, and no pickles. A worker ends when its stdin does.
"""

from __future__ import annotations

import os
import signal
import struct
import sys
from queue import SimpleQueue
from threading import Thread
from typing import BinaryIO

LENGTH = struct.Struct("<q")
SECONDS = struct.Struct("<d")


def send(stream: BinaryIO, data: bytes) -> None:
    stream.write(LENGTH.pack(len(data)))
    stream.write(data)
    stream.flush()


def receive(stream: BinaryIO) -> bytes | None:
    """The next message, None where the stream ends."""
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    (length,) = LENGTH.unpack(head)
    data = stream.read(length)
    return data if len(data) == length else None


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that asks for chunks decides when to stop
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what is printed by accident is no answer
    asked: SimpleQueue[bytes] = SimpleQueue()
    Thread(target=_listen, args=(asked,), daemon=True).start()
    plan = asked.get().decode()
    from emdeg.sweeps.chunk import compute_chunk

    while True:
        (chunk,) = LENGTH.unpack(asked.get())
        try:
            data, seconds = compute_chunk(plan, chunk)
            answer = b"R" + SECONDS.pack(seconds) + data
        except Exception as problem:
            answer = b"E" + f"{type(problem).__name__}: {problem}".encode()
        try:
            send(answers, answer)
        except OSError:
            os._exit(0)


def _listen(asked: SimpleQueue[bytes]) -> None:
    """Take messages in; end the process when nobody is there to send them, whatever it is doing."""
    while (message := receive(sys.stdin.buffer)) is not None:
        asked.put(message)
    os._exit(0)
