"""Question files: what they may say, what is refused with file and line, and what `validate` finds against the papers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from shared import write_jsonl

from evals import questions
from evals.questions import Question, QuestionError, Turn, load, parse, sample, validate
from rag import Library, Paper

PAPERS = [Paper("a", "Ants", "Ants walk far. They eat 12 leaves."), Paper("b", "Bees", "Bees fly. They sleep at night.")]


def wrong(*records: dict) -> list[str]:
    return validate([parse(record, f"q.jsonl:{n}", f"q{n}") for n, record in enumerate(records, 1)], PAPERS)


def test_the_sample_questions_agree_with_the_sample_papers(seeds: Library):
    asked = questions.default()
    assert validate(asked, seeds.papers()) == []
    assert len(load(questions.SEEDS)) >= 240
    kinds = {kind: sum(q.kind == kind for q in asked) for kind in {q.kind for q in asked}}
    assert min(kinds[kind] for kind in ("off-subject", "subject-absent", "not-stated")) >= 25
    assert kinds["dialogue"] >= 20 and sum(bool(q.plant) for q in asked) == 10


def test_the_template_is_read(tmp_path: Path):
    assert {q.kind for q in load(questions.FOLDER / "template.jsonl")} >= {"own", "fact", "list", "dialogue", "not-stated"}


def test_a_minimal_line_is_enough(tmp_path: Path):
    records = [{"question": "Who walks?", "papers": ["a"], "answerable": True}, {"question": "Who swims?", "papers": []}]
    path = write_jsonl(tmp_path / "mine.jsonl", records)
    first, second = load(path)
    assert first == Question("q001", "own", "reporting", (Turn("Who walks?", ("a",)),), where="mine.jsonl:1")
    assert second.id == "q002" and not second.turns[0].answerable
    assert validate([first, second], PAPERS) == []


def test_what_is_written_is_what_was_read():
    for question in questions.default():
        assert parse(json.loads(json.dumps(question.to_dict())), question.where) == question


@pytest.mark.parametrize(
    "line, says",
    [
        ("{", "mine.jsonl:2: this line is not JSON"),
        ("[]", "mine.jsonl:2: a line must be an object"),
        ('{"papers": []}', "mine.jsonl:2: a line needs either 'question' or 'turns'"),
        ('{"question": "x", "turns": []}', "needs either"),
        ('{"turns": []}', "'turns' is empty"),
        ('{"turns": ["x"]}', "a turn must be an object"),
        ('{"turns": [{"papers": []}]}', "a turn needs a 'question'"),
        ('{"question": "x", "paper": ["a"]}', "there is no key 'paper'. Did you mean 'papers'?"),
        ('{"question": "x", "papers": "a"}', "'papers' must be a list"),
        ('{"question": "x", "papers": [1]}', "'papers' must be a list of strings"),
        ('{"question": "x", "answerable": "yes"}', "'answerable' must be true or false"),
        ('{"question": "x", "count": true}', "'count' must be a whole number"),
        ('{"question": "x", "facts": ["a"]}', "'facts' must be a list of lists"),
        ('{"question": "x", "evidence": [{"paper": "a"}]}', "'evidence' must be a list of"),
        ('{"question": "x", "half": "other"}', "'half' must be tuning or reporting"),
        ('{"question": "x", "plant": [{"id": "p"}]}', "a planted paper needs exactly"),
        ('{"question": "x", "id": "one"}', "the id 'one' is taken by mine.jsonl:1"),
    ],
)
def test_a_mistake_is_named_with_file_and_line(tmp_path: Path, line: str, says: str):
    path = write_jsonl(tmp_path / "mine.jsonl", [{"id": "one", "question": "Who?", "papers": ["a"]}, line])
    with pytest.raises(QuestionError) as caught:
        load(path)
    assert says in str(caught.value) and "mine.jsonl:2" in str(caught.value)


@pytest.mark.parametrize("content", [None, b"\n\n", b"\xff\xfe\x00"])
def test_a_file_that_is_missing_empty_or_no_text_is_refused(tmp_path: Path, content: bytes | None):
    path = tmp_path / "mine.jsonl"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(QuestionError):
        load(path)


@pytest.mark.parametrize(
    "record, says",
    [
        ({"question": "Who?", "papers": ["z"]}, "there is no paper 'z'"),
        ({"question": "Who?", "papers": [], "answerable": False, "about": ["z"]}, "there is no paper 'z'"),
        ({"question": " ", "papers": ["a"]}, "the question is empty"),
        ({"question": "Who?", "papers": [], "answerable": True}, "answerable is true, but there are 0 papers"),
        ({"question": "Who?", "papers": ["a"], "answerable": False}, "answerable is false"),
        ({"question": "Who?", "papers": ["a"], "also": ["a"]}, "named twice"),
        ({"question": "Which?", "papers": ["a", "b"], "count": 3}, "count is 3, but there are 2 papers"),
        ({"question": "Who?", "papers": ["a"], "evidence": [{"paper": "a", "text": "ants walk"}]}, "does not stand in a"),
        ({"question": "Who?", "papers": ["a"], "evidence": [{"paper": "b", "text": "Bees fly."}]}, "which the question is not about"),
        ({"question": "Who?", "papers": ["a"], "facts": [["fly", "swim"]]}, "no alternative of the fact"),
        ({"question": "Who?", "papers": ["a"], "forbidden": ["12 LEAVES"]}, "so quoting it would fail"),
        ({"turns": [{"question": "Who?", "papers": ["a"]}, {"question": "And?", "papers": ["z"]}]}, "turn 2: there is no paper 'z'"),
    ],
)
def test_validate_finds_what_disagrees_with_the_papers(record: dict, says: str):
    found = wrong(record)
    assert len(found) == 1 and says in found[0] and found[0].startswith("q.jsonl:1: ")


def test_validate_finds_what_disagrees_between_questions():
    one = {"question": "Who walks?", "papers": ["a"], "half": "tuning"}
    assert any("asks the same as q1" in line for line in wrong(one, {**one, "question": "who  WALKS"}))
    other = {"question": "Who eats?", "papers": ["a"], "half": "reporting"}
    assert any("paper a is in both halves: q1 and q2" in line for line in wrong(one, other))
    assert wrong(one, {"question": "Which eat?", "papers": ["a"], "count": 1, "half": "reporting"}) == []
    assert any("used 2 times" in line for line in validate([parse(one, "x"), parse({**one, "question": "b?"}, "y")], PAPERS))


def test_a_question_of_one_paper_is_clustered_by_it_and_any_other_by_itself():
    single = {"id": "q", "question": "?", "papers": ["a"]}
    assert parse(single).cluster == "a"
    assert parse({"id": "q", "question": "?", "papers": [], "about": ["b"]}).cluster == "b"
    assert parse({**single, "papers": ["a", "b"]}).cluster == "q"
    assert parse({**single, "count": 1}).cluster == "q"
    assert parse({"id": "q", "turns": [{"question": "?", "papers": ["a"]}, {"question": "!", "papers": ["a"]}]}).cluster == "q"


def test_a_sample_is_spread_over_the_file():
    asked = [parse({"id": f"q{n}", "question": f"{n}?", "papers": ["a"]}) for n in range(10)]
    assert [q.id for q in sample(asked, 5)] == ["q0", "q2", "q4", "q6", "q8"]
    assert sample(asked, None) == sample(asked, 10) == sample(asked, 99) == asked
