"""A scripted library for the page's tests: what it answers depends on a word in the question. Needs no index and no model."""

from __future__ import annotations

import copy
import threading
import time
from collections.abc import Iterator
from dataclasses import replace

from made_answers import MADE, listing

from rag.errors import ModelFailed
from rag.papers import REFUSAL, Answer, Citation, Event, Paper, Quote, Sentence
from rag.settings import Settings

LOOPBACK = "http://127.0.0.1:{port}/stolen"


def quote(paper: Paper, text: str) -> Quote:
    start = paper.abstract.index(text)
    return Quote(text, start, start + len(text))


LONG = Paper(
    id="longlora",
    title="LongLoRA: Efficient Fine-tuning of Long-Context Large Language Models",
    authors=("Yukang Chen", "Shengju Qian", "Haotian Tang", "Xin Lai"),
    year=2024,
    venue="ICLR 2024",
    url="https://openreview.net/forum?id=6PmJoRfdaK",
    abstract=(
        "We present LongLoRA, an efficient fine-tuning approach that extends the context sizes of pre-trained large language"
        " models (LLMs), with limited computation cost. On the one hand, although dense global attention is needed during"
        " inference, fine-tuning the model can be effectively and efficiently done by sparse local attention. The proposed"
        " shifted sparse attention effectively enables context extension, leading to non-trivial computation saving with"
        " similar performance to fine-tuning with vanilla attention. Particularly, it can be implemented with only two lines"
        " of code in training, while being optional in inference."
    ),
)
YARN = Paper(
    id="yarn",
    title="YaRN: Efficient Context Window Extension of Large Language Models",
    authors=("Bowen Peng", "Jeffrey Quesnelle", "Honglu Fan"),
    year=2024,
    venue="ICLR 2024",
    url="https://openreview.net/forum?id=wHBfxhZu1u",
    abstract=(
        "Rotary Position Embeddings (RoPE) have been shown to effectively encode positional information in transformer-based"
        " language models. We present YaRN, a compute-efficient method to extend the context window of such models, requiring"
        " 10x less tokens and 2.5x less training steps than previous methods."
    ),
)
MATHS = Paper(
    id="maths",
    title=r"$\mathbb{D}^2$ Pruning in $O(n \log n)$",
    authors=("Ada Lovelace",),
    year=2023,
    doi="10.1000/maths.1",
    abstract=(
        r"Our algorithm runs in $O(n \log n)$ time for any \(x\) with $$\sum_{i=1}^{n} \frac{x_i^2}{\sigma_i} \le 1.$$"
        r" We keep x<y>z and a_b_c and ** as they are, it costs $5 to $10, and p < 0.05 and x > 3 holds."
        r" **Bold claims** stay; so does \unknowncommand and 100\%."
    ),
)
HOSTILE = Paper(
    id="hostile",
    title="<img src=x onerror=\"fetch('//127.0.0.1:{port}/title')\"> & <style>body{{display:none}}</style>",
    authors=('"><script>window.hacked=1</script>',),
    year=2022,
    venue="<b>Bold venue</b>",
    url='https://example.org/"onmouseover="window.hacked=1',
    abstract=(
        "Before <img src='http://127.0.0.1:{port}/abstract'> ![x](http://127.0.0.1:{port}/markdown)"
        " <svg onload=\"window.hacked=1\"></svg> <iframe src='http://127.0.0.1:{port}/frame'></iframe>"
        " [click](javascript:window.hacked=1) <style>@import 'http://127.0.0.1:{port}/css';</style> see [7] and [1]. After."
    ),
)


class Conversation:
    def __init__(self, library: StandIn) -> None:
        self.library = library

    def stream(self, question: str, within: object = None) -> Iterator[Event]:
        library = self.library
        library.streams += 1
        try:
            yield Event("stage", f"Searching {len(library):,} papers")
            if "slow" in question:
                for i in range(400):
                    time.sleep(0.05)
                    yield Event("text", f"Word {i} " if i else "It takes its time. ")
            if "silent" in question:
                library.silence.wait(30)
            if "wrong key" in question:
                raise ModelFailed(
                    "The model at api.example.org refused the key. Set OPENAI_API_KEY to a valid key and restart."
                )
            if "crash" in question:
                raise ValueError("secret detail")
            if "halfway" in question:
                yield Event("text", "The first half of an answer ")
                raise ModelFailed("The model broke off after 5 words.")
            answer = library.answer(question)
            for i in range(0, len(answer.text), 40):
                yield Event("text", answer.text[i : i + 40])
                time.sleep(library.pace)
            yield Event("answer", answer=answer)
        finally:
            library.closed += 1


