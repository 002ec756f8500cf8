"""Who may speak to the studio: this machine's browsers, by the studio's own address, with its token.

The whole application stands behind it, sockets included. A page of another site that is open in the same browser can
send requests to the loopback address, and a name that is rebound to it can even read the answers; so the Host must be
the studio's, an Origin must be the studio's, and the token must be in the address once and in a cookie afterwards,
which other sites' requests do not carry (SameSite).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from secrets import compare_digest
from typing import Any
from urllib.parse import parse_qs

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

NAMES = ("127.0.0.1", "localhost")
HEADERS = (
    # NiceGUI's own page is made of inline scripts; nothing of elsewhere may be loaded, framed or sent to.
    (
        b"content-security-policy",
        b"default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:; connect-src 'self' ws://127.0.0.1:* "
        b"ws://localhost:*; frame-ancestors 'none'; base-uri 'self'; form-action 'self'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
)


@dataclass(frozen=True, slots=True)
class Guard:
    """An ASGI application that lets through what may pass to `app`, and answers the rest itself."""

    app: Application
    port: int
    token: str

    @property
    def cookie(self) -> str:
        """Cookies do not know ports, so the name does."""
        return f"emdeg_studio_{self.port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        headers: dict[str, list[str]] = {}
        for key, value in scope.get("headers", []):
            headers.setdefault(key.decode("latin-1").lower(), []).append(value.decode("latin-1"))
        why = self._foreign(scope["type"], headers)
        if why is None and not self._known(headers):
            if scope["type"] == "http" and self._introduced(scope):
                await self._welcome(send)
                return
            why = "open the address that emdeg studio printed, with its token"
        if why is not None:
            await _refused(scope["type"], receive, send, why)
            return
        await self.app(scope, receive, _with_headers(send) if scope["type"] == "http" else send)

    def _foreign(self, kind: str, headers: dict[str, list[str]]) -> str | None:
        hosts = {f"{name}:{self.port}" for name in NAMES} | (set(NAMES) if self.port == 80 else set())
        if len(headers.get("host", [])) != 1 or headers["host"][0].lower() not in hosts:
            return "this is not the studio's address"
        origins = headers.get("origin", [])
        if kind == "websocket" and not origins:
            return "a socket must say where it comes from"
        if any(origin.lower() not in {f"http://{host}" for host in hosts} for origin in origins):
            return "requests of other sites are refused"
        return None

    def _known(self, headers: dict[str, list[str]]) -> bool:
        for text in headers.get("cookie", []):
            try:
                found = SimpleCookie(text).get(self.cookie)
            except CookieError:
                continue
            if found is not None and compare_digest(found.value.encode(), self.token.encode()):
                return True
        return False

    def _introduced(self, scope: Scope) -> bool:
        given = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token", [])
        return scope["path"] == "/" and len(given) == 1 and compare_digest(given[0].encode(), self.token.encode())

    async def _welcome(self, send: Send) -> None:
        """The token moves from the address, which is shown and remembered, into a cookie."""
        cookie = f"{self.cookie}={self.token}; Path=/; HttpOnly; SameSite=Strict"
        headers = [(b"location", b"/"), (b"set-cookie", cookie.encode()), (b"cache-control", b"no-store"), *HEADERS]
        await send({"type": "http.response.start", "status": 303, "headers": headers})
        await send({"type": "http.response.body", "body": b""})


async def _refused(kind: str, receive: Receive, send: Send, why: str) -> None:
    if kind == "websocket":
        await receive()  # its connection is announced first
        await send({"type": "websocket.close", "code": 1008, "reason": why})
        return
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"cache-control", b"no-store"), *HEADERS]
    await send({"type": "http.response.start", "status": 403, "headers": headers})
    await send({"type": "http.response.body", "body": f"refused: {why}\n".encode()})


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", []), *HEADERS]
        await send(message)

    return sending
