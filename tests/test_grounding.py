"""Does the abstract say this sentence: what is found wanting, and what is not."""

import re

import pytest

from rag.grounding import check, denies
from rag.papers import Paper

PAPER = Paper(
    id="p",
    title="FastNet: Quick Training of Small Networks",
    abstract=(
        "Training small networks is slow on edge devices. We propose FastNet, which prunes two thirds of the weights before"
        " training. FastNet reaches 92.5\\% accuracy on CIFAR-10 with 1,200 labelled images, while GPT-4 with plugins reaches 15\\%."
        " It trains $3.2\\times$ faster than ResNet-50 and does not require a teacher network. Throughput increases on a 24GB GPU"
        " with 7B parameters and twelve workers, but accuracy degrades after 10--20% sparsity. The method was tested in Zürich."
    ),
    authors=("Ada Byron", "Mary Shelley"),
    year=2024,
    venue="ICLR 2024",
)
OTHER = Paper(id="o", title="Cooking Rice", abstract="Rice is boiled in salted water for 12 minutes. Lids matter.")

SAID = [
    "FastNet reaches 92.5% accuracy on CIFAR-10 with 1200 labelled images.",
    "FastNet reaches an accuracy of 92.5 percent on CIFAR-10 with 1.2k labelled images.",
    "It prunes 2 thirds of the weights before training.",
    "FastNet is 3.2x faster to train than ResNet-50 and requires no teacher network.",
    "Accuracy degrades after 10% to 20% sparsity.",
    "Throughput increases on a 24 GB GPU with 12 workers.",
    "Byron and Shelley propose FastNet, which prunes weights before training (ICLR 2024).",
    "Training small networks is slow on edge devices.",
    "The method was tested in Zürich.",
]


@pytest.mark.parametrize("sentence", SAID)
def test_what_the_abstract_says_is_supported(sentence):
    assert check(sentence, [PAPER]).verdict == "supported", check(sentence, [PAPER])


@pytest.mark.parametrize("sentence", [s for s in SAID if re.search(r"\d", s)])
def test_no_number_can_be_changed(sentence):
    for number in re.finditer(r"(?<![\w-])\d+(?:\.\d+)?", sentence):
        if number[0] == "2024":
            continue
        changed = f"{sentence[: number.start()]}{float(number[0]) + 3:g}{sentence[number.end() :]}"
        assert check(changed, [PAPER]).verdict == "unsupported", changed


@pytest.mark.parametrize(
    ("sentence", "missing"),
    [
        ("FastNet reaches 92.5 accuracy points on CIFAR-10 with 1,200 labelled images.", "92.5"),
        ("FastNet reaches accuracy on CIFAR-10 with 1,200% labelled images.", "1,200%"),
        ("FastNet reaches 92.5% accuracy on CIFAR-100 with 1,200 labelled images.", "CIFAR-100"),
        ("SlowNet reaches 92.5% accuracy on CIFAR-10 with 1,200 labelled images.", "SlowNet"),
        ("The method was tested in Geneva.", "Geneva"),
        ("FastNet prunes weights before training on a 24 MB GPU.", "24 MB"),
        ("It trains 3.2x slower than ResNet-50 with no teacher network.", "slower"),
        ("It trains 3.2x faster than ResNet-50 and requires a teacher network.", "requir"),
        ("Throughput does not increase on a 24GB GPU with 7B parameters.", "increas"),
        ("Throughput decreases on a 24GB GPU with 7B parameters and twelve workers.", "decreases"),
    ],
)
def test_what_was_changed_is_named(sentence, missing):
    result = check(sentence, [PAPER])
    assert result.verdict == "unsupported" and missing in result.missing, result


@pytest.mark.parametrize(
    "sentence",
    [
        "The capital of France is Paris.",
        "Small networks consume less electricity and please customers in hot summers.",
        "Rice is boiled in salted water.",
    ],
)
def test_knowledge_from_elsewhere_is_unsupported(sentence):
    assert check(sentence, [PAPER]).verdict == "unsupported"
    assert check(sentence, [PAPER]).quotes == ()


def test_a_sentence_that_cites_nothing_is_unsupported():
    assert check("FastNet prunes weights before training.", []).verdict == "unsupported"


def test_a_sentence_without_a_word_to_check_is_unchecked():
    assert check("Yes, it is.", [PAPER]).verdict == "unchecked"


def test_a_citation_that_has_nothing_to_do_with_the_sentence_spoils_its_support():
    sentence = "FastNet prunes two thirds of the weights before training."
    assert check(sentence, [PAPER]).verdict == "supported"
    assert check(sentence, [PAPER, OTHER]).verdict == "unsupported"
    assert check(sentence, [OTHER]).verdict == "unsupported"


def test_a_sentence_over_two_papers_is_supported_by_both_together():
    result = check("FastNet prunes weights before training, while rice is boiled in salted water.", [PAPER, OTHER])
    assert result.verdict == "supported" and {index for index, _ in result.quotes} == {0, 1}


def test_words_gathered_from_all_over_an_abstract_are_no_support():
    assert check("Edge devices require labelled images with plugins and workers tested on sparsity.", [PAPER]).verdict == "unsupported"


def test_quotes_are_exact_spans_and_the_right_ones():
    for sentence, start in ((SAID[0], "FastNet reaches"), (SAID[3], "It trains"), (SAID[7], "Training small")):
        (_, quote), *_ = check(sentence, [PAPER]).quotes
        assert PAPER.abstract[quote.start : quote.end] == quote.text and quote.text.startswith(start)


def test_an_acronym_inside_another_word_does_not_count():
    assert "AI" in check("FastNet trains AI networks before training weights.", [PAPER]).missing


@pytest.mark.parametrize("abstract", ["", "   ", "…", "\0", "$$$", "[" * 5000])
def test_an_abstract_that_says_nothing_supports_nothing(abstract):
    assert check("FastNet prunes weights.", [Paper("e", "", abstract)]).verdict == "unsupported"


@pytest.mark.parametrize(
    "sentence",
    [
        "The abstracts do not say how long training took.",
        "The abstract doesn’t mention PyTorch.",
        "No information about cost is given.",
        "I don't know.",
        "The training time is not stated.",
        "None of the papers addresses this.",
    ],
)
def test_a_sentence_on_what_is_not_told_is_recognised(sentence):
    assert denies(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "It does not require a teacher network.",
        "Models cannot reason.",
        "FastNet mentions nothing new.",
        "The paper does not mention it, but Paris is the capital.",
    ],
)
def test_a_finding_with_a_negation_is_a_finding(sentence):
    assert not denies(sentence)
