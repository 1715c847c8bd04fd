"""Does the abstract say this sentence: what is found wanting, and what is not."""

import re
import time

import pytest

from rag.grounding import check, denies
from rag.papers import Paper
from rag.passages import sentences

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


SIDES = Paper(
    id="s",
    title="Pruning and Quantizing",
    abstract=(
        "We compare ways to shrink models. Quantization outperforms pruning on knowledge tasks. Users prefer quantization over pruning."
        " The large model loses 12% of accuracy, while the small model loses 30%. Recall and precision rise by 4.1% and 7.5%, respectively."
        " Weight decay forces neurons to generalize, whereas batch norm silences neurons that memorize. Pruning may hurt rare languages."
        " Performance on images improves by training on large amounts of text. SoftPrune is more accurate than HardPrune on fewer than"
        " 500 labels. It needs no retraining, and gives results that are better than or comparable to distillation. Code: vLLM.Release 2."
    ),
)


@pytest.mark.parametrize(
    "sentence",
    [
        "Quantization beats pruning on knowledge tasks.",
        "On knowledge tasks, pruning is outperformed by quantization.",
        "Users prefer quantization over pruning.",
        "Accuracy falls by 12% for the large model and by 30% for the small model.",
        "The small model loses 30 percent of accuracy and the large one 12 percent.",
        "Recall rises by 4.1% and precision by 7.5%.",
        "Batch norm silences memorizing neurons, whereas weight decay makes neurons generalize.",
        "Pruning might hurt rare languages.",
        "Training on large amounts of text improves performance on images.",
        "SoftPrune is more accurate than HardPrune with under 500 labels.",
        "SoftPrune does not need retraining.",
        "The results are better than or comparable to distillation.",
    ],
)
def test_what_is_said_in_another_order_is_supported(sentence):
    assert check(sentence, [SIDES]).verdict == "supported", check(sentence, [SIDES])


@pytest.mark.parametrize(
    "sentence",
    [
        "Pruning outperforms quantization on knowledge tasks.",
        "Quantization is outperformed by pruning on knowledge tasks.",
        "Users prefer pruning over quantization.",
        "The large model loses 30% of accuracy, while the small model loses 12%.",
        "Recall and precision rise by 7.5% and 4.1%, respectively.",
        "Precision rises by 4.1%.",
        "Batch norm forces neurons to generalize, whereas weight decay silences neurons that memorize.",
        "Performance on text improves by training on large amounts of images.",
        "HardPrune is more accurate than SoftPrune.",
        "SoftPrune is more accurate than HardPrune on more than 500 labels.",
    ],
)
def test_swapped_sides_are_unsupported(sentence):
    assert check(sentence, [SIDES]).verdict == "unsupported" and check(sentence, [SIDES]).missing, sentence


@pytest.mark.parametrize(
    ("sentence", "missing"),
    [
        ("Pruning hurts rare languages.", "may"),
        ("Pruning always hurts rare languages.", "always"),
        ("We prove that quantization outperforms pruning on knowledge tasks.", "prove"),
        ("The results are better than distillation.", "comparable"),
        ("Pruning may help rare languages.", "help"),
        ("Quantization does not outperform pruning on knowledge tasks.", "outperform"),
        ("SoftPrune needs retraining.", "retrain"),
    ],
)
def test_a_hedge_that_is_gone_and_a_claim_that_is_stronger_are_named(sentence, missing):
    result = check(sentence, [SIDES])
    assert result.verdict == "unsupported" and missing in result.missing, result


@pytest.mark.parametrize("paper", [PAPER, OTHER, SIDES])
def test_every_sentence_of_an_abstract_is_supported_by_it(paper):
    for start, end in sentences(paper.abstract):
        told = paper.abstract[start:end]
        assert check(told, [paper]).verdict == "supported", told
        assert [q.text for _, q in check(told.upper(), [paper]).quotes] == [told]
    assert check(paper.abstract, [paper]).verdict == "supported"


def test_part_of_a_sentence_is_not_taken_for_the_whole():
    assert check("It requires a teacher network.", [PAPER]).verdict == "unsupported"


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ("gains of $1\\%$--$8\\%$ a turn", "Gains are 1 to 8 percent a turn."), ("gains of 1.1p.p. in accuracy", "It gains 1.1 percentage points in accuracy."),
        ("over 20k configurations", "More than 20,000 configurations."), ("a quarter of the cost", "It has 25% of the cost."),
        ("twice the speed", "It has 2x the speed."), ("$\\mathbb{D}^2$ prunes graphs", "D² prunes graphs."), ("an AP$^{75}$ of 3", "The AP is 3."),
        ("a mean-square-error codec", "It has an MSE codec, a mean-square one."), ("generalisation behaviour analysed", "Analyzed generalization behavior."),
    ],
)  # fmt: skip
def test_another_way_of_writing_is_no_difference(told, said):
    paper = Paper("w", "", f"Before it stands a sentence on birds. It has {told}.")
    assert check(said, [paper]).verdict == "supported", check(said, [paper])


def test_a_verdict_is_quick_and_the_same_every_time():
    started = time.process_time()
    for _ in range(3):
        for sentence in SAID:
            assert check(f"{sentence} Indeed.", [PAPER, SIDES]) == check(f"{sentence} Indeed.", [PAPER, SIDES])
    assert (time.process_time() - started) / (6 * len(SAID)) < 0.02  # seconds; four times what it takes


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
