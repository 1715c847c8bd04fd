"""A question to hits: the right paper first, one hit a paper, scores that mean something, no question that breaks it."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from shared import SEEDS, WordEmbedder, made_up, opened, topic

from rag import Library, Paper, Settings
from rag.embedding import BundledEmbedder
from rag.errors import EmbeddingFailed
from rag.lexical import MAX_TERMS, searchable, terms

PARAPHRASES = {
    "making transformer networks smaller by cutting away parts of their weight matrices": "SliceGPT",
    "a collection of real conversations between users and chatbots": "1M",
    "choosing which pretrained network to adapt, and with which hyperparameters": "Quick-Tune",
}


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """300 papers of two lengths, of which none is found by chance."""
    with Library.open(tmp_path_factory.mktemp("many"), settings=Settings(), embedder=WordEmbedder(), seeds=False) as library:
        library.add(*(made_up(n, 2 + n % 2 * 4) for n in range(300)))
        yield library


@pytest.fixture(scope="module")
def seeded(tmp_path_factory):
    """Some of the seeds under the bundled model."""
    with Library.open(tmp_path_factory.mktemp("seeded"), settings=Settings(), embedder=BundledEmbedder()) as library:
        library.add(*sorted(SEEDS.glob("*.txt"))[:2])
        yield library


def test_every_paper_is_found_by_the_word_that_only_it_holds(many):
    assert all(many.search(topic(n), 1)[0].paper.id == f"made:{n}" for n in range(300))


def test_hits_come_best_first_one_a_paper_with_scores_between_0_and_1(many):
    hits = many.search(f"{topic(5)} graph policy", 50)
    assert len(hits) == 50 == len({hit.paper.id for hit in hits})
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert all(-1 <= hit.dense <= 1.001 and 0 <= hit.lexical <= 1.001 for hit in hits)


@pytest.mark.parametrize("limit", [1, 3, 30, 120, 300, 10**9])
def test_as_many_hits_come_as_were_asked_for_if_there_are_so_many_papers(many, limit):
    assert len(many.search("graph policy of a kernel", limit)) == min(limit, 300)


def test_a_papers_score_does_not_depend_on_how_many_are_asked_for(many):
    few, all_of_them = many.search("graph policy of a kernel", 5), many.search("graph policy of a kernel", 300)
    scores = {hit.paper.id: hit.score for hit in all_of_them}
    assert all(abs(scores[hit.paper.id] - hit.score) < 1e-6 for hit in few)


def test_the_same_question_gives_the_same_hits(many):
    one, other = (many.search("a robot in a market", 20) for _ in range(2))
    assert [(hit.paper.id, hit.score) for hit in one] == [(hit.paper.id, hit.score) for hit in other]


def test_the_best_passage_comes_first_and_the_whole_abstract_counts_only_where_it_is_the_only_one(library, embedder):
    parts = ["Cats purr here. Cats sleep here. Cats eat here.", "Dogs bark there. Dogs run there. Dogs dig there."]
    library.add(Paper("pets", "Pets", " ".join(parts)), Paper("cat", "Cat", "Cats purr here."))
    long, short = sorted(library.search("dogs bark run dig there"), key=lambda hit: hit.paper.id, reverse=True)
    assert long.passages[0].text == parts[1] and long.paper.abstract not in [p.text for p in long.passages]
    assert [p.text for p in short.passages] == ["Cats purr here."]


@pytest.mark.parametrize("question", ["", " \n\t", "\u00a0"])
def test_a_blank_question_finds_nothing(many, question):
    assert many.search(question) == [] and many.search("graph", 0) == []


@pytest.mark.parametrize(
    "question",
    [
        "?",
        "!!! ---",
        "😀😀",
        "the of and is",
        "\x00\u200b",
        "\ud800 half",
        'AND OR NOT ( " * : ^ ~ [',
        'title:graph +"',
        "graph\u200b\x00 policy",
        "[" * 50_000,
        "word " * 2000,
        "א ב ג",
        "a" * 10_000,
    ],
)
def test_no_question_breaks_the_search_or_has_the_index_built_again(many, question):
    before = many.index.current()
    assert len(many.search(question, 5)) == 5
    assert many.index.current() is before


def test_an_embedder_that_fails_is_no_reason_to_rebuild_the_index(library, embedder, monkeypatch):
    library.add(made_up(1))
    before = library.index.current()
    with monkeypatch.context() as patch:
        patch.setattr(embedder, "embed", lambda texts: 1 / 0)
        with pytest.raises(EmbeddingFailed, match="words could not embed the question"):
            library.search("graph")
    assert library.index.current() is before and library.search(topic(1))


def test_an_index_that_fails_while_searching_is_rebuilt_and_the_question_answered(library, monkeypatch):
    library.add(made_up(1), made_up(2))
    broken = library.index.current()
    monkeypatch.setattr(broken, "vectors", None)
    assert library.search(topic(2))[0].paper.id == "made:2" and library.index.current() is not broken


def test_words_are_weighed_by_how_rare_they_are(many):
    rarity = many.rarity(terms(f"{topic(3)} studies nonesuch"))
    assert 1 > rarity[terms(topic(3))[0]] > 3 * rarity[terms("studies")[0]] > 0 and rarity[terms("nonesuch")[0]] == 1


def test_weights_stay_positive_when_papers_are_changed_again_and_again(library):
    library.add(*(made_up(n) for n in range(20)))
    for round_ in range(4):
        library.add(*(Paper(f"made:{n}", "Changed", f"Zebras graze. {made_up(n).abstract} Version {round_}.") for n in range(12)))
    assert all(0 < rarity <= 1 for rarity in library.rarity(terms("zebras graze version changed sentence")).values())
    assert all(0 <= hit.lexical <= 1.001 for hit in library.search("zebras graze", 20))
    assert library.search(f"zebras {topic(4)}", 1)[0].paper.id == "made:4"


def test_coverage_counts_the_words_that_no_paper_holds(many):
    whole, half = many.search(topic(3))[0], many.search(f"{topic(3)} nonesuchword")[0]
    assert whole.lexical > 0.99 and 0.3 < half.lexical < 0.7


def test_terms_are_stemmed_distinct_and_without_stop_words():
    assert terms("Which papers are about learning, learned and LEARNS?") == ["learn"]
    assert terms("what is it") == [] == terms("a") == terms("") and searchable("a\u200bb\x00c\u00add") == "abcd"
    assert MAX_TERMS < len(terms(" ".join(f"word{n}" for n in range(1000))))


def test_an_exact_name_and_a_paraphrase_both_find_their_paper_under_the_bundled_model(seeded):
    for question, title in PARAPHRASES.items():
        assert title in seeded.search(question, 1)[0].paper.title, question
    for name in ("AgentBench", "Safe Collaborative Filtering", "Kiyohara"):
        top = seeded.search(name, 1)[0].paper
        assert name in f"{top.title} {top.abstract} {' '.join(top.authors)}"


def test_every_seed_paper_is_found_by_its_title_under_the_bundled_model(seeded):
    assert [p.title for p in seeded.papers() if seeded.search(p.title, 1)[0].paper != p] == []


def test_chroma_finds_the_passages_that_exact_search_finds(base):
    with opened(base) as library:
        generation = library.index.current()
        block = library.store.vectors(list(library.store.stamps().values()), "words")
        rows = [first + n for first, count in zip(block.edges, block.passages) for n in range(count)]
        shared = []
        for vector in np.random.default_rng(1).standard_normal((20, 32)).astype(np.float32):
            exact = np.sort(block.matrix[rows] @ (vector / np.linalg.norm(vector)))[-10:]
            shared.append(sum(n.cosine > exact[0] - 1e-3 for n in generation.vectors.search(vector, 10)) / 10)
    assert np.mean(shared) > 0.98


def test_a_paper_removed_while_it_is_being_found_is_passed_over(library, monkeypatch):
    library.add(*(made_up(n) for n in range(10)))
    before, by_stamp = library.index.current(), library.store.by_stamp

    def racing(stamps):
        found = by_stamp(stamps)
        library.store.remove(["made:3"])
        return found

    monkeypatch.setattr(library.store, "by_stamp", racing)
    assert sorted(hit.paper.id for hit in library.search(topic(3), 10)) == [f"made:{n}" for n in range(10) if n != 3]
    assert library.index._generation is before  # nothing was wrong with it


def test_fifty_searches_never_fail_while_another_thread_adds_and_removes(open_library):
    notices: list[str] = []
    library = open_library(notice=notices.append)
    library.add(*(made_up(n) for n in range(20)))
    wrong: list[object] = []
    done, asked = threading.Event(), [0, 0]

    def search(reader: int) -> None:
        while not done.is_set() or asked[reader] < 50:
            number = asked[reader] % 20
            asked[reader] += 1
            try:
                hits = library.search(topic(number))
                if not hits or hits[0].paper.id != f"made:{number}":
                    wrong.append(hits)
            except BaseException as error:
                wrong.append(error)

    readers = [threading.Thread(target=search, args=(reader,)) for reader in range(2)]
    for reader in readers:
        reader.start()
    for number in range(100, 105):
        library.add(made_up(number))
        if number % 2:
            library.remove(f"made:{number}")
    done.set()
    for reader in readers:
        reader.join()
    assert wrong == notices == [] and min(asked) >= 50 and len(library) == 23
