"""The page over the sample papers, with nothing scripted: a question, its citation, the evidence, a follow-up, a refusal."""

from __future__ import annotations

import pytest
from stand_in import served

from rag import REFUSAL, Library, Settings

pytestmark = pytest.mark.browser


def ask(page, question: str, turn: int):
    page.get_by_role("textbox", name="Question").fill(question)
    page.keyboard.press("Enter")
    done = page.locator("article.turn:not([data-status=draft])").nth(turn)
    done.wait_for(timeout=30_000)
    return done


def test_a_reader_gets_from_a_question_to_the_marked_sentence_and_on(open_page, seeds: Library):
    page = open_page(served(seeds))
    assert "94 papers" in page.locator("#masthead").inner_text()
    first = ask(page, "How many environments does AgentBench have?", 0)
    assert "8 distinct environments" in first.inner_text()
    first.locator("a.cite").first.click()
    card = page.locator("#panel article.card:visible").first
    assert "AgentBench: Evaluating LLMs as Agents" in card.inner_text() and "Xiao Liu" in card.inner_text()
    marked = " ".join(card.locator("mark").all_inner_texts())
    abstract = next(p.abstract for p in seeds.papers() if p.title.startswith("AgentBench"))
    assert "8 distinct environments" in marked and card.locator(".abstract").inner_text().strip() == abstract
    addresses = [link.get_attribute("href") for link in card.get_by_role("link").all()]
    assert "https://openreview.net/forum?id=zAdUB0aCTQ" in addresses and "https://github.com/THUDM/AgentBench" in addresses

    followed = ask(page, "and where is it released?", 1)
    assert "github.com/THUDM/AgentBench" in followed.inner_text() and "Searched for" in followed.inner_text()

    refused = ask(page, "How long do I boil an egg?", 2)
    assert REFUSAL in refused.inner_text() and refused.get_attribute("data-status") == "refused" and refused.locator("a.cite").count() == 0
    own = page.evaluate("location.origin")
    assert all(url.startswith((own, "data:", "blob:")) for url in page.requests)


def test_the_page_finds_papers_that_another_program_adds(open_page, tmp_path, embedder):
    with Library.open(tmp_path / "l", settings=Settings(), embedder=embedder, seeds=False) as shown:
        page = open_page(served(shown))
        assert "no papers yet" in page.locator("#masthead").inner_text()
        with Library.open(tmp_path / "l", settings=Settings(), embedder=embedder, seeds=False) as other:
            (tmp_path / "new.jsonl").write_text('{"title": "Quokkas", "abstract": "We count quokkas on an island."}\n')
            other.add(tmp_path / "new.jsonl")
        assert "We count quokkas on an island." in ask(page, "who counts quokkas on an island?", 0).inner_text()
        assert "1 paper" in page.locator("#masthead").inner_text()
