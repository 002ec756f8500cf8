"""What a page may ask the studio for: a verb and plain data in, plain data out. Nothing of a page is ever run."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from emdeg.errors import BadRequest
from emdeg.robot import library_names
from emdeg.studio.parameters import edited, with_payload
from emdeg.studio.sessions import MOST_STATE, Session, StudioFolder, read_shared
from emdeg.studio.work import Tell, Workshop

SECONDS = {"open": 60.0, "check": 60.0, "model": 120.0, "equations": 300.0, "significance": 900.0, "code": 300.0}
SECONDS |= {"search": 900.0, "motion": 300.0, "report": 1800.0, "part": 300.0, "dead_points": 60.0, "meshes": 60.0}
"""Budgets."""
Data = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Desk:
    """Where a page's questions are answered."""

    session: Session
    workshop: Workshop
    folder: StudioFolder

    async def answer(self, verb: str, data: Mapping[str, Any], tell: Tell) -> Data:
        """What the verb yields; BadRequest where there is no such verb."""
        verbs: Mapping[str, Callable[[Mapping[str, Any], Tell], Awaitable[Data]]] = {
            "hello": self._hello,
            "open": self._open,
            "edit": self._edit,
            "load": self._load,
            "replace": self._replace,
            "undo": self._undo,
            "redo": self._redo,
            "model": self._model,
            "equations": self._equations,
            "significance": self._task("significance"),
            "code": self._task("code"),
            "search": self._task("search"),
            "motion": self._task("motion"),
            "dead_points": self._task("dead_points"),
            "part": self._part,
            "report": self._report,
            "stop": self._stop,
            "keep": self._keep,
            "save": self._save,
            "share": self._share,
        }
        if verb not in verbs:
            raise BadRequest("there is no such verb")
        return await verbs[verb](data, tell)

    async def _work(self, task: str, data: Mapping[str, Any], tell: Tell) -> Data:
        return await self.workshop.run(self.session.key, task, dict(data), SECONDS[task], tell)

    def _task(self, name: str) -> Callable[[Mapping[str, Any], Tell], Awaitable[Data]]:
        async def run(data: Mapping[str, Any], tell: Tell) -> Data:
            return await self._work(name, {**data, "text": self.session.text, "stem": self.session.name}, tell)

        return run

    async def _hello(self, data: Mapping[str, Any], tell: Tell) -> Data:
        return {"library": list(library_names()), "files": self.folder.files(), **self._about()}

    async def _open(self, data: Mapping[str, Any], tell: Tell) -> Data:
        """A library robot, a file of the folder, an uploaded one, or a page's state."""
        if "content" in data and str(data.get("file", "")).endswith(".json"):
            return await self._reopen(read_shared(str(data["content"])), tell)
        if "content" in data:
            asked: Data = {"file": str(data["file"]), "content": str(data["content"])}
        elif str(data.get("name")) in library_names():
            asked = {"name": str(data["name"])}
        else:
            asked = {"file": str(data["name"]), "content": self.folder.read(str(data["name"]))}
        found = await self._work("open", asked, tell)
        self.session.begin(found["text"], found["name"])
        if "content" in asked:
            shapes = await self._work("meshes", {**asked, "folder": str(self.folder.path)}, tell)
            self.session.meshes = json.dumps(shapes) if shapes["meshes"] else ""
        return self._about()

    async def _reopen(self, state: Data, tell: Tell) -> Data:
        text = await self._work("check", {"text": state["text"]}, tell)
        source = await self._work("check", {"text": state["source"]}, tell)
        self.session.begin(source["text"], state["name"])
        self.session.change(text["text"])
        self.session.state = state["state"]
        return self._about()

    def _about(self) -> Data:
        """What the page shows of its past."""
        one = self.session
        return {
            "name": one.name,
            "opened": bool(one.text),
            "undo": len(one.past),
            "redo": len(one.future),
            "state": one.state,
            "text": one.text,
            "difference": one.difference,
        }

    async def _edit(self, data: Mapping[str, Any], tell: Tell) -> Data:
        place = [step if isinstance(step, int) else str(step) for step in data["place"]]
        return await self._changed(edited(self.session.text, place, str(data["entry"])), tell)

    async def _load(self, data: Mapping[str, Any], tell: Tell) -> Data:
        return await self._changed(with_payload(self.session.text), tell)

    async def _replace(self, data: Mapping[str, Any], tell: Tell) -> Data:
        return await self._changed(str(data["text"]), tell)

    async def _changed(self, text: str, tell: Tell) -> Data:
        """The robot's file is what its reader makes of `text`; where that is an error, nothing changes."""
        found = await self._work("check", {"text": text, "before": self.session.text}, tell)
        self.session.change(found["text"])
        return self._about()

    async def _undo(self, data: Mapping[str, Any], tell: Tell) -> Data:
        self.session.undo()
        return self._about()

    async def _redo(self, data: Mapping[str, Any], tell: Tell) -> Data:
        self.session.redo()
        return self._about()

    async def _model(self, data: Mapping[str, Any], tell: Tell) -> Data:
        found = await self._work("model", {"text": self.session.text}, tell)
        found["modules"] = self.session.put(found["modules"], "text/javascript")
        found["meshes"] = self.session.put(self.session.meshes, "application/json") if self.session.meshes else ""
        return found

    async def _part(self, data: Mapping[str, Any], tell: Tell) -> Data:
        return self._put(await self._work("part", {"text": self.session.text, "part": str(data["part"])}, tell))

    def _put(self, found: Data) -> Data:
        """Markup and its program are fetched, not sent through the socket."""
        found["html"] = self.session.put(found["html"], "text/plain")
        if found["module"]:
            found["module"] = self.session.put(found["module"], "text/javascript")
        return found

    async def _equations(self, data: Mapping[str, Any], tell: Tell) -> Data:
        return self._put(await self._work("equations", {"text": self.session.text}, tell))

    async def _report(self, data: Mapping[str, Any], tell: Tell) -> Data:
        found = await self._work("report", {"text": self.session.text}, tell)
        return {key: self.session.put(text, "text/plain") for key, text in found.items()}

    async def _stop(self, data: Mapping[str, Any], tell: Tell) -> Data:
        task = str(data["task"])
        self.workshop.stop(self.session.key, task, gently=task == "search")
        return {}

    async def _keep(self, data: Mapping[str, Any], tell: Tell) -> Data:
        """The page's configuration and choices, for when it is loaded again."""
        state = data.get("state")
        if isinstance(state, dict) and len(str(state)) < MOST_STATE:
            self.session.state = state
        return {}

    async def _save(self, data: Mapping[str, Any], tell: Tell) -> Data:
        path = self.folder.write(str(data["file"]), self.session.text, self.session)
        return {"saved": path.name}

    async def _share(self, data: Mapping[str, Any], tell: Tell) -> Data:
        return {"file": f"{self.session.name}.studio.json", "content": self.session.shared()}
