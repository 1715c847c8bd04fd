"""A second opinion on an answer: the model is asked, in one call, whether the cited papers say each sentence.

Shown apart from our own verdict and never mixed with it: this one sees swapped subjects, and may be wrong about anything. It
changes no text, verdict or status, and when it fails the answer stands as it was, with a word in its notice.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace

from . import prompts
from .calls import Complete, reply, tokens
from .errors import ModelFailed
from .judge import read
from .papers import Answer
from .shown import defused, fit, sources

_ROOM_TO_REPLY = 12
"""Tokens a sentence."""


def checked(answer: Answer, complete: Complete, mode: str, context_tokens: int) -> Generator[str, None, Answer]:
    """Returns the answer with `second` filled in for the sentences that cite papers: "supported" or "unsupported", or empty where
    the model gave no clear word or its papers did not fit. Yields an empty piece for every one that the model gives. Makes no
    call if nothing is cited."""
    cited = [i for i, sentence in enumerate(answer.sentences) if sentence.citations]
    if not cited:
        return answer
    told = [f"(papers {', '.join(map(str, answer.sentences[i].citations))}) {defused(answer.sentences[i].text)}" for i in cited]
    prompt, count = prompts.load("check"), str(len(cited))
    listed = "\n".join(f"{n}. {text}" for n, text in enumerate(told, 1))
    room = context_tokens - len(cited) * _ROOM_TO_REPLY - sum(tokens(t) for _, t in prompt.fill(papers="", sentences=listed, count=count))
    shown = fit([citation.paper for citation in answer.citations], room)
    if not shown:
        return answer
    try:
        said = yield from reply(complete, prompt.fill(papers=sources(shown), sentences=listed, count=count), 80 * len(cited) + 200)
    except ModelFailed as error:
        return replace(answer, notice=f"{answer.notice} The second check failed: {error}".strip())
    decided = read(said, len(cited))
    if not decided:
        return replace(answer, notice=f"{answer.notice} The second check gave nothing: {mode} did not answer in the form that was asked for.".strip())
    sentences = list(answer.sentences)
    for number, yes in decided.items():
        sentence = sentences[cited[number - 1]]
        if max(sentence.citations) <= len(shown):
            sentences[cited[number - 1]] = replace(sentence, second="supported" if yes else "unsupported")
    return replace(answer, sentences=tuple(sentences))
