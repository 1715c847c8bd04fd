"""Words to papers, by Tantivy: which papers hold the question's words, and how much of the question they cover.

Derived from the store; holds no text, only stemmed words. The score is not BM25 but coverage: the share of the question's
information (sum of inverse document frequencies of its words) that a paper holds, 0 to 1. A question whose words no paper
knows scores low everywhere, which dividing by the best score would hide. Imports Tantivy when first used.
"""

from __future__ import annotations

import math
import re
from functools import lru_cache
from pathlib import Path
from typing import Iterable, NamedTuple, Sequence

from .papers import Paper

ANALYZER = "en_stem; title, abstract, authors; 1"
"""Part of the manifest: an index made by another analyzer is rebuilt."""

MAX_TERMS = 200
"""Distinct words of a question that are looked up; a pasted abstract has fewer."""
_HEAP = 64_000_000
STOP_WORDS = frozenset(
    "a about all also am an and any are as at be because been being but by can could did do does doing done for from get gets"
    " give gives go had has have having he her here him his how i if in into is it its itself just let like made make makes"
    " many may me might more most much must my need no nor not of off on one only or other our out over own paper papers per"
    " please same she should show shows so some such tell than that the their them themselves then there these they thing"
    " things this those through to too under until up upon us use used uses using very want was we were what when where"
    " whether which while who whom whose why will with within would you your".split()
)


class Match(NamedTuple):
    """A paper's stamp and how much of the question it covers, 0 to 1."""

    stamp: str
    coverage: float


class Words:
    """An open word index. Reading only, and safe to share by threads; `write` makes and changes one."""

    def __init__(self, folder: Path):
        import tantivy

        self._tantivy = tantivy
        self._index = tantivy.Index.open(str(folder))
        self._index.config_reader("manual")
        self._index.reload()
        self._searcher = self._index.searcher()

    def __len__(self) -> int:
        return self._searcher.num_docs

    def search(self, question: str, limit: int, also: Sequence[str] = ()) -> list[Match]:
        """The `limit` papers that cover most of the question, best first; then those of the stamps `also` that cover any."""
        weights = {word: self.weight(word) for word in terms(question)[:MAX_TERMS]}
        known = {word: weight for word, weight in weights.items() if weight < self.weight_of_unknown}
        if not known:
            return []
        query, occur, schema = self._tantivy.Query, self._tantivy.Occur, self._index.schema
        asked = query.boolean_query(
            [(occur.Should, query.const_score_query(query.term_query(schema, "words", word), weight)) for word, weight in known.items()]
        )
        hits = list(self._searcher.search(asked, limit, count=False).hits)
        if also:
            among = query.const_score_query(query.term_set_query(schema, "stamp", list(also)), 0.0)
            both = query.boolean_query([(occur.Must, among), (occur.Must, asked)])
            hits += self._searcher.search(both, len(also), count=False).hits
        total = sum(weights.values())
        found = {self._searcher.doc(address)["stamp"][0]: score / total for score, address in hits}
        return [Match(stamp, coverage) for stamp, coverage in found.items()]

    def weight(self, word: str) -> float:
        """Inverse document frequency, Robertson and Spärck Jones's form with 1 added inside the logarithm, as in Lucene."""
        count = len(self)
        have = min(count, self._searcher.doc_freq("words", word))  # which still counts papers that were replaced
        return math.log(1 + (count - have + 0.5) / (have + 0.5))

    @property
    def weight_of_unknown(self) -> float:
        """The weight of a word that no paper holds: the highest there is."""
        return math.log(1 + (len(self) + 0.5) / 0.5)


def write(folder: Path, papers: Iterable[tuple[str, Paper]], without: Iterable[str] = ()) -> int:
    """Makes the index in an existing folder, or changes it: takes `without` (stamps) out, then puts the papers in (replacing
    those of the same stamp). Returns how many papers it then holds. On return everything is on the disk."""
    import tantivy

    index = tantivy.Index.open(str(folder)) if (folder / "meta.json").exists() else tantivy.Index(_schema(), str(folder))
    writer = index.writer(_HEAP, 1)
    for stamp in without:
        writer.delete_documents_by_term("stamp", stamp)
    for stamp, paper in papers:
        writer.delete_documents_by_term("stamp", stamp)
        document = tantivy.Document()
        document.add_text("stamp", stamp)
        document.add_text("words", searchable("\n".join((paper.title, paper.abstract, *paper.authors))))
        writer.add_document(document)
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    return index.searcher().num_docs


def terms(text: str) -> list[str]:
    """The distinct stemmed words of a question that carry meaning, in order; none for a question of nothing but "what is it"."""
    words = all_terms(text)
    stops = _stop_stems()
    return list(dict.fromkeys(word for word in words if word not in stops))


def all_terms(text: str) -> list[str]:
    """Every stemmed word of a text, in order, as the index holds them."""
    return list(_stems(text))


@lru_cache(maxsize=10_000)
def _stems(text: str) -> tuple[str, ...]:
    """An answer looks at the same few sentences many times over."""
    return tuple(_analyzer().analyze(searchable(text)))


_INVISIBLE = re.compile(
    "[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f\\u00ad\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u2064\\ufeff\\U000e0000-\\U000e007f]"
)


def searchable(text: str) -> str:
    """`text` without control, zero-width and hidden-tag characters, which would split words unseen."""
    return _INVISIBLE.sub("", text)


@lru_cache(maxsize=1)
def _analyzer():
    """The same steps as Tantivy's own "en_stem", which the index uses."""
    from tantivy import Filter, TextAnalyzerBuilder, Tokenizer

    builder = TextAnalyzerBuilder(Tokenizer.simple()).filter(Filter.remove_long(40)).filter(Filter.lowercase())
    return builder.filter(Filter.stemmer("english")).build()


@lru_cache(maxsize=1)
def _stop_stems() -> frozenset[str]:
    return frozenset(stem for word in STOP_WORDS for stem in _analyzer().analyze(word))


def _schema():
    from tantivy import SchemaBuilder

    builder = SchemaBuilder()
    builder.add_text_field("stamp", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("words", tokenizer_name="en_stem", index_option="freq")
    return builder.build()
