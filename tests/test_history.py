"""Conversations that are kept: whose they are, what comes back, and what goes with a removed paper."""

from __future__ import annotations

from pathlib import Path

import pytest
from shared import WordEmbedder, made_up

from rag import Library, Settings
from rag import history as module
from rag.history import FILE, History, Turn, answer_from
from rag.papers import Answer, Citation, Paper, Quote, Sentence

PAPER = Paper("p1", "Bees “count”", "Bees count to four.", ("Ann Lee",), 2020, "Nature", keywords=("bees",))
ANSWER = Answer(
    "Bees count [1].", "answered", (Sentence("Bees count.", (1,), "supported"),), (Citation(1, PAPER, (Quote("Bees count", 0, 10),)),),
    count=3, related=(made_up(1),), notice="n", timings={"total": 1.5}, form="list", doubtful=(Citation(2, made_up(2)),), usage={"calls": 1}, dropped=2,
)  # fmt: skip


def test_an_answer_survives_being_kept() -> None:
    assert answer_from(ANSWER.to_dict()) == ANSWER
    assert answer_from({**ANSWER.to_dict(), "of_a_later_version": 1}) == ANSWER


def test_turns_come_back_in_order_after_the_file_was_closed(tmp_path: Path) -> None:
    history = History(tmp_path)
    id, number = history.add("ann", None, Turn("How many?", answer=ANSWER, scope="2020"))
    assert number == 1 and history.add("ann", id, Turn("And?", "stopped", text="half a")) == (id, 2)
    history.close()
    again = History(tmp_path)
    assert again.kept
    assert again.turns("ann", id) == [Turn("How many?", answer=ANSWER, scope="2020", number=1), Turn("And?", "stopped", text="half a", number=2)]
    assert again.turns("ann", id, last=1) == [Turn("And?", "stopped", text="half a", number=2)]
    [kept] = again.list("ann")
    assert (kept.id, kept.title, kept.turns) == (id, "How many?", 2)


def test_nobody_else_reads_or_changes_it(tmp_path: Path) -> None:
    history = History(tmp_path)
    id, _ = history.add("ann", None, Turn("Mine?", answer=ANSWER))
    history.rename("bo", id, "Stolen")
    history.delete("bo", id)
    other, _ = history.add("bo", id, Turn("Into it?"))
    assert other != id and history.list("bo")[0].id == other
    assert history.turns("bo", id) == [] and history.title("bo", id) is None
    assert history.title("ann", id) == "Mine?" and len(history.turns("ann", id)) == 1


def test_a_turn_can_take_the_place_of_another(tmp_path: Path) -> None:
    history = History(tmp_path)
    id, _ = history.add("ann", None, Turn("One"))
    history.add("ann", id, Turn("Two"))
    assert history.add("ann", id, Turn("Two, better"), replace=2) == (id, 2)
    assert [turn.question for turn in history.turns("ann", id)] == ["One", "Two, better"]


def test_what_was_before_a_turn_is_asked_for_by_its_number(tmp_path: Path) -> None:
    history = History(tmp_path)
    id, _ = history.add("ann", None, Turn("1"))
    for n in range(2, 9):
        history.add("ann", id, Turn(str(n)))
    assert [turn.question for turn in history.turns("ann", id, last=3, before=6)] == ["3", "4", "5"]
    assert history.turns("ann", id, before=1) == []


def test_a_title_goes_with_the_question_that_it_was_made_of_and_a_given_one_stays(tmp_path: Path) -> None:
    history = History(tmp_path)
    id, _ = history.add("ann", None, Turn("One"))
    history.add("ann", id, Turn("Uno"), replace=1)
    assert history.title("ann", id) == "Uno" and len(history.turns("ann", id)) == 1
    history.rename("ann", id, "Numbers")
    history.add("ann", id, Turn("Un"), replace=1)
    assert history.title("ann", id) == "Numbers"


def test_an_opinion_is_kept_with_its_turn_and_only_by_its_owner(tmp_path: Path) -> None:
    history = History(tmp_path)
    id, number = history.add("ann", None, Turn("One", answer=ANSWER))
    history.rate("ann", id, number, "wrong", "no")
    history.rate("bo", id, number, "right", "")
    assert history.turns("ann", id) == [Turn("One", answer=ANSWER, number=1, vote="wrong", words="no")]
    history.rate("ann", id, number, "right", "")
    assert (history.turns("ann", id)[0].vote, history.turns("ann", id)[0].words) == ("right", "")


def test_renaming_and_deleting(tmp_path: Path) -> None:
    history = History(tmp_path)
    id, _ = history.add("ann", None, Turn("A question that is long " * 20))
    assert len(history.title("ann", id)) == 120
    history.rename("ann", id, "  Bees \n and  such ")
    history.rename("ann", id, "   ")
    assert history.title("ann", id) == "Bees and such"
    history.delete("ann", id)
    assert history.list("ann") == [] and all(b"A question" not in path.read_bytes() for path in tmp_path.iterdir())


def test_there_is_an_end_to_what_one_person_keeps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_KEPT", 3)
    history = History(tmp_path)
    ids = [history.add("ann", None, Turn(str(n)))[0] for n in range(5)]
    history.add("bo", None, Turn("b"))
    assert [kept.id for kept in history.list("ann")] == ids[:1:-1] and len(history.list("bo")) == 1


def test_without_a_folder_that_can_be_written_it_lives_in_memory(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"this is no database" * 100)
    for history in (History(None), History(tmp_path), History(tmp_path / "missing")):
        id, _ = history.add("ann", None, Turn("Q", answer=ANSWER))
        assert not history.kept and len(history.turns("ann", id)) == 1


def test_removing_a_paper_takes_it_out_of_kept_answers(tmp_path: Path) -> None:
    papers = [Paper("a", "On zebras", "Zebras graze in zigzag."), Paper("b", "On yaks", "Yaks yawn at dawn.")]
    with Library.open(tmp_path, settings=Settings(), embedder=WordEmbedder(), seeds=False) as library:
        library.add(*papers)
        history = History(tmp_path)
        of = {p.id: Answer("A", "answered", citations=(Citation(1, p, (Quote(p.abstract, 0, len(p.abstract)),)),)) for p in papers}
        id, _ = history.add("ann", None, Turn("On zebras?", answer=of["a"]))
        history.add("ann", id, Turn("Yaks?", answer=of["b"]))
        library.remove("a")
        assert [(t.question, t.outcome) for t in history.turns("ann", id)] == [("On zebras?", "removed"), ("Yaks?", "answered")]
        history.close()
        assert all(b"zigzag" not in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


def test_a_conversation_goes_on_from_kept_turns(tmp_path: Path) -> None:
    with Library.open(tmp_path, settings=Settings(), embedder=WordEmbedder(), seeds=False) as library:
        library.add(Paper("a", "On zebras", "Zebras graze in zigzag."))
        zebra = library.paper("a")
        before = [("What of zebras?", Answer("Z", "answered", citations=(Citation(1, zebra),)))]
        chat = library.conversation(before)
        assert "On zebras" in chat.ask("and its habits?").query
        assert len(chat.turns) == 2


def test_a_library_can_answer_with_other_settings_and_stays_as_it_is(tmp_path: Path) -> None:
    settings = Settings(model="m", base_url="http://127.0.0.1:9/v1")
    with Library.open(tmp_path, settings=settings, embedder=WordEmbedder(), seeds=False) as library:
        library.add(Paper("a", "On zebras", "Zebras graze in zigzag."))
        assert library.answering(model="").ask("zebras graze").mode == "extractive"
        assert library.mode == "m" and len(library) == 1
