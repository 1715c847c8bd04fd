"""Sentences and passages: whole sentences, true offsets, nothing lost."""

from __future__ import annotations

import random
import time

import pytest
from shared import SEEDS

from rag import passages as module
from rag.papers import Paper
from rag.passages import MAX_SENTENCE, SENTENCES_PER_PASSAGE, Span, passages, sentences, stamp, windows
from rag.readers import read

ABSTRACTS = [record.abstract for record in read(SEEDS)]
ODD = ["word " * 2000, "x" * 5000, "One. " * 40, "", " \n"]


def cut(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


def noise(seed: int) -> str:
    """Text of the characters that decide where sentences end."""
    rng = random.Random(seed)
    return "".join(rng.choice("abZ9  ..!?…。！,:\"')]”\n\t\u200b$\\é") for _ in range(rng.randrange(200)))


def test_every_character_that_is_not_white_space_lies_in_exactly_one_sentence():
    for text in (*ABSTRACTS, *map(noise, range(500)), *ODD):
        spans = sentences(text)
        edges = [0, *(edge for span in spans for edge in span), len(text)]
        assert edges == sorted(edges), text
        assert not any(text[start:end].strip() for start, end in zip(edges[::2], edges[1::2])), text
        assert all(0 < len(t) <= MAX_SENTENCE and t == t.strip() for t in cut(text)), text


def test_every_passage_is_a_run_of_whole_sentences_with_true_offsets():
    for text in (*ABSTRACTS, *map(noise, range(500)), *ODD):
        paper = Paper("id", "T", text)
        found, spans = passages(paper), sentences(text)
        assert all(paper.abstract[p.start : p.end] == p.text for p in found), text
        assert {p.start for p in found} <= {s.start for s in spans} and {p.end for p in found} <= {s.end for s in spans}, text
        assert all(any(p.start <= s.start and s.end <= p.end for p in found[1:] or found) for s in spans), text
        assert len({p.id for p in found}) == len(found), text


def test_an_abstract_is_one_passage_as_a_whole_then_overlapping_windows():
    text = "One. Two. Three. Four. Five. Six."
    assert [p.text for p in passages(Paper("id", "T", text))] == [text, "One. Two. Three.", "Three. Four. Five.", "Four. Five. Six."]
    assert [p.text for p in passages(Paper("id", "T", " One. Two. Three.\n"))] == ["One. Two. Three."]
    assert passages(Paper("id", "T", " \n")) == [] and windows([]) == []


def test_windows_cover_every_sentence_for_any_number_of_them():
    for count in range(1, 40):
        spans = [Span(n, n + 1) for n in range(count)]
        runs = windows(spans)
        assert runs[0].start == 0 and runs[-1].end == count and all(b.start <= a.end for a, b in zip(runs, runs[1:]))
        assert all(run.end - run.start == min(count, SENTENCES_PER_PASSAGE) for run in runs)


@pytest.mark.parametrize(
    "text, expected",
    [
        ("Smith et al. show this. We agree.", ["Smith et al. show this.", "We agree."]),
        ("See Fig. 3 and Eq. 2, e.g. the left one, i.e. that. Next.", ["See Fig. 3 and Eq. 2, e.g. the left one, i.e. that.", "Next."]),
        ("It gains 3.5 points over GPT-4.0 alone. vLLM is faster.", ["It gains 3.5 points over GPT-4.0 alone.", "vLLM is faster."]),
        ("J. R. Smith did it. Then D. did.", ["J. R. Smith did it.", "Then D. did."]),
        (
            'We ask "Why?" and "How?" at once. He said "Yes." Then he left.',
            ['We ask "Why?" and "How?" at once.', 'He said "Yes."', "Then he left."],
        ),
        ("Does it work? Yes! Surely… Perhaps.", ["Does it work?", "Yes!", "Surely…", "Perhaps."]),
        ("Code at https://github.com/a/b.git is public. Use it.", ["Code at https://github.com/a/b.git is public.", "Use it."]),
        ("**Bold.** Next (in brackets.) Then $x$. End", ["**Bold.**", "Next (in brackets.)", "Then $x$.", "End"]),
        ("我们提出方法。它有效！对吗？", ["我们提出方法。", "它有效！", "对吗？"]),
        ("A title line\n\nA paragraph", ["A title line", "A paragraph"]),
        ("Wrapped at the\nmargin. And\non.", ["Wrapped at the\nmargin.", "And\non."]),
        ("a.b.c vs. d. It ends", ["a.b.c vs. d.", "It ends"]),
    ],
)
def test_sentences_end_where_a_reader_would_end_them(text, expected):
    assert cut(text) == expected


def test_the_seeds_have_no_sentence_that_begins_within_one():
    """A beginning in small letters is a name (vLLM, iPSC) or a cut in the wrong place."""
    odd = [t for abstract in ABSTRACTS for t in cut(abstract) if t[0].islower() and not any(c.isupper() for c in t.split()[0])]
    assert odd == []


@pytest.mark.parametrize(
    "text", ["." * 50_000, "!?" * 25_000, ".)" * 25_000, "\n" * 50_000, "\n" + " " * 50_000, "a. " * 16_000, '."' * 25_000]
)
def test_no_text_takes_long(text):
    started = time.perf_counter()
    sentences(text)
    assert time.perf_counter() - started < 1


def test_the_stamp_changes_with_id_title_abstract_and_rules_only(monkeypatch):
    paper = Paper("id", "T", "A.")
    stamps = {stamp(p) for p in (paper, Paper("id2", "T", "A."), Paper("id", "U", "A."), Paper("id", "T", "B."), Paper("idT", "", "A."))}
    assert len(stamps) == 5 and stamp(paper) == stamp(Paper("id", "T", "A.", ("Ann",), 2020, "V", source="s"))
    before = stamp(paper)
    monkeypatch.setattr(module, "RULES", "another")
    assert stamp(paper) != before


@pytest.mark.parametrize(
    ("text", "parts"),
    [("It lowers the cost.We show this.", 2), ("It gains 3%.Our code is out.", 2), ("It wraps torch.Tensor objects.", 1), ("It is at https://x.github.io.We hope.", 1),
     ("By Smith et al.We begin.", 1), ("It works (see B).However, it is slow.", 2), ("Is it fast?Experiments say so.", 2)],
)  # fmt: skip
def test_a_space_lost_between_two_sentences_does_not_make_them_one(text: str, parts: int):
    assert len(cut(text)) == parts
