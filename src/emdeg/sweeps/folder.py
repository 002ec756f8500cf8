"""The folder of a sweep: nothing in it is ever half written.

A file is written under another name, brought to the disk, and only then gets its name. A chunk's name holds the
digest of its bytes, so that a chunk that has its name is whole, or is found out:

    manifest.json      which study, which emdeg, when, and at the end the digests of all chunks and of the results
    plan.json          the plan: all that a chunk needs
    chunks/            chunk-0000012-<digest>.parquet, until the results are written
    results.parquet    the finished rows
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import json
import platform
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from emdeg.documents import flush, part_of, read_plain, write_whole
from emdeg.errors import SweepError
from emdeg.sweeps.plan import Plan, plan_from_json, text_digest
from emdeg.sweeps.tables import write_results
from emdeg.sweeps.trust import trusted

KIND, SCHEMA = "emdeg sweep", 1
RESULTS, MANIFEST, PLAN, CHUNKS, LOCK = "results.parquet", "manifest.json", "plan.json", "chunks", ".lock"
_CHUNK = re.compile(r"chunk-([0-9]{7})-([0-9a-f]{64})\.parquet\Z")
GO_ON = "what is finished is kept, and the same command goes on from there"


@dataclass
class Folder:
    """An open folder: its plan, and the chunks that are on disk (number -> digest)."""

    path: Path
    plan: Plan
    plan_text: str
    manifest: dict[str, Any]
    done: dict[int, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def results(self) -> Path:
        return self.path / RESULTS

    @property
    def complete(self) -> bool:
        """Whether the results are there, as the manifest says they are."""
        stated = self.manifest.get("results")
        if not self.manifest.get("complete") or not stated:
            return False
        if self.results.is_file() and file_digest(self.results) == stated["sha256"]:
            return True
        self.notes.append(f"{self.results} is missing or was changed: it is computed again")
        return False

    def chunk_path(self, chunk: int) -> Path:
        return self.path / CHUNKS / f"chunk-{chunk:07d}-{self.done[chunk]}.parquet"

    def keep(self, chunk: int, data: bytes) -> None:
        """Put a chunk on the disk."""
        digest = sha256(data).hexdigest()
        _keep(self.path / CHUNKS / f"chunk-{chunk:07d}-{digest}.parquet", data)
        self.done[chunk] = digest

    def drop_parts(self) -> None:
        """Remove what a run that was stopped at any moment left half-written; the folder is held, so nobody writes."""
        for path in (*self.path.glob("*.part"), *(self.path / CHUNKS).glob("*.part")):
            path.unlink(missing_ok=True)

    def find_chunks(self) -> None:
        """Take stock: whole chunks count, half-written and damaged files go."""
        folder = self.path / CHUNKS
        folder.mkdir(exist_ok=True)
        self.drop_parts()
        for path in sorted(folder.iterdir()):
            found = _CHUNK.match(path.name)
            if found and int(found[1]) < self.plan.work.chunks and file_digest(path) == found[2]:
                self.done[int(found[1])] = found[2]
                continue
            if found:
                self.notes.append(f"{path} does not match its digest: it is computed again")
                path.unlink()

    def finish(self) -> int:
        """Write the results and the last word of the manifest, then let the chunks go; how many rows."""
        chunks = range(self.plan.work.chunks)
        try:
            with part_of(self.results) as partial:
                rows = write_results(self.plan, map(self.chunk_path, chunks), partial)
                flush(partial)
                partial.replace(self.results)
            flush(self.path)
        except OSError as problem:
            raise _unwritable(self.results, problem) from None
        results = {"file": RESULTS, "sha256": file_digest(self.results), "rows": rows}
        digests = [self.done[chunk] for chunk in chunks]
        self.manifest |= {"complete": True, "finished": _now(), "results": results, "chunk_sha256": digests}
        _keep(self.path / MANIFEST, _json(self.manifest))
        self.drop_chunks()
        return rows

    def drop_chunks(self) -> None:
        """Remove the chunks of finished results."""
        folder = self.path / CHUNKS
        if folder.is_dir():
            for path in folder.iterdir():
                if _CHUNK.match(path.name) or path.name.endswith(".part"):
                    path.unlink()
            with contextlib.suppress(OSError):
                folder.rmdir()


@contextlib.contextmanager
def open_folder(path: Path, plan: Plan) -> Iterator[Folder]:
    """The folder for this plan, new or begun before; SweepError if it is not its own or cannot be written."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise SweepError("it is a file, not a folder for results", file=str(path)) from None
    except OSError as problem:
        raise SweepError(f"the folder cannot be made: {problem.strerror or problem}", file=str(path)) from None
    with _locked(path):
        try:
            folder = _begun(path, plan) if (path / MANIFEST).exists() else _new(path, plan)
            folder.find_chunks()
        except OSError as problem:
            raise _unwritable(path, problem) from None
        yield folder


