"""The studio as a server on this machine's loopback address: NiceGUI's page behind the guard."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from importlib import resources
from secrets import token_urlsafe
from typing import Any

from emdeg.errors import EmdegError, RobotError
from emdeg.reports import asset
from emdeg.studio.guard import Guard
from emdeg.studio.sessions import Sessions, StudioFolder
from emdeg.studio.verbs import Desk
from emdeg.studio.work import Workshop

HOST = "127.0.0.1"
SCRIPTS = ("talk.js", "charts.js", "sheets.js", "measures.js", "memory.js", "studio.js")
"""The page's own, in the order in which they build on each other."""
LARGEST_MESSAGE = 64 * 2**20
"""Bytes that a page may send at once: an uploaded robot."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where the studio is: the port, and the token without which it answers nothing."""

    port: int
    token: str

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}/?token={self.token}"


def serve(robot: str | None = None, port: int = 0, *, ready: Callable[[Address], None] = lambda address: None) -> None:
    """Serve the page until Ctrl-C; `robot` is what a new page opens, `ready` hears the address.

    Port 0: any that is free. Files are read from the working directory, and saved in it.
    """
    try:
        import uvicorn
        from fastapi import FastAPI
        from nicegui import core, ui
    except ImportError:
        raise RobotError("the studio needs NiceGUI: pip install 'emdeg[studio]'") from None
    listening = _listening(port)
    address = Address(listening.getsockname()[1], token_urlsafe(24))
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    _routes(app, robot, StudioFolder.here())
    look = {"title": "emdeg studio", "dark": None, "tailwind": False, "show_welcome_message": False}
    ui.run_with(app, reconnect_timeout=60.0, **look)
    core.sio.eio.max_http_buffer_size = LARGEST_MESSAGE
    settings = uvicorn.Config(Guard(app, address.port, address.token), log_level="warning", ws_max_size=LARGEST_MESSAGE)
    ready(address)
    with suppress(KeyboardInterrupt):
        uvicorn.Server(settings).run(sockets=[listening])


def _listening(port: int) -> socket.socket:
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((HOST, port))
    except (OSError, OverflowError) as problem:
        raise RobotError(f"port {port} cannot be had: {getattr(problem, 'strerror', None) or problem}") from None
    return found


def _routes(app: Any, robot: str | None, folder: StudioFolder) -> None:
    """The page, its own files, and what was worked out for it."""
    from fastapi import Response
    from nicegui import app as nicegui_app
    from nicegui import ui

    sessions, workshop = Sessions(), Workshop()
    own = {name: (asset(name), kind) for name, kind in (("page.css", "text/css"), ("view.js", "text/javascript"))}
    own["studio.css"] = (_asset("studio.css"), "text/css")
    own |= {name: (_asset(name), "text/javascript") for name in SCRIPTS}

    @app.get("/own/{name}")
    def own_file(name: str) -> Any:
        if name not in own:
            return Response(status_code=404)
        return Response(own[name][0], media_type=own[name][1], headers={"cache-control": "no-cache"})

    @app.get("/studio/{key}/{name}")
    def worked_out(key: str, name: str) -> Any:
        session = sessions.get(key)
        if session is None or name not in session.blobs:
            return Response(status_code=404)
        text, kind = session.blobs[name]
        return Response(text, media_type=kind, headers={"cache-control": "no-store"})

    @ui.page("/")
    async def page(s: str = "") -> Any:
        session = sessions.get(s)
        if session is None:
            session = sessions.new()
            return _redirected(f"/?s={session.key}")
        ui.add_head_html(
            '<link rel="stylesheet" href="/own/page.css"><link rel="stylesheet" href="/own/studio.css">'
            + "".join(f'<script src="/own/{name}"></script>' for name in ("view.js", *SCRIPTS))
        )
        ui.html(_asset("studio.html"), sanitize=False).classes("studio")
        desk = Desk(session, workshop, folder)
        client = ui.context.client

        def send(call: str, *data: Any) -> None:
            words = ", ".join(json.dumps(one) for one in data)
            client.run_javascript(f"studio.{call}({words})")

        async def asked(event: Any) -> None:
            request = event.args if isinstance(event.args, dict) else {}
            number, verb, data = request.get("id"), request.get("verb"), request.get("data")
            if not isinstance(number, int) or not isinstance(verb, str) or not isinstance(data, dict):
                return
            try:
                send("answer", number, await desk.answer(verb, data, lambda told: send("told", number, told)))
            except (EmdegError, KeyError, TypeError, ValueError, IndexError) as problem:
                known = isinstance(problem, EmdegError)
                send("refused", number, str(problem) if known else f"the question makes no sense ({problem})")

        ui.on("studio", asked)
        # Its script begins when the socket is there.
        await client.connected(timeout=30)
        send("start", robot or "puma560")

    nicegui_app.on_startup(workshop.warm)


def _redirected(where: str) -> Any:
    from fastapi.responses import RedirectResponse

    return RedirectResponse(where, status_code=303)


def _asset(name: str) -> str:
    return resources.files("emdeg.studio").joinpath("assets", name).read_text("utf-8")
