"""What a list asks of each paper, and whether a paper meets it literally: exact, whatever the case, hyphens and plurals."""

from __future__ import annotations

import pytest

from rag import Paper
from rag.criteria import criterion
from rag.matching import gives, mention, pattern, recorded


def paper(abstract: str, title: str = "A title", authors: tuple[str, ...] = (), year: int | None = None) -> Paper:
    return Paper("p", title, abstract, authors, year)


def meets(question: str, abstract: str, title: str = "A title") -> bool:
    asked = criterion(question)
    assert asked.kind == "mention", asked
    return mention(asked, paper(abstract, title))[0]


@pytest.mark.parametrize(
    ("phrase", "text"),
    [("GPT-3", "We use GPT-3."), ("gpt 3", "We use GPT-3."), ("GPT3", "We use GPT-3."), ("GPT-3", "GPT3, too"), ("GPT-3.5", "with GPT-3.5-turbo"), ("llama", "LLaMA-2 70B"),
     ("optimal transport", "Optimal-Transport-based"), ("transformers", "one Transformer"), ("CLIP", "CLIP's loss"), ("state of the art", "a state-of-the-art model"),
     ("C++", "in C++ and Rust"), ("data set", "this dataset"), ("diffusion model", "Diffusion models are")],
)  # fmt: skip
def test_a_phrase_is_found_as_people_write_it(phrase: str, text: str):
    assert pattern(phrase).search(text)


@pytest.mark.parametrize(
    ("phrase", "text"),
    [("GPT-3", "We use GPT-3.5."), ("GPT-3", "GPT-35"), ("GPT-3", "GPT-4"), ("CIFAR-10", "on CIFAR-100"), ("RL", "the URL of a world"), ("CLIP", "we clipped it, eclipse"),
     ("art", "a start of an article"), ("graph", "a paragraph"), ("optimal transport", "transport that is optimal")],
)  # fmt: skip
def test_a_phrase_is_not_found_in_another_word_or_version(phrase: str, text: str):
    assert not pattern(phrase).search(text)


@pytest.mark.parametrize(
    ("question", "phrases"),
    [("Which papers mention GPT-3?", ("GPT-3",)), ("which papers mention diffusion or GPT-4", ("diffusion", "GPT-4")), ("which papers mention GPT-4, CLIP, or LoRA?", ("GPT-4", "CLIP", "LoRA")),
     ('papers with the words "optimal transport"', ("optimal transport",)), ("Which abstracts say ‘in the wild’ or “chain of thought”?", ("chain of thought", "in the wild")),
     ("in which abstracts does the word robust occur?", ("robust",)), ("Is GPT-4 mentioned in any abstract?", ("GPT-4",)), ("Does any paper mention NeRF?", ("NeRF",)),
     ("which papers mention GPT-4 and CLIP", ("GPT-4", "CLIP")), ("Which papers mention one of these: LoRA and CLIP?", ("LoRA", "CLIP"))],
)  # fmt: skip
def test_the_words_that_are_to_be_mentioned_are_read_from_the_question(question: str, phrases: tuple[str, ...]):
    asked = criterion(question)
    assert asked.kind == "mention" and not asked.negated and sorted(asked.phrases) == sorted(phrases)


def test_but_not_leaves_out_what_also_mentions_the_other():
    question = "Which papers mention ImageNet but not CIFAR?"
    assert meets(question, "We use ImageNet.") and not meets(question, "We use ImageNet and CIFAR-10.") and not meets(question, "We use CIFAR-10.")
    assert not meets(question, "We use ImageNet.", title="Beyond CIFAR")


@pytest.mark.parametrize("question", ["Which papers do not mention GPT-4 or CLIP?", "Which papers mention neither GPT-4 nor CLIP?", "papers that never mention GPT-4 or CLIP"])
def test_not_and_neither_list_the_papers_without_either(question: str):
    assert meets(question, "Of something else.")
    assert not meets(question, "With GPT-4.") and not meets(question, "With CLIP.")


@pytest.mark.parametrize(
    ("question", "those", "others"),
    [("Which papers give a GitHub link?", ["See https://github.com/a/b.", "at a.github.io"], ["We mine GitHub.", "See https://example.org/x."]),
     ("Which papers include a link?", ["See https://example.org/x.", "at www.example.org", "github.com/a/b"], ["No link is given.", "e.g. this"]),
     ("Which ones have a project page instead of a GitHub repository?", ["See our project page.", "at a.github.io", "See https://example.org/x."], ["See https://github.com/a/b.", "Nothing."]),
     ("Which papers give no link?", ["Nothing."], ["See https://example.org/x."]),
     ("Which abstracts state a percentage?", ["by 3%", r"by 3.5\%", "12 percent of it"], ["A percentage is found.", "3 points"])],
)  # fmt: skip
def test_links_and_percentages_are_found_in_the_text_itself(question: str, those: list[str], others: list[str]):
    assert all(meets(question, text) for text in those) and not any(meets(question, text) for text in others)


def test_the_sentence_that_shows_it_is_the_first_that_does_and_a_title_shows_itself():
    text = "We study words. GPT-4 writes them. GPT-4 reads them."
    meets_it, span = mention(criterion("Which papers mention GPT-4?"), paper(text))
    assert meets_it and span and text[span.start : span.end] == "GPT-4 writes them."
    assert mention(criterion("Which papers mention GPT-4?"), paper("Nothing.", title="On GPT-4")) == (True, None)
    assert mention(criterion("Which abstracts mention GPT-4?"), paper("Nothing.", title="On GPT-4")) == (False, None)


