"""Prompts are files: what is in them, and what is noticed when they are wrong."""

import pytest

from rag.errors import AskPapersError
from rag.prompts import FOLDER, load
from rag.papers import REFUSAL


def write(folder, text, name="p"):
    (folder / f"{name}.md").write_text(text, encoding="utf-8")
    return folder


GOOD = "---\nname: p\nfor: a test\nplaceholders: who, what\n---\n## system\nBe {what}.\n\n## user\nI am {who}.\n"


def test_every_prompt_that_ships_is_well_formed():
    names = [path.stem for path in FOLDER.glob("*.md")]
    assert "answer" in names
    for name in names:
        assert load(name).messages


def test_sections_become_messages_and_placeholders_are_filled(tmp_path):
    prompt = load("p", write(tmp_path, GOOD))
    assert prompt.fill(who="Ada", what="kind") == [("system", "Be kind."), ("user", "I am Ada.")]


def test_a_value_is_put_in_as_it_is(tmp_path):
    prompt = load("p", write(tmp_path, GOOD))
    assert prompt.fill(who="{what} \\1 ## system", what="x")[1] == ("user", "I am {what} \\1 ## system.")


@pytest.mark.parametrize("values", [{"who": "x"}, {"who": "x", "what": "y", "extra": "z"}, {}])
def test_a_missing_or_unknown_value_is_an_error(tmp_path, values):
    with pytest.raises(ValueError, match="what.*who"):
        load("p", write(tmp_path, GOOD)).fill(**values)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "just words",
        GOOD.replace("{who}", "{whom}"),
        GOOD.replace("who, what", "who"),
        GOOD.replace("who, what", "who, what, unused"),
        GOOD.replace("## system", "# system").replace("## user", "# user"),
    ],
)
def test_a_prompt_that_is_not_well_formed_is_named(tmp_path, text):
    with pytest.raises(AskPapersError, match="p.md"):
        load("p", write(tmp_path, text))


def test_a_missing_prompt_is_named(tmp_path):
    with pytest.raises(AskPapersError, match="nothing.md"):
        load("nothing", tmp_path)


def test_the_hash_follows_the_text(tmp_path):
    (tmp_path / "a").mkdir(), (tmp_path / "b").mkdir(), (tmp_path / "c").mkdir()
    first, same, other = (load("p", write(tmp_path / n, t)) for n, t in (("a", GOOD), ("b", GOOD), ("c", GOOD + " ")))
    assert first.hash == same.hash != other.hash and len(first.hash) == 12


def test_the_answer_prompt_holds_the_refusal_the_papers_and_the_question_once():
    filled = load("answer").fill(papers="<<papers>>", question="<<question>>", refusal=REFUSAL)
    whole = "\n".join(text for _, text in filled)
    assert [role for role, _ in filled] == ["system", "user"]
    assert whole.count(REFUSAL) == whole.count("<<papers>>") == whole.count("<<question>>") == 1
    assert filled[1][1].index("<<papers>>") < filled[1][1].index("<<question>>")