class StandIn:
    """Looks like rag.Library to the page."""

    def __init__(self, port: int = 9, mode: str = "extractive", papers: bool = True, pace: float = 0.0) -> None:
        self.mode, self.mode_detail, self.pace = mode, "" if mode == "extractive" else "api.example.org", pace
        fill = {"{port}": str(port), "{{": "{", "}}": "}"}
        self.hostile = HOSTILE
        for old, new in fill.items():
            self.hostile = Paper(
                **{k: v.replace(old, new) if isinstance(v, str) else v for k, v in vars(self.hostile).items()}
            )
        self._papers = [LONG, YARN, MATHS, self.hostile] if papers else []
        self.streams = self.closed = 0
        self.before: list = []
        self.folder: object = None
        self.settings = Settings(model="" if mode == "extractive" else mode, base_url="http://127.0.0.1:9/v1")
        self.silence = threading.Event()

    def __len__(self) -> int:
        return len(self._papers)

    def paper(self, paper_id: str) -> Paper:
        return next(paper for paper in self._papers if paper.id == paper_id)

    def papers(self) -> list[Paper]:
        return list(self._papers)

    def conversation(self, turns: object = ()) -> Conversation:
        self.before = list(turns)
        return Conversation(self)

    def answering(self, model: str | None = None, papers_in_prompt: int = 6, second_check: bool = False) -> StandIn:
        other = copy.copy(self)
        other.mode = "extractive" if model == "" else self.mode
        return other

    def grow(self) -> None:
        self._papers = [LONG, YARN, MATHS, self.hostile]

    def answer(self, question: str) -> Answer:
        if "hostile list" in question:
            return listing(12, 2, tuple(replace(self.hostile, id=f"{self.hostile.id}{i}") for i in range(14)))
        if "hostile sides" in question:
            answer = listing(2, 0, (self.hostile, replace(self.hostile, id="other")))
            return replace(answer, form="comparison", count=None)
        if "hostile" in question:
            text = self.hostile.abstract
            return Answer(
                f"**{self.hostile.title}**: {text} [1]",
                "answered",
                (Sentence(text, (1,), "supported"),),
                (Citation(1, self.hostile, (Quote(text, 0, len(text)),)),),
                notice="<img src=x onerror='window.hacked=1'>",
                query="<b>query</b>",
            )
        if "maths" in question:
            first, second = (
                MATHS.abstract.split(" We keep")[0],
                "We keep" + MATHS.abstract.split(" We keep")[1].split(" **B")[0],
            )
            return Answer(
                f"{first} [1] {second} [1]",
                "answered",
                (Sentence(first, (1,), "supported"), Sentence(second, (1,), "supported")),
                (Citation(1, MATHS, (quote(MATHS, first), quote(MATHS, second))),),
                query=question,
            )
        if "learning rate" in question:
            return Answer(REFUSAL, "refused", related=(LONG, MATHS), query=question, mode=self.mode)
        if "hello" in question:
            return Answer("Hello. Ask me about the papers in this library.", "chat")
        if "yarn" in question.lower() and "cheaper" not in question:
            said = "We present YaRN, a compute-efficient method to extend the context window of such models"
            return Answer(
                "YaRN extends the context window with 10x less tokens. [1]",
                "answered",
                (Sentence("YaRN extends the context window with 10x less tokens.", (1,), "supported"),),
                (Citation(1, YARN, (quote(YARN, said),)),),
                query=question,
                related=(LONG,),
            )
        for words, made in MADE.items():
            if words in question:
                return made()
        sparse = "fine-tuning the model can be effectively and efficiently done by sparse local attention."
        lines = "Particularly, it can be implemented with only two lines of code in training, while being optional in inference."
        return Answer(
            "LongLoRA fine-tunes with shifted sparse attention and keeps dense attention for inference [1]. It can be"
            " implemented with two lines of code. [1] YaRN extends rotary position embeddings and needs 10x fewer tokens and"
            " 2.5x fewer training steps than earlier methods. [2]\n\nYaRN is the cheaper of the two. [2]",
            "answered",
            (
                Sentence(
                    "LongLoRA fine-tunes with shifted sparse attention and keeps dense attention for inference.",
                    (1,),
                    "supported",
                ),
                Sentence("It can be implemented with two lines of code.", (1,), "supported"),
                Sentence(
                    "YaRN extends rotary position embeddings and needs 10x fewer tokens and 2.5x fewer training steps than"
                    " earlier methods.",
                    (2,),
                    "supported",
                ),
                Sentence("YaRN is the cheaper of the two.", (2,), "unsupported"),
            ),
            (
                Citation(1, LONG, (quote(LONG, sparse), quote(LONG, lines))),
                Citation(
                    2, YARN, (quote(YARN, "requiring 10x less tokens and 2.5x less training steps than previous methods."),)
                ),
            ),
            query="How do LongLoRA and YaRN extend the context, and which costs less?",
            related=(MATHS,),
            mode=self.mode,
        )


SERVERS: list[object] = []


class _Kept:
    def __init__(self, *args: object, **options: object) -> None:
        super().__init__(*args, **options)
        SERVERS.append(self)


def unserved(first: int) -> None:
    """Stops the servers from that one on: each looks around twenty times a second, and fifty of them keep a processor busy."""
    for server in SERVERS[first:]:
        server.should_exit = True
    del SERVERS[first:]


def served(library: object, **how: object) -> str:
    """The address of a page for this library; the server lives as long as what it was made for, a test or all of them (see
    `unserved`). `how`: more for `serve`."""
    import uvicorn

    from ui.server import serve

    if not issubclass(uvicorn.Server, _Kept):
        uvicorn.Server = type("Server", (_Kept, uvicorn.Server), {})
    ready, address = threading.Event(), []

    def on_ready(url: str) -> None:
        address.append(url)
        ready.set()

    options = {"open_browser": False, "on_ready": on_ready, "port": 0, **how}
    threading.Thread(target=serve, args=(library,), kwargs=options, daemon=True).start()
    assert ready.wait(30), "the page was not served"
    return address[0]
