"""A study run to its end: what is missing is computed, put on disk chunk by chunk, and made into results."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from emdeg._version import __version__
from emdeg.documents import arrow
from emdeg.errors import Interrupted, SweepError, TooLarge
from emdeg.runtime import cores
from emdeg.sweeps.chunk import compute_chunk
from emdeg.sweeps.cluster import cluster_chunks, scheduler_address
from emdeg.sweeps.folder import GO_ON, Folder, open_folder, read_manifest
from emdeg.sweeps.local import Computed, local_chunks
from emdeg.sweeps.plan import Plan, plan_from_json, text_digest
from emdeg.sweeps.prepare import plan_of, prepare
from emdeg.sweeps.read import read_study
from emdeg.sweeps.study import Study
from emdeg.sweeps.trust import LARGEST, trusted

Progress = Callable[[int, int], None]
"""Called with (chunks on disk, chunks in all)."""


@dataclass(frozen=True)
class Results:
    """Where the results of a sweep are, and what this run did."""

    folder: Path
    rows: int
    chunks: int
    computed: int
    """Chunks computed in this run; the others were on disk."""
    seconds: float
    busy: float
    """Seconds of computing, all processes together."""
    workers: int
    notes: tuple[str, ...] = ()

    @property
    def path(self) -> Path:
        """The Parquet file."""
        return self.folder / "results.parquet"

    @property
    def manifest(self) -> dict[str, Any]:
        return read_manifest(self.folder)

    def table(self) -> Any:
        """All rows as a pyarrow table."""
        return arrow().parquet.read_table(self.path)

    def columns(self, *names: str) -> Any:
        """Some columns as NumPy arrays by name."""
        table = arrow().parquet.read_table(self.path, columns=list(dict.fromkeys(names)))
        return {name: table[name].to_numpy() for name in names}

    def _repr_html_(self) -> str:
        from html import escape

        return f"<b>sweep</b> {escape(str(self.path))}: {self.rows} rows from {self.chunks} chunks"


def sweep(
    study: Study | str | Path,
    out: str | Path | None = None,
    *,
    workers: int | None = None,
    scheduler: str | None = None,
    trust_network: bool = False,
    backend: Literal["llvm", "cuda"] | None = None,
    progress: Progress | None = None,
) -> Results:
    """Run a study: a `Study`, a STUDY.toml, or the results of one (.parquet), which are computed again.

    `out` is the folder of the results; begun before, it is gone on with. `workers` local processes (all cores; 0
    computes in this one, as with a GPU), or the workers of the dask `scheduler` at that address. `backend` "cuda"
    computes on this machine's GPU, "llvm" on its processors; None is what the study says. SweepError where something
    is wrong; `Interrupted` after Ctrl-C. Either way finished chunks stay on disk.
    """
    plan, place = planned(study, backend)
    target = Path(out) if out is not None else place
    if target is None:
        raise SweepError("say where the results go: out")
    if workers is not None and workers < 0:
        raise SweepError("there cannot be fewer workers than none")
    arrow()
    address = None if scheduler is None else scheduler_address(scheduler, trust_network)
    with open_folder(target, plan) as folder:
        if workers is None:
            workers = 0 if plan.study.backend == "cuda" else cores()
        return _run(folder, workers, address, progress)


def planned(study: Study | str | Path, backend: Literal["llvm", "cuda"] | None = None) -> tuple[Plan, Path | None]:
    """(the study's plan, where its file says the results go)."""
    if isinstance(study, Study):
        return prepare(_on(study, backend)), None
    path = Path(study)
    if path.suffix == ".parquet":
        plan = plan_of_results(path)
        return plan_of(_on(plan.study, backend), plan.cases), None
    found, out = read_study(path)
    try:
        return prepare(_on(found, backend)), None if out is None else Path(out)
    except SweepError as problem:
        raise problem.at(file=str(path)) from None


def _on(study: Study, backend: Literal["llvm", "cuda"] | None) -> Study:
    return study if backend is None else replace(study, backend=backend)


def plan_of_results(path: Path) -> Plan:
    """The plan in the metadata of results: the study can be repeated from them."""
    pa = arrow()
    try:
        stated = pa.parquet.read_schema(path).metadata or {}
    except (OSError, pa.ArrowInvalid) as problem:
        raise SweepError(f"cannot be read as Parquet: {problem}", file=str(path)) from None
    found = stated.get(b"emdeg.plan")
    if found is None:
        raise SweepError("it holds no plan of a sweep", file=str(path))
    try:
        return _believed(found, stated.get(b"emdeg.plan_digest", b""))
    except SweepError as problem:
        raise problem.at(file=str(path)) from None


def _believed(found: bytes, digest: bytes) -> Plan:
    """The plan that came with results, after everything in it was looked at; SweepError where it was changed."""
    if len(found) > LARGEST:
        raise TooLarge(f"its plan has {len(found)} characters; the budget is {LARGEST}")
    text = found.decode("utf-8", "replace")
    if text_digest(text).encode() != digest:
        raise SweepError("the plan was changed: it does not have the digest that stands beside it")
    plan = plan_from_json(text)
    if plan.version != __version__:
        raise SweepError(f"it was made with emdeg {plan.version}; this is {__version__}")
    return trusted(plan)


def _run(folder: Folder, workers: int, address: str | None, progress: Progress | None) -> Results:
    start, chunks = time.perf_counter(), folder.plan.work.chunks
    tell = progress or (lambda done, total: None)
    if folder.complete:
        folder.drop_chunks()
        tell(chunks, chunks)
        rows = folder.manifest["results"]["rows"]
        return Results(folder.path, rows, chunks, 0, time.perf_counter() - start, 0.0, 0, tuple(folder.notes))
    missing = [chunk for chunk in range(chunks) if chunk not in folder.done]
    tell(len(folder.done), chunks)
    busy = 0.0
    try:
        with closing(_computed(folder, missing, workers, address)) as source:
            for one in source:
                folder.keep(one.chunk, one.data)
                busy += one.seconds
                tell(len(folder.done), chunks)
        if len(folder.done) < chunks:
            raise SweepError(f"the workers gave only {len(folder.done)} of {chunks} chunks")
        rows = folder.finish()
    except KeyboardInterrupt:
        folder.drop_parts()
        raise Interrupted(len(folder.done), chunks) from None
    except SweepError as problem:
        if GO_ON not in problem.rule and folder.done:
            raise SweepError(f"{problem.rule}; {GO_ON}", file=problem.file, body=problem.body) from None
        raise
    seconds = time.perf_counter() - start
    return Results(folder.path, rows, chunks, len(missing), seconds, busy, workers, tuple(folder.notes))


def _computed(folder: Folder, missing: list[int], workers: int, address: str | None) -> Generator[Computed, None, None]:
    if not missing:
        return
    if address is not None:
        source = cluster_chunks(folder.plan_text, missing, address)
    elif workers:
        source = local_chunks(folder.plan_text, missing, workers)
    else:
        source = (Computed(chunk, *compute_chunk(folder.plan_text, chunk)) for chunk in missing)
    with closing(source):  # type: ignore[type-var]
        yield from source
