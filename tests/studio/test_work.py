"""Work in processes of its own: it yields, tells, fails in words, is stopped and is bounded."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from emdeg.errors import EmdegError, OverBudget
from emdeg.studio.work import Stopped, Workshop

ARM = {"name": "planar2r"}


def run(work: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(work)


def test_a_task_yields_what_it_found_and_says_what_is_wrong() -> None:
    async def both() -> tuple[Any, str]:
        shop = Workshop(2)
        found = await shop.run("page", "open", ARM, 120)
        with pytest.raises(EmdegError) as problem:
            await shop.run("page", "open", {"file": "arm.urdf", "content": "<robot>"}, 120)
        return found, str(problem.value)

    found, words = run(both())
    assert 'name = "planar2r"' in found["text"]
    assert "arm.urdf" in words


def test_work_beyond_its_seconds_is_ended() -> None:
    async def late() -> None:
        shop = Workshop(2)
        text = (await shop.run("page", "open", {"name": "puma560"}, 120))["text"]
        with pytest.raises(OverBudget, match=r"more than 0\.5 s"):
            await shop.run("page", "search", {"text": text, "function": "bias", "target": "c", "seconds": 600}, 0.5)

    run(late())


def test_a_search_that_is_stopped_keeps_its_best_and_newer_work_replaces_older() -> None:
    async def stopped() -> tuple[dict[str, Any], list[Any]]:
        shop = Workshop(2)
        text = (await shop.run("page", "open", {"name": "scara"}, 120))["text"]
        data = {"text": text, "function": "bias", "target": "js", "seconds": 600}
        heard: list[Any] = []
        enough = asyncio.Event()

        def hear(told: Any) -> None:
            heard.append(told)
            if len(heard) > 1:
                enough.set()

        searching = asyncio.create_task(shop.run("page", "search", data, 600, hear))
        await enough.wait()
        shop.stop("page", "search", gently=True)
        found = await searching
        older = asyncio.create_task(shop.run("page", "search", data, 600, hear))
        enough.clear()
        await enough.wait()
        shop.stop("page", "search")
        with pytest.raises(Stopped):
            await older
        return found, heard

    found, heard = run(stopped())
    assert found["interrupted"]
    assert "export function" in found["code"]
    assert all("best" in told for told in heard)
