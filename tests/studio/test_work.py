"""Work in processes of its own: it yields, tells, fails in words, is stopped and is bounded."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from emdeg.errors import EmdegError, OverBudget
from emdeg.studio.work import MOST_WAITING, Stopped, Workshop

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


@pytest.mark.long
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


def test_the_process_of_a_pages_equations_stays_and_knows_them_and_few_wait() -> None:
    async def twice() -> tuple[list[Any], list[int | None], int]:
        shop = Workshop(2)
        text = (await shop.run("page", "open", {"name": "planar2r"}, 120))["text"]
        other = text.replace("mass = 1,", "mass = 3,", 1)
        assert other != text
        found, workers = [], []
        for one in (text, other):
            found.append(await shop.run("page", "equations", {"text": one}, 120))
            workers.append(shop._waiting["page", "equations"].process.pid)
        with pytest.raises(EmdegError):
            await shop.run("page", "equations", {"text": "nonsense"}, 120)
        assert not shop._waiting  # what went wrong leaves nothing behind
        for k in range(MOST_WAITING + 1):
            await shop.run(f"page{k}", "equations", {"text": text}, 120)
        return found, workers, len(shop._waiting)

    (first, second), (before, after), waiting = run(twice())
    assert before == after
    assert waiting == MOST_WAITING
    assert first["terms"] == second["terms"]
    assert first["constants"]["I1"]["value"] != second["constants"]["I1"]["value"]
