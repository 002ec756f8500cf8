"""Chunks on a cluster of dask.distributed: the same function, the same data, the same bits.

What goes out is the name of `compute_chunk`, which the workers must have installed, the plan as text and a number;
what comes back is bytes. dask itself speaks in pickles, so whoever stands between could run code on either side: an
address off this machine needs TLS, or the caller's word that the network can be trusted.
"""

from __future__ import annotations

import ipaddress
import logging
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any, TypeVar

from emdeg.errors import EmdegError, SweepError
from emdeg.sweeps.chunk import compute_chunk
from emdeg.sweeps.folder import GO_ON
from emdeg.sweeps.local import Computed
from emdeg.sweeps.plan import text_digest

Item = TypeVar("Item")
Made = TypeVar("Made")

PATIENCE = 10.0
"""Seconds to wait for the scheduler, and for its first worker."""
AHEAD = 2
"""Chunks on the way for each thread of a worker."""

_ADDRESS = re.compile(
    r"(?:(?P<protocol>tcp|tls)://)?(?P<host>\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]*?):?(?P<port>[0-9]{1,5})\Z"
)


def scheduler_address(text: str, trust_network: bool = False) -> str:
    """The address in full; without a host it is this machine's. SweepError for one that is none, or that is open.

    >>> scheduler_address("8786"), scheduler_address("localhost:8786")
    ('tcp://127.0.0.1:8786', 'tcp://localhost:8786')
    """
    found = _ADDRESS.match(text.strip())
    if found is None:
        raise SweepError(
            f"{text[:80]!r} is no address of a scheduler: write HOST:PORT, tcp://HOST:PORT or tls://HOST:PORT"
        )
    protocol, host = found["protocol"] or "tcp", found["host"] or "127.0.0.1"
    if not (_is_loopback(host) or protocol == "tls" or trust_network):
        raise SweepError(
            f"{host} is another machine, and {protocol} is open to everyone on the way: use tls://, or --trust-network"
        )
    return f"{protocol}://{host}:{found['port']}"


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def cluster_map(
    function: Callable[[Item], Made], items: Sequence[Item], address: str, what: str = "item"
) -> Iterator[Made]:
    """function(item) for every item, in order; an error that the function raises is raised here.

    The workers must have emdeg, and reach the files that items name.
    """
    distributed = _distributed()
    with _quiet():
        client = _connected(distributed, address)
        try:
            for k, future in enumerate(client.map(function, items, pure=False), 1):
                yield _value(distributed, future, f"{what} {k}", address, "nothing was written")
                future.release()
        except (distributed.CancelledError, distributed.comm.CommClosedError, OSError) as problem:
            raise _gone(address, problem, "nothing was written") from None
        finally:
            client.close(timeout=2)


def cluster_chunks(plan_text: str, chunks: Sequence[int], address: str) -> Iterator[Computed]:
    """Each chunk as it is finished, in any order; a worker's death costs what it was working on."""
    distributed = _distributed()
    with _quiet():
        client = _connected(distributed, address)
        try:
            yield from _computed(distributed, client, plan_text, chunks, address)
        except (distributed.CancelledError, distributed.comm.CommClosedError, OSError) as problem:
            raise _gone(address, problem) from None
        finally:
            client.close(timeout=2)


@contextmanager
def _quiet() -> Iterator[None]:
    """dask's loggers silent: what goes wrong is said once, in an error of ours, and not in its tracebacks."""
    names = [name for name in list(logging.root.manager.loggerDict) if name.startswith("distributed")]
    loggers = [logging.getLogger(name) for name in names]
    loud = [one for one in loggers if not one.disabled]
    for one in loud:
        one.disabled = True
    try:
        yield
    finally:
        for one in loud:
            one.disabled = False


def _gone(address: str, problem: BaseException, then: str = GO_ON) -> SweepError:
    return SweepError(f"the scheduler at {address} is gone: {_first_line(problem)}; {then}")


def _distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise SweepError("a scheduler needs dask.distributed: pip install 'emdeg[cluster]'") from None
    return distributed


def _connected(distributed: Any, address: str) -> Any:
    try:
        client = distributed.Client(address, timeout=PATIENCE, set_as_default=False, direct_to_workers=False)
    except (OSError, TimeoutError, ValueError) as problem:
        raise SweepError(f"no scheduler answers at {address}: {_first_line(problem)}") from None
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except (TimeoutError, OSError):
        client.close(timeout=2)
        raise SweepError(f"the scheduler at {address} has no workers") from None
    return client


def _computed(distributed: Any, client: Any, plan_text: str, chunks: Sequence[int], address: str) -> Iterator[Computed]:
    digest = text_digest(plan_text)[:16]
    rest = iter(chunks)

    def submit(chunk: int) -> Any:
        return client.submit(compute_chunk, plan_text, chunk, key=f"emdeg-sweep-{digest}-{chunk}", pure=True)

    threads = max(1, sum(client.nthreads().values()))
    number: dict[str, int] = {}
    first = [submit(chunk) for chunk in islice(rest, AHEAD * threads)]
    number |= {future.key: int(future.key.rpartition("-")[2]) for future in first}
    finished = distributed.as_completed(first, loop=client.loop)
    for future in finished:
        chunk = number.pop(future.key)
        data, seconds = _result(distributed, future, chunk, address)
        future.release()
        yield Computed(chunk, data, seconds)
        if (further := next(rest, None)) is not None:
            new = submit(further)
            number[new.key] = further
            finished.add(new)


def _value(distributed: Any, future: Any, what: str, address: str, then: str) -> Any:
    """What a worker made of one item; what went wrong, in words, and what is to be done then."""
    try:
        return future.result()
    except distributed.KilledWorker as problem:
        raise SweepError(f"{what} ended every worker that tried it: {_first_line(problem)}; {then}") from None
    except (distributed.CancelledError, distributed.comm.CommClosedError, OSError) as problem:
        raise _gone(address, problem, then) from None
    except EmdegError:
        raise
    except Exception as problem:
        rule = f"{what} cannot be computed: {type(problem).__name__}: {_first_line(problem)}; {then}"
        raise SweepError(rule) from None


def _result(distributed: Any, future: Any, chunk: int, address: str) -> tuple[bytes, float]:
    try:
        data, seconds = _value(distributed, future, f"chunk {chunk}", address, GO_ON)
    except EmdegError as problem:
        if isinstance(problem, SweepError):
            raise
        rule = f"chunk {chunk} cannot be computed: {type(problem).__name__}: {_first_line(problem)}; {GO_ON}"
        raise SweepError(rule) from None
    if not isinstance(data, bytes):
        raise SweepError(f"the scheduler at {address} gave {type(data).__name__} for chunk {chunk}")
    return data, float(seconds)


def _first_line(problem: BaseException) -> str:
    return (str(problem).splitlines() or [type(problem).__name__])[0][:200]