@pytest.mark.parametrize(
    ("question", "author", "true"),
    [("Which papers are by Yuta Saito?", "Yuta Saito", True), ("papers by Y. Saito", "Yuta Saito", True), ("papers by Saito", "Yuta Saito", True), ("papers by saito", "Saitoh Ken", False),
     ("Which papers did Yuta Saito write?", "Yuta Saito", True), ("papers by K. Saito", "Yuta Saito", False), ("papers by Yuta Saito", "Yuta Sait", False),
     ("Which papers have Yuta Saito as an author?", "Yuta Saito", True), ("papers by Ann Lee", "Ann Saito", False)],
)  # fmt: skip
def test_an_author_is_met_by_the_record_with_initials_and_never_by_a_part_of_a_name(question: str, author: str, true: bool):
    asked = criterion(question)
    assert (asked.kind == "record" and recorded(asked, paper("By Yuta Saito and Ann Lee.", authors=("Someone Else", author)))) is true


@pytest.mark.parametrize(
    ("question", "years"),
    [("papers from 2020", {2020}), ("papers since 2020", {2020, 2021}), ("papers after 2020", {2021}), ("papers published before 2020", {2019}), ("papers until 2020", {2019, 2020}),
     ("Which papers are from 2020 or later?", {2020, 2021}), ("papers from 2020 or earlier", {2019, 2020}), ("papers from 2021 by Ann Lee", {2021})],
)  # fmt: skip
def test_a_year_is_met_by_the_record(question: str, years: set[int]):
    asked = criterion(question)
    assert asked.kind == "record"
    assert {y for y in (2019, 2020, 2021) if recorded(asked, paper("From 2020.", authors=("Ann Lee",), year=y))} == years
    assert not recorded(asked, paper("From 2020.", authors=("Ann Lee",)))  # of which no year is known


@pytest.mark.parametrize(("question", "kind"), [("Which papers from 2020 mention GPT-4?", "mention"), ("Which papers from 2020 are about pruning?", "topic"), ("list all papers from 2020", "record")])
def test_a_year_beside_another_criterion_is_asked_for_too(question: str, kind: str):
    asked = criterion(question)
    assert (asked.kind, asked.years) == (kind, (2020, 2020)) and "2020" not in asked.text and asked.shown.endswith("from 2020")


@pytest.mark.parametrize(
    ("question", "text"),
    [("Which papers are about graph neural networks?", "graph neural networks"), ("List papers on pruning, please.", "pruning"), ("Which papers talk about fairness?", "talk fairness"),
     ("Which papers use data from 2020?", "use data from 2020")],
)  # fmt: skip
def test_a_subject_is_searched_for_by_its_words_alone(question: str, text: str):
    asked = criterion(question)
    assert (asked.kind, asked.text, asked.years) == ("topic", text, (0, 9999))


def test_everything_is_asked_for_by_no_criterion_at_all():
    assert [criterion(q).kind for q in ("list all papers", "How many papers are there?", "how many papers do you have")] == ["all"] * 3


@pytest.mark.parametrize(("question", "bare"), [("Which papers introduce a benchmark?", True), ("Which papers introduce a benchmark for agents?", False)])
def test_a_kind_of_contribution_is_told_from_a_subject(question: str, bare: bool):
    assert criterion(question).bare is bare


@pytest.mark.parametrize(("question", "every"), [("which papers mention both CLIP and LAION?", True), ("papers that mention CLIP or LAION", False), ('which papers mention "search and rescue"?', False)])
def test_a_and_b_are_both_to_be_mentioned_and_a_or_b_either(question: str, every: bool):
    asked = criterion(question)
    both, one = Paper("1", "T", "We use CLIP on LAION, and search and rescue."), Paper("2", "T", "We use CLIP.")
    assert asked.every == every and mention(asked, both)[0] and mention(asked, one)[0] == ("or" in question)


def test_what_papers_are_not_about_is_told_apart_from_what_they_are_about():
    assert criterion("Which papers are not about robots?").kind == "unlike" and criterion("Which papers are about robots?").kind == "topic"


@pytest.mark.parametrize(("question", "phrases"), [("any results on COCO in here", ("COCO",)), ("Who used Llama models in their experiments?", ("Llama",)), ("List papers reporting something on CIFAR-10.", ("CIFAR-10",))])
def test_a_name_that_papers_use_is_one_that_they_mention(question: str, phrases: tuple[str, ...]):
    assert criterion(question).kind == "mention" and criterion(question).phrases == phrases
    assert criterion("which papers use RL?").kind == "topic"


def test_a_subject_and_a_feature_are_both_asked_for():
    asked = criterion("diffusion model papers with a GitHub link")
    assert (asked.kind, asked.text, asked.feature) == ("topic", "diffusion model", "github")
    assert gives(asked, paper("See https://github.com/a/b.")) and not gives(asked, paper("Nothing."))


@pytest.mark.parametrize(("question", "shown"), [("show me work on noisy labels please", "noisy labels"), ("does anybody talk about optimal transport?", "optimal transport"), ("Which papers deal with wrong, ambiguous or inconsistent labels?", "wrong, ambiguous or inconsistent labels")])
def test_the_criterion_is_shown_as_it_was_put(question: str, shown: str):
    assert criterion(question).shown == shown