def _new(path: Path, plan: Plan) -> Folder:
    foreign = [p.name for p in path.iterdir() if p.name not in (LOCK, PLAN, CHUNKS) and not p.name.endswith(".part")]
    if foreign:
        rule = f"it holds {foreign[0]!r} and no sweep: choose an empty or a new folder for the results"
        raise SweepError(rule, file=str(path))
    text = plan.to_json()
    manifest = {
        "kind": KIND,
        "schema": SCHEMA,
        "study": plan.study.name,
        "study_digest": plan.study_digest,
        "plan_digest": text_digest(text),
        "seed": plan.study.seed,
        "samples": plan.work.samples,
        "states": plan.work.states,
        "chunks": plan.work.chunks,
        "begun": _now(),
        "environment": environment(plan),
        "complete": False,
    }
    _keep(path / PLAN, text.encode())
    _keep(path / MANIFEST, _json(manifest))
    return Folder(path, plan, text, manifest)


def _begun(path: Path, plan: Plan) -> Folder:
    manifest = read_manifest(path)
    if manifest["study_digest"] != plan.study_digest:
        version = manifest.get("environment", {}).get("emdeg")
        what = f"another study, {manifest.get('study')!r} (emdeg {version})"
        if manifest.get("study") == plan.study.name and version == plan.version:
            what = f"{plan.study.name!r} with other settings or robots"
        raise SweepError(f"it holds results of {what}: choose another folder", file=str(path))
    file = path / PLAN
    text = _text(file) if file.exists() else ""
    if text_digest(text) != manifest["plan_digest"]:
        text = plan.to_json()  # the one that was lost, if nothing else has changed
        if text_digest(text) != manifest["plan_digest"]:
            raise SweepError("the plan is missing or damaged, and cannot be made again as it was", file=str(file))
        _keep(file, text.encode())
    stored = plan_from_json(text)
    if stored.study_digest != plan.study_digest:
        raise SweepError("the plan was changed: it is that of another study", file=str(file))
    # Where the text is our own there is nothing to doubt; else its programs may be others, and are proved.
    return Folder(path, stored if text == plan.to_json() else trusted(stored), text, manifest)


def read_manifest(path: Path) -> dict[str, Any]:
    """The manifest of a sweep's folder."""
    file = path / MANIFEST
    try:
        found = json.loads(_text(file))
        if found["kind"] != KIND or found["schema"] != SCHEMA:
            raise ValueError("its kind or form is another")
        said = [found["study_digest"], found["plan_digest"], found["environment"], found.get("results", _NO_RESULTS)]
        if not all(isinstance(one, kind) for one, kind in zip(said, (str, str, dict, dict))):
            raise ValueError("its digests, environment or results are none")
        if not isinstance(said[3]["sha256"], str) or not isinstance(said[3]["rows"], int):
            raise ValueError("its results are none")
    except OSError as problem:
        raise SweepError(f"cannot be read: {problem.strerror or problem}", file=str(file)) from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as problem:
        raise SweepError(f"this is no manifest of a sweep: {problem}", file=str(file)) from None
    return found


_NO_RESULTS = {"sha256": "", "rows": 0}
LARGEST = 2**30
"""Bytes of a plan or a manifest."""


def _text(file: Path) -> str:
    """What a file of the folder says; SweepError where it is too large, or no text."""
    data = read_plain(file, LARGEST)
    if len(data) > LARGEST:
        raise SweepError(f"it is larger than {LARGEST // 2**20} MiB", file=str(file))
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise SweepError("it is no text", file=str(file)) from None


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """One sweep at a time in a folder; the lock goes with the process."""
    try:
        import fcntl
    except ImportError:  # not on this system
        yield
        return
    try:
        stream = open(path / LOCK, "ab")  # noqa: SIM115
    except OSError as problem:
        raise _unwritable(path, problem) from None
    with stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise SweepError("another sweep is at work in this folder", file=str(path)) from None
        yield


def _keep(path: Path, data: bytes) -> None:
    """Write a file whole or not at all, and to the disk before it gets its name."""
    try:
        write_whole({path: data}, durable=True)
    except OSError as problem:
        raise _unwritable(path, problem) from None


def _unwritable(path: Path, problem: OSError) -> SweepError:
    return SweepError(f"cannot be written: {problem.strerror or problem}; {GO_ON}", file=str(path))


def file_digest(path: Path) -> str:
    found = sha256()
    with path.open("rb") as stream:
        while block := stream.read(2**20):
            found.update(block)
    return found.hexdigest()


def environment(plan: Plan) -> dict[str, str]:
    """The versions a study was computed with."""
    packages = {}
    for name in ("numpy", "scipy", "llvmlite", "pyarrow"):
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            packages[name] = importlib.metadata.version(name)
    return {"emdeg": plan.version, "python": platform.python_version(), "machine": platform.platform()} | packages


def _json(data: dict[str, Any]) -> bytes:
    return (json.dumps(data, indent=1) + "\n").encode()


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
