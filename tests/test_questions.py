"""What is being asked, told from the words alone: small talk, lists, comparisons, several questions in one, other languages."""

from __future__ import annotations

import pytest

from rag.questions import asked_after_saying, asks_for_list, asks_only, asks_of_record, asserts, changes_subject, compares, is_foreign, is_small_talk, needs_context, parts, points_back


@pytest.mark.parametrize("text", ["hello there", "ok cool", "Thanks, that's all", "got it, thank you so much!", "what can you do?", "how does this work?", "bye"])
def test_small_talk_is_told(text: str):
    assert is_small_talk(text)


@pytest.mark.parametrize("text", ["Hi! Which papers are about pruning?", "Hello, what does AgentBench measure?", "cool what else does it do?", "help me compare BEND and GAIA"])
def test_a_greeting_with_a_question_is_a_question(text: str):
    assert not is_small_talk(text)


@pytest.mark.parametrize(
    "question",
    ["Which papers are about pruning?", "How many papers mention GPT-4?", "List the papers on pruning", "list all papers", "papers by Saito", "papers since 2020",
     "papers published after 2024", "any papers on protein design?", "pruning papers", "find me papers on fairness", "Does any paper mention NeRF?",
     "Is GPT-4 mentioned in any abstract?", "Who works on pruning?", "everything about diffusion", "which of them mention GPT-4?", "What papers did Yuta Saito write?"],
)  # fmt: skip
def test_a_question_for_every_paper_of_a_kind_asks_for_a_list(question: str):
    assert asks_for_list(question)


@pytest.mark.parametrize(
    "question",
    ["What does AgentBench measure?", "How many environments does AgentBench have?", "What do the papers say about pruning?", "Which model does WildChat use?",
     "list the main steps of SliceGPT", "What are the limitations of the paper?", "Which paper introduces AgentBench?", "How do these papers differ?",
     "What do all the papers say about pruning?", "What can all these papers tell us?"],
)  # fmt: skip
def test_a_question_about_what_papers_say_asks_for_no_list(question: str):
    assert not asks_for_list(question)


@pytest.mark.parametrize(
    ("question", "true"),
    [("How does BEND differ from GAIA?", True), ("BEND vs. GAIA", True), ("compare them", True), ("What do BEND and GAIA have in common?", True),
     ("Which is larger, BEND or GAIA?", True), ("What does AgentBench measure?", False), ("Which papers are about pruning?", False)],
)  # fmt: skip
def test_a_comparison_is_told(question: str, true: bool):
    assert compares(question) is true


@pytest.mark.parametrize(
    ("question", "expected"),
    [("What is BEND and how many tasks has it?", ["What is BEND", "how many tasks has it?"]), ("What is BEND? What is GAIA?", ["What is BEND?", "What is GAIA?"]),
     ("Who made it, and where is it released?", ["Who made it", "where is it released?"]), ("What is BEND; who made it?", ["What is BEND", "who made it?"]),
     ("How does BEND work and improve things?", ["How does BEND work and improve things?"]), ("What are its strengths and weaknesses?", ["What are its strengths and weaknesses?"]), ("Why? And how?", ["Why? And how?"]),
     ("and its limits? (How Realistic Is It? A Study)", ["and its limits? (How Realistic Is It? A Study)"])],
)  # fmt: skip
def test_several_questions_in_one_are_divided_and_one_is_left_whole(question: str, expected: list[str]):
    assert parts(question) == expected


@pytest.mark.parametrize(
    "question",
    ["Wie viele Umgebungen hat AgentBench?", "¿Cuántos entornos tiene AgentBench?", "AgentBench 有多少个环境?", "AgentBenchは何を測りますか", "Что измеряет AgentBench?",
     "Combien d'environnements AgentBench a-t-il et quels sont-ils ?", "Quali sono i limiti di AgentBench?", "ما الذي يقيسه AgentBench؟"],
)  # fmt: skip
def test_other_languages_are_told(question: str):
    assert is_foreign(question)


@pytest.mark.parametrize(
    "question", ["What does AgentBench measure?", "Does van der Waals matter for the model?", "α-divergence and the β schedule", "naïve Bayes vs. Schrödinger bridge", "LLMs", "", "🤔 42"]
)
def test_english_with_foreign_names_and_letters_is_english(question: str):
    assert not is_foreign(question)


@pytest.mark.parametrize("question", ["the second one", "tell me more about [2]", "[3]?", "paper 2", "back to the first paper", "then?", "how many tasks does it have?"])
def test_what_points_back_is_told(question: str):
    assert needs_context(question) and not changes_subject(question)


