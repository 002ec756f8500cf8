"""The guard: foreign Hosts, foreign Origins and visitors without the token reach nothing, by page or by socket."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from emdeg.studio import Guard

PORT, TOKEN = 8123, "the-token"
HOST = (b"host", b"127.0.0.1:8123")
COOKIE = (b"cookie", b"other=1; emdeg_studio_8123=the-token")
OWN = (b"origin", b"http://127.0.0.1:8123")


def visited(*headers: tuple[bytes, bytes], kind: str = "http", path: str = "/", query: bytes = b"") -> tuple[Any, list]:
    """(what was sent, whether the application behind was reached)."""
    sent: list[Any] = []
    reached: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        reached.append(scope["path"])
        if kind == "http":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"inside"})

    async def receive() -> dict[str, str]:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": kind, "path": path, "query_string": query, "headers": list(headers)}
    asyncio.run(Guard(app, PORT, TOKEN)(scope, receive, send))
    return sent, reached


@pytest.mark.parametrize("kind", ["http", "websocket"])
@pytest.mark.parametrize(
    "headers",
    [
        (),
        (HOST,),
        (HOST, OWN),
        ((b"host", b"evil.example:8123"), COOKIE, OWN),
        ((b"host", b"127.0.0.1"), COOKIE, OWN),
        ((b"host", b"127.0.0.1:9999"), COOKIE, OWN),
        (HOST, (b"host", b"evil.example"), COOKIE, OWN),
        (HOST, COOKIE, (b"origin", b"http://evil.example")),
        (HOST, COOKIE, (b"origin", b"null")),
        (HOST, COOKIE, (b"origin", b"https://127.0.0.1:8123")),
        (HOST, COOKIE, (b"origin", b"http://127.0.0.1:8124")),
        (HOST, COOKIE, OWN, (b"origin", b"http://evil.example")),
        (HOST, OWN, (b"cookie", b"emdeg_studio_8123=another")),
        (HOST, OWN, (b"cookie", b"emdeg_studio_9999=the-token")),
        (HOST, OWN, (b"cookie", "emdeg_studio_8123=d\xfcmm".encode("latin-1"))),
    ],
)
def test_strangers_are_refused(kind: str, headers: tuple[tuple[bytes, bytes], ...]) -> None:
    sent, reached = visited(*headers, kind=kind)
    assert reached == []
    if kind == "http":
        assert sent[0]["status"] == 403
    else:
        assert sent[0]["type"] == "websocket.close"


def test_the_token_moves_from_the_address_into_a_cookie_that_other_sites_cannot_use() -> None:
    sent, reached = visited(HOST, query=b"token=the-token")
    assert reached == []
    told = dict(sent[0]["headers"])
    assert sent[0]["status"] == 303
    assert told[b"location"] == b"/"
    assert told[b"set-cookie"] == b"emdeg_studio_8123=the-token; Path=/; HttpOnly; SameSite=Strict"
    for query in (b"token=the-toke", b"token=the-token&token=x", b"", b"token="):
        sent, reached = visited(HOST, query=query)
        assert sent[0]["status"] == 403
        assert reached == []
    assert visited(HOST, query=b"token=the-token", path="/studio/x/y")[0][0]["status"] == 403


@pytest.mark.parametrize("host", [b"127.0.0.1:8123", b"localhost:8123", b"LOCALHOST:8123"])
def test_who_has_the_cookie_is_let_in_and_the_answer_allows_nothing_foreign(host: bytes) -> None:
    sent, reached = visited((b"host", host), COOKIE)
    assert reached == ["/"]
    told = dict(sent[0]["headers"])
    assert b"default-src 'self'" in told[b"content-security-policy"]
    assert b"frame-ancestors 'none'" in told[b"content-security-policy"]
    assert told[b"referrer-policy"] == b"no-referrer"


def test_a_socket_must_say_where_it_comes_from() -> None:
    assert visited(HOST, COOKIE, kind="websocket")[1] == []
    assert visited(HOST, COOKIE, OWN, kind="websocket")[1] == ["/"]
