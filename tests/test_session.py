"""One question on its way to an answer: whose turn it is, and that a place is given back however a question ends."""

from __future__ import annotations

import asyncio
import threading
import time

from rag.papers import Answer, Event
from ui.session import Run


class Chat:
    def __init__(self, go: threading.Event, order: list[int], number: int):
        self.go, self.order, self.number = go, order, number

    def stream(self, question, within=None):
        self.order.append(self.number)
        self.go.wait(5)
        yield Event("answer", answer=Answer("A", "answered"))


async def follow(run: Run) -> None:
    async for _ in run.updates():
        pass


def test_questions_take_turns_in_order_and_give_their_place_back() -> None:
    async def scene() -> None:
        places, go, order = asyncio.Semaphore(1), threading.Event(), []
        runs = [Run(Chat(go, order, n), "q", None, places) for n in range(5)]
        tasks = []
        for run in runs:
            tasks.append(asyncio.create_task(follow(run)))
            await asyncio.sleep(0.02)
        assert order == [0]
        runs[1].stop()  # while it waits
        closing = runs[2].updates()  # whose page goes away while it waits
        tasks[2].cancel()
        await asyncio.sleep(0.02)
        await closing.aclose()
        go.set()
        await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 10)
        assert order == [0, 3, 4] and [run.answer is not None for run in runs] == [True, False, False, True, True]
        assert runs[1].ended.is_set() and runs[2].ended.is_set()
        await asyncio.sleep(0.1)
        assert not places.locked()

    asyncio.run(scene())


def test_a_stopped_answer_gives_its_place_back_when_it_has_ended() -> None:
    async def scene() -> None:
        places, go = asyncio.Semaphore(1), threading.Event()
        run = Run(Chat(go, [], 0), "q", None, places)
        task = asyncio.create_task(follow(run))
        await asyncio.sleep(0.1)
        begun = time.monotonic()
        run.stop()
        await task
        assert time.monotonic() - begun < 1 and places.locked() and not run.ended.is_set()
        go.set()
        await asyncio.sleep(0.3)
        assert not places.locked() and run.ended.is_set() and run.answer is None

    asyncio.run(scene())