@pytest.mark.parametrize("question", ["New question: what is it?", "Something else: how does it work?", "moving on, what does this do?"])
def test_who_says_that_the_subject_changes_points_at_nothing(question: str):
    assert changes_subject(question) and not needs_context(question)


@pytest.mark.parametrize(
    ("question", "what"),
    [("Who wrote BEND?", "authors"), ("When was BEND published?", "year"), ("At which conference did BEND appear?", "venue"), ("What does BEND measure?", ""), ("Who uses BEND?", "")],
)
def test_a_question_for_a_papers_record_is_told(question: str, what: str):
    assert asks_of_record(question) == what


@pytest.mark.parametrize(
    "question",
    ["show me work on noisy labels", "spiking nets, anything?", "is there work on proteins", "does anybody talk about optimal transport?", "who's doing Bayesian stuff here?", "any results on COCO in here", "papers w/ fMRI",
     "what's there on adversarial robustness", "can you list the ones with a project page?", "Looking for bandit theory. Which ones qualify?", "which of the LLM papers call tools?"],
)  # fmt: skip
def test_a_list_is_asked_for_in_many_words(question: str):
    assert asks_for_list(question)


@pytest.mark.parametrize(
    "question",
    ["Who said that emergence is a mirage?", "who proved that codecs are stable?", "Who leads the ranking?", "Is there something on porous crystals? How do they get from blocks to atoms?", "There are two papers on pruning. What does each prune?",
     "Which of these needs labels, the attention one or the segmentation one?", "the paper by Laidlaw about horizons, what algorithm does it bring?"],
)  # fmt: skip
def test_a_question_for_one_paper_asks_for_no_list_however_it_begins(question: str):
    assert not asks_for_list(question)


@pytest.mark.parametrize(
    ("question", "asked"),
    [("There's that work on moving people in clips. How does it keep them steady?", "How does it keep them steady?"), ("A dataset of organ scans: how many patients were scanned?", "how many patients were scanned?"),
     ("I need the minimum width for approximation. What do Kim and Park prove?", "What do Kim and Park prove?"), ("There's that work on clips. How does it work?", "There's that work on clips. How does it work?"),
     ("What is BEND? How many tasks has it?", "What is BEND? How many tasks has it?"), ("What is BEND: a benchmark?", "What is BEND: a benchmark?")],
)  # fmt: skip
def test_what_is_asked_is_told_from_what_is_said_before(question: str, asked: str):
    assert asked_after_saying(question) == asked


def test_a_word_that_stands_for_what_the_question_itself_said_does_not_point_back():
    assert points_back("how do they match the images?") and not points_back("Dense matching with a transformer. How do they match the images?") and not points_back("what is it that breaks the smoothing?")


@pytest.mark.parametrize(("question", "true"), [("up to how much better?", True), ("with which kind of loss?", True), ("quantum computing?", False), ("which gradients hurt transfer between transformers?", False)])
def test_hardly_more_than_a_question_word_is_told(question: str, true: bool):
    assert asks_only(question) is true


@pytest.mark.parametrize(
    "question",
    ["pull up whatever mentions mixture of experts", "I'm after anything involving satellite imagery.", "are there any on pruning", "How many deal with text-to-SQL?", "need: papers, speech enhancement", "anyone doing EEG decoding?",
     "what other stuff on domain adaptation is in there", "Give me a reading list on causal discovery.", "Is drug-target interaction covered by any paper?", "all the LLM agent ones", "Out of these, which ones propose a new loss?",
     "Anything new on hashing for similarity search?", "Which submissions use Wasserstein distances"],
)  # fmt: skip
def test_people_ask_for_lists_without_the_word(question: str):
    assert asks_for_list(question)


@pytest.mark.parametrize(
    "question",
    ["List the contributions of the SAM paper.", "Anything on privacy in that paper?", "List its hyperparameters.", "does anyone in that study get hurt?", "Who else did they compare with?", "how many papers did they screen?",
     "anything about runtime?", "Which of these two handles missing data better?", "ok so how many of those datasets are synthetic?", "What is the name of that paper on bias?"],
)  # fmt: skip
def test_what_sounds_like_a_list_and_is_a_detail_of_one_paper_asks_for_none(question: str):
    assert not asks_for_list(question)


@pytest.mark.parametrize(
    ("text", "true"),
    [("Vitamin D deficiency is unrelated to birth weight.", True), ("AgentBench shows that open models lag far behind.", True), ("which models lag behind the others here", False),
     ("Is AgentBench harder than GAIA for people", False), ("repo link for AgentBench", False), ("Tell me what AgentBench is good for", False), ("AgentBench has 8 environments, doesn't it?", False)],
)  # fmt: skip
def test_a_claim_asks_nothing(text: str, true: bool):
    assert asserts(text) is true
