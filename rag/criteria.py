"""What a "which papers", "list" or "how many" question asks of each paper.

Pure rules over the words of the question; looks at no paper. A literal criterion (mentions a word, gives a link, is from a year) is
decided by `matching`, exactly; a topical one (is about a subject) only gets its words cleaned here, and is judged by `listing`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from .lexical import STOP_WORDS
from .questions import NOUNS_FOR_PAPERS as _PAPERS

LINK, GITHUB, PERCENT, PAGE = "link", "github", "percent", "page"
_ASKS_FEATURE = {
    PAGE: re.compile(r"\bproject (?:web)?(?:page|site)s?\b|\bgithub\.io\b|\bwebsites?\b(?=.{0,60}\b(?:instead of|not|rather than|no)\b.{0,30}\b(?:git|repo|code))", re.IGNORECASE),
    GITHUB: re.compile(r"\bgithub\b", re.IGNORECASE),
    LINK: re.compile(r"\b(?:links?|urls?|web ?(?:page|site|address|link)s?|home ?pages?|repo(?:s|sitory|sitories)?)\b", re.IGNORECASE),
    PERCENT: re.compile(r"\bpercent(?:age|ages)?\b|(?<!\d)%(?!\d)", re.IGNORECASE),
}
_GIVES = re.compile(r"\b(?:giv\w*|ha(?:s|ve|ving)|with|contain\w*|includ\w*|provid\w*|point\w* (?:to|at)|offer\w*|stat\w*|link\w*|report\w*|carry|come with|mention\w*|quot\w*|collecting|releas\w*|shar\w*|publish\w*|open-?sourc\w*|host\w*|put)\b", re.IGNORECASE)
_SAYS = re.compile(
    r"\b(?:mention(?:s|ing)?|nam(?:es?|ing)(?! (?:them|all|the papers|everything|every|me|those|each|the ones))|contain(?:s|ing)?|"
    r"(?:us(?:e|es|ing)|with|has|have|hold|say|says|contain|contains|includes?|having|saying|write|carry)(?: literally)? (?:the|a) (?:exact )?(?:words?|terms?|phrases?|names?|strings?|expressions?)|"
    r"(?:the|a) (?:words?|terms?|phrases?|strings?|expressions?)|bring(?:s|ing)? up|refer(?:s|ring)? to|spell(?:s|ing)? out|"
    r"literally (?:say|says|use|uses|contain|write)|(?:explicitly )?cit(?:e|es|ing)|say(?:s|ing)? (?:something |anything )?about|talk(?:s|ing)? (?:about|of)|speak(?:s|ing)? of|call(?:s|ed)? (?:something|\w+)(?: of theirs)?(?= [\"“])|quot(?:e|es|ing))\b",
    re.IGNORECASE,
)
_IS_SAID = re.compile(
    r"\b(?:(?:is|are|was|were|get|gets) (?:ever |explicitly )?(?:mentioned|named|cited|brought up|referred to|used|found)|mentioned|by name|(?:turn|crop|come|show)(?:s|ing)? up|appear(?:s|ing)?|occur(?:s|ring)?|"
    r"named(?= in| by)|used(?= in| by|[?.]|$)|found(?= in|[?.]|$)|occurs?|in it|mentions? it|names? it|literally|verbatim|word for word)\b",
    re.IGNORECASE,
)
_IN_TEXT = re.compile(
    r"\b(?:in (?:the|any|an|whose|which|their|its|what) (?:abstracts?|text|wording)|in any abstracts?|with .{2,40} in it|(?:which|whose|what|the|any|all|how many|every) abstracts? (?:says?|writes?|has|have|reads?)|(?:abstracts?|papers?|who) (?:that |which )?(?:says?|writes?)|(?:titles?|abstracts?) (?:that |which )?(?:start|begin|open)(?:s|ing)? with|"
    r"mentions of|mentions,? but|which of these words)\b",
    re.IGNORECASE,
)
_WITHOUT = re.compile(
    r",?\s*(?:\bbut\b )?(?:\bwithout\b|\bleav(?:e|ing) out\b|\bexcluding\b|\bexcept\b|\bthat (?:do|does)(?:n['’]t| not)\b|\bbut not\b|\band not\b|\bminus\b|\bnot counting\b|\bskip(?:ping)?\b)", re.IGNORECASE
)
_LOOSE = re.compile(r"(?:say(?:s|ing)? (?:something |anything )?about|talk(?:s|ing)? (?:about|of)|speak(?:s|ing)? of|(?:explicitly )?cit(?:e|es|ing)|show(?:s|ing)? up|appear(?:s|ing)?|us(?:e|es|ing))", re.IGNORECASE)
_STOP = re.compile(r"[?!;:]|\.(?:\s|$)|\s[–—-]\s|,(?= (?:please|pls|using|and (?:how|which|what|give|list)|i |in (?:the|any|their) ))", re.IGNORECASE)
_OR = re.compile(r"\s*,\s*(?:or |and |nor )?|\s*/\s*|\s+(?:(?:and/)?or(?: at least)?|nor)\s+", re.IGNORECASE)
_AND = re.compile(_OR.pattern + r"|\s+and\s+", re.IGNORECASE)
_ANY_OF = re.compile(r"\b(?:one|any|either) of (?:them|these|those|the)\b|\beither\b", re.IGNORECASE)
_QUOTED = re.compile(r"[\"“”«»]([^\"“”«»]{2,80})[\"“”«»]|(?<!\w)['‘’]([^'‘’]{2,80})['‘’](?!\w)")
_NAMED = re.compile(r"(?<![\w-])(?:[A-Z]{2,}[\w+.-]*\w|[A-Z]?[a-z]+[A-Z][\w-]*|[A-Za-z][\w]*-?\d[\w.-]*|[A-Z][a-z]+(?: [A-Z][a-z]+)+)(?![\w-])")
_NEGATED = re.compile(r"\b(?:not|n['’]t|never|without|no)\b(?= (?:\w+ ){0,2}(?:mention|nam|contain|giv|us|refer|say|cit|a |any |link|github|stat|provid|includ))|\bneither\b", re.IGNORECASE)
_NOT_ABOUT = re.compile(r"\b(?:not|aren['’]t|isn['’]t|nothing|unrelated) (?:about|on|concerned|related|deal\w*|to do|to)\b", re.IGNORECASE)
_OF_TITLES = re.compile(r"\btitles?\b(?!,? (?:or|and|nor) )(?<!or title)(?<!or titles)(?<!and titles)", re.IGNORECASE)
_OPENS = re.compile(r"\b(?:start|begin|open)(?:s|ing)? (?:with|by)\b", re.IGNORECASE)
_INSIDE = re.compile(r"\b(?:somewhere|anywhere) in\b|\bin (?:it|them) somewhere\b|\bas (?:a )?part of\b|\bparts? of (?:a )?words?\b", re.IGNORECASE)
_YEAR = re.compile(
    r"\b(?:published )?(from|in|of|since|before|after|until)(?: the)?(?: year)? ((?:19|20)\d\d)\b(?: (?:or|and) (later|newer|after|onwards?|earlier|older|before)\b)?", re.IGNORECASE
)
_PAPERS_OF_YEAR = re.compile(rf"(\b{_PAPERS}(?: (?:that )?(?:were |are )?(?:dated|written|appeared))?) {_YEAR.pattern}", re.IGNORECASE)
_PERSON = r"((?:[A-ZÀ-Ž][\w’'.-]*)(?: (?:[A-ZÀ-Ž][\w’'.-]*|van|von|de|der|den|di|la|le|el|bin))*)"
_AUTHORS = tuple(
    re.compile(before + _PERSON + after)
    for before, after in (
        (r"\b(?i:(?:co-?)?(?:written|authored|published|papers?|works?|articles?|anything|something|everything|stuff|abstracts?)(?: here| in here)?(?: (?:is|are|was|were))? by) ", ""),
        (r"\b(?i:(?:(?:what|which|how many)\b.{0,40}\b)?(?:did|has|have|does|do)) ", r" (?i:\w* ?(?:writ(?:e|ten)|author(?:ed)?|publish(?:ed)?|co-?author(?:ed)?|contribut\w+)\b)"),
        (r"\b(?i:authors? (?:is|are|named|called|include|includes)|(?:whose|with the) (?:last |first |family |sur)?name(?: is)?|author whose (?:last |first |family |sur)?name is) ", ""),
        (r"\b(?i:(?:with|have|has|list|lists|listing|includ\w+)) ", r" (?i:as (?:an? |the |one of the )?(?:\w+ )?(?:co-?)?authors?|among (?:the|its|their) authors)"),
        (r"\b(?i:is|are) ", r" (?i:an? (?:co-?)?authors? (?:of|on|in))"),
    )
)
_FILLER = re.compile(
    rf"please|pls|plz|thanks?|tells?|list|enumerate|name|them|those|these|show|give|find|tell|get|collect|i|we|me|us|my|our|you|your|which|what|who|where|how|many|just|curious|all|every(?:thing)?|each|"
    rf"any(?:thing|where|one)?|some|of|the|here|there|a|an|single|{_PAPERS}|collection|library|do|does|did|is|are|was|were|be|been|have|has|had|can|could|would|will|that|this|it|its|their|they|whose|in|to|on|about|for|with|at|"
    rf"as|by|from|into|and|or|so|also|like|want|see|need|least|words?|terms?|phrases?|strings?|names?|mention(?:s|ed)?|only|not|don['’]t|doesn['’]t|using|use|say|something|literally|text|title|once|somewhere|report|number|"
    rf"authors?|people|someone|anyone|ever|explicitly|exact|write|writes?|writing|whom|whose|lists?|all|two|one|ones|such|done|going|included|including|says|please|again|too|opens?|starts?|terms?|know|interested|be|i'd|i’d|i'm|these|bring|up|refer|refers|come|comes|more|than|both|either|neither|abstract's",
    re.IGNORECASE,
)
_ASIDE = re.compile(r",? (?:either (?:as|in|on)|(?<=, )whatever|(?<=, )whichever|whether|for example|for instance|e\.g\.|i\.e\.|as an? \w+|no matter|regardless)\b.*", re.IGNORECASE)
_TOPICAL_FILLER = re.compile(
    rf"(?<![\w-])(?:please|pls|plz|list|enumerate|name|them|show|give|find|tell|get|me|us|which|what|how|many|all|every|any|anyone|each|of|the|these|those|here|there|{_PAPERS}|do|does|did|we|you|have|got|what's|that|who|are|is|in|to|on|about|"
    rf"a|an|i|i'd|i'm|as|like|want|need|would|could|for|with|whatever|purpose|relevant|recent|several|one|ones|their|its|it|apply|anything|concerned|deal(?:s|ing)?|look(?:s|ing)? into|looking|surveying|into|main|core|central|topic|"
    rf"subject|problem|whose)(?![\w-])",
    re.IGNORECASE,
)


_CONTRIBUTION_WORDS = re.compile(
    r"\b(?:introduc\w*|present\w*|propos\w*|releas\w*|develop\w*|construct\w*|provid\w*|build\w*|built|collect\w*|creat\w*|open-?sourc\w*|contribut\w*|offer\w*|publish\w*|new|novel|own|come|came|ship\w*|make|made|"
    r"benchmark\w*|test|sets?|suites?|beds?|data|datasets?|corpus|corpora|metrics?|measures?|evaluation|librar(?:y|ies)|packages?|toolkits?|software|tools?|prove\w*|proofs?|theorems?|theory|theoretical|guarantees?|bounds?|surveys?|reviews?)\b",
    re.IGNORECASE,
)


_OF_A_KIND = re.compile(rf"(?:^|[.?!:] |\b(?:which|what|all|any|the|list|show|many|give|me|of) )((?:[\w-]+ ){{1,3}})(?:papers|works|abstracts|articles|studies)\b", re.IGNORECASE)
_ON_NAME = re.compile(
    r"\b(?:us(?:e|es|ed|ing)|run(?:s|ning)?|ran|work(?:s|ing)? with|with|ha(?:s|ve)|(?:results?|anything|something|numbers?|experiments?|scores?|evaluat\w+|test(?:s|ed|ing)?|train(?:s|ed|ing)?|report(?:s|ed|ing)?)(?: (?:anything|something|results?))? (?:on|for|with|about)) (?:an? |the )?"
    r"((?-i:[A-Z]{2,}[\w+.-]*|[A-Za-z]*[a-z][A-Z][\w.+-]*|[A-Z][a-z]*[\w-]*\d[\w.+-]*|\d+(?:\.\d+)?[BM]|Llama))(?: ?/ ?[\w-]+)?(?: (?:models?|data(?: ?sets?)?|benchmarks?|experiments?|results?|backbones?))*(?: (?:in|as) (?:them|it|their \w+|the \w+|here))*(?: in here| here)?\W*(?:$|\?|\.|,? (?:please|pls)|\b(?:give|show|list|all)\b)",
    re.IGNORECASE,
)
"""A name that papers use or report on: who does writes it."""


@dataclass(frozen=True)
class Criterion:
    """`kind`: "mention" (a phrase or a feature in title or abstract), "record" (authors, year), "all", or "topic"; `years` (first and
    last) are asked of all kinds. `shown`: the criterion in words, for the answer. `text`: what to search for, if topical. `bare`: a kind of
    contribution is asked for and no subject ("introduce a data set"). `every`: all of the phrases are to be there, not any. `loose`: a phrase that is neither quoted nor a name, so that its
    subject may be meant. `title_only`, `opens`, `inside`: a phrase is to be in the title, at the very beginning, or may be a part of a word."""

    kind: str
    shown: str = ""
    text: str = ""
    phrases: tuple[str, ...] = ()
    feature: str = ""
    negated: bool = False
    author: str = ""
    years: tuple[int, int] = (0, 9999)
    abstract_only: bool = False
    bare: bool = False
    unwanted: tuple[str, ...] = ()
    loose: bool = False
    every: bool = False
    title_only: bool = False
    opens: bool = False
    inside: bool = False


def criterion(question: str) -> Criterion:
    """What `question`, which asks for a list, asks of each paper."""
    record = _record(question)
    if record:
        return record
    of_year = _PAPERS_OF_YEAR.search(question)
    if of_year:
        rest = criterion(f"{question[: of_year.start()]}{of_year[1]}{question[of_year.end() :]}")
        year = _YEAR.search(question, of_year.end(1))
        return replace(rest, kind="record" if rest.kind == "all" else rest.kind, shown=", ".join(filter(None, (rest.shown, year[0]))), years=_years(year))
    abstract_only = bool(re.search(r"\babstracts?\b", question, re.IGNORECASE))
    negated = bool(_NEGATED.search(question))
    unwanted: tuple[str, ...] = ()
    parted = None if negated and not re.search(r"\b(?:but|without|leave|leaving|exclud|except)", question, re.IGNORECASE) else _WITHOUT.search(question)
    if parted and parted.start() > 12:
        unwanted = _phrases(f"abstracts that mention {_trimmed(question[parted.end():])}")
        if unwanted:
            question, negated = question[: parted.start()], False
    for feature, pattern in _ASKS_FEATURE.items():
        match = pattern.search(question)
        if match and _GIVES.search(question[: match.start()]) or match and feature != LINK and (_SAYS.search(question) or _IS_SAID.search(question)):
            negated = negated and feature != PAGE  # "not the code repos" tells a page from them
            given = Criterion("mention", _FEATURE_SHOWN[feature].replace("a ", "no ", 1) if negated else _FEATURE_SHOWN[feature], feature=feature, negated=negated, abstract_only=True)
            kind = _OF_A_KIND.search(question)
            text = _trimmed(kind[1]) if kind else ""
            return replace(given, kind="topic", shown=f"{text}, with {given.shown}", text=text) if text else given
    used = _ON_NAME.search(question)
    phrases = _with_kin(_phrases(question), question) or ((used[1].rstrip("."),) if used and used[1] not in _MUCH_USED else ())
    if phrases:
        shown = " or ".join(f"“{phrase}”" for phrase in phrases)
        joined = _joined(phrases, question)
        every, phrases = bool(joined), joined or phrases
        shown = f" {'and' if every else 'or'} ".join(f"“{phrase}”" for phrase in phrases)
        loose = not _QUOTED.search(question) and all(" " in phrase and (not _NAMED.search(phrase) or phrase.count(" ") > 1) for phrase in phrases)
        shown += f" but not {' or '.join(f'“{phrase}”' for phrase in unwanted)}" if unwanted else ""
        titles = not abstract_only and bool(_OF_TITLES.search(question))
        opens, inside = bool(_OPENS.search(question)), bool(_INSIDE.search(question))
        if titles or opens:
            shown += (" at the beginning of the title" if titles else " at the beginning") if opens else " in the title"
        return Criterion("mention", shown, phrases=phrases, negated=negated, abstract_only=abstract_only or opens and not titles, title_only=titles, opens=opens, inside=inside, unwanted=unwanted, loose=loose, every=every, text=_subject(question))
    if _NOT_ABOUT.search(question):
        return Criterion("unlike", _subject(question))
    bare = not re.findall(r"\w{3,}", _TOPICAL_FILLER.sub(" ", _CONTRIBUTION_WORDS.sub(" ", question)))
    text = _subject(question)
    return Criterion("topic", _in_words(question) or text, text=text, bare=bare) if text else Criterion("all")


_MUCH_USED = {"LLM", "LLMs", "RL", "AI", "ML", "NLP", "GNN", "GNNs", "VLM", "VLMs"}
"""Fields, rather than names of things: a paper about one need not be the one that writes the word."""


def _subject(question: str) -> str:
    return " ".join(_TOPICAL_FILLER.sub(" ", re.sub(r"[?!:;–]+|[.,](?!\w)", " ", question)).split())


def _in_words(question: str) -> str:
    """The criterion as it was put: the question without the words at its ends that only ask."""
    words = re.sub(r"\s*\([^()]*\)|,? (?:i\.e|e\.g)\.?$|\s*[:,–-]\s*(?:and )?(?:what|which|who|how)\b.{0,60}$", "", re.split(r"(?<=\w)[?!.]+(?:\s|$)", question.strip())[0]).split()
    ends = (lambda word: _TOPICAL_FILLER.fullmatch(word) or _ASKS_ALONE.fullmatch(word))
    while words and ends(words[0].strip(",.:;?!'’\"()-")):
        words.pop(0)
    while words and ends(words[-1].strip(",.:;?!'’\"()-")):
        words.pop()
    return " ".join(words).strip(" ,.:;?!-–") if len(words) <= _SHOWN_WORDS else ""


_SHOWN_WORDS = 14
_ASKS_ALONE = re.compile(
    r"(?:hey|hi|ok|work|research|stuff|literature|anybody|anyone|somebody|someone|everything|something|talk(?:s|ing)?|say(?:s|ing)?|speak(?:s|ing)?|doing|done|been|be|should|can|got|what['’]s|whats|who['’]s|whos|which|ones?|where|results?|no|some|and|or|so|this|pile|set|"
    r"in|i|need|looking|at|from|by|use[sd]?|using|work(?:s|ing)?|deals?|please|authors?|people|treat|it|etc|now|by|[–-]|)", re.IGNORECASE
)
_FEATURE_SHOWN = {PAGE: "a page of their own", LINK: "a web link", GITHUB: "a GitHub link", PERCENT: "a percentage"}


def _record(question: str) -> Criterion | None:
    author = next((match for pattern in _AUTHORS if (match := pattern.search(question))), None)
    year = _YEAR.search(question)
    rest = " ".join(word for word in _YEAR.sub(" ", question).split() if not _FILLER.fullmatch(word.strip("?!.,;:")))
    years = _years(year) if year else (0, 9999)
    if author:
        return Criterion("record", f"by {author[1]}", author=author[1].rstrip("."), years=years)
    if year and not re.findall(r"\w{3,}", re.sub(r"\b(?:published|dated|year|years|came|appeared)\b|(?:19|20)\d\d", " ", rest, flags=re.IGNORECASE)):
        return Criterion("record", year[0], years=years)
    return None


def _years(match: re.Match[str]) -> tuple[int, int]:
    at, word, further = int(match[2]), match[1].lower(), (match[3] or "").lower()
    if further:
        return (0, at) if further in ("earlier", "older", "before") else (at, 9999)
    return {"since": (at, 9999), "after": (at + 1, 9999), "before": (0, at - 1), "until": (0, at)}.get(word, (at, at))


def _phrases(question: str) -> tuple[str, ...]:
    """The phrases that are to be mentioned, or none if nothing says that mentioning is meant."""
    plain = _ASIDE.sub("", re.sub(r"(?<=\w)\((?:s|d|es|ed|ing)\)", "", question))
    plain = re.sub(r"\([^)]*\)", " ", plain)
    cue = _SAYS.search(plain) or _IS_SAID.search(plain)
    quoted = [part for pair in _QUOTED.findall(plain) for q in pair if q for part in re.split(r"\s*/\s*", q)]
    if quoted:
        more = [*re.findall(r"\b([\w-]{4,}) \(?or [\"“]", question), *re.findall(r"[\"”],? \(?or (?:write |say |with |the word )*([\w-]{4,})", question)]
        return tuple(dict.fromkeys([*(q.strip(" .?!,:;") for q in quoted), *(word for word in more if not _FILLER.fullmatch(word))]))[:8]
    opening = re.search(r"\b(?:start|begin|open)(?:s|ing)? with the words? ([\w'’ -]{1,40})", plain, re.IGNORECASE)
    if opening:
        return (opening[1].strip(),)
    if not cue:
        inside = _IN_TEXT.search(plain)
        if not inside:
            return ()
        first = _STOP.split(plain)[0]
        segment = first if inside.start() < len(first) else _STOP.split(plain[inside.start() :])[0] if re.search(r"\bwords?\b", plain) else plain
        return _distinct([_trimmed(part) for part in _OR.split(_IN_TEXT.sub(" , ", segment))], 4)
    before, after = _STOP.split(plain[: cue.start()])[-1], _STOP.split(plain[cue.end() :])[0]
    for side in [*((after, before) if cue.re is _SAYS else (before, after)), *_STOP.split(plain)]:
        phrases = _distinct([_trimmed(part) for part in (_AND if _ANY_OF.search(plain) else _OR).split(_IS_SAID.split(side)[0])])
        if phrases:
            break
    if _LOOSE.fullmatch(cue[0]) and not re.search(r"\babstracts\b|\bwords?\b|\bterms?\b", question, re.IGNORECASE) and not any(_NAMED.search(p) for p in phrases):
        return ()  # papers that talk about fairness are about it; they need not use the word
    return phrases


def _joined(phrases: tuple[str, ...], question: str) -> tuple[str, ...]:
    """The phrases of "both A and B", each of which is to be there; none if that is not asked."""
    if len(phrases) != 1 or _QUOTED.search(question) or _ANY_OF.search(question):
        return ()
    parts = [re.sub(r"^(?:also|both) ", "", part.strip()) for part in re.split(r"\s+and\s+(?:also\s+)?|\s*&\s*", phrases[0])]
    return tuple(parts) if len(parts) > 1 and all(re.search(r"\w\w", part) for part in parts) else ()


def _trimmed(part: str) -> str:
    """A part of a question without the words that ask, at both its ends."""
    words = part.strip(" .?!,:;'\"()-").split()
    while words and _FILLER.fullmatch(words[0].strip(",.:;?!'’\"")):
        words.pop(0)
    while words and _FILLER.fullmatch(words[-1].strip(",.:;?!'’\"")):
        words.pop()
    return " ".join(words)


def _distinct(phrases: list[str], words: int = 6) -> tuple[str, ...]:
    kept = dict.fromkeys(phrase.strip(" .?!,:;*'’") for phrase in phrases if any(len(word) > 1 and word.lower() not in STOP_WORDS for word in re.findall(r"\w+", phrase)))
    return tuple(kept)[:8] if all(len(phrase.split()) <= words for phrase in kept) else ()


def _with_kin(phrases: tuple[str, ...], question: str) -> tuple[str, ...]:
    """The phrases, and the other forms of their words that the question spells out: "neglect, neglects or neglecting"."""
    words = re.findall(r"[^\W\d_]{5,}", question)
    kin = [word for phrase in phrases if phrase.isalpha() and phrase.islower() and len(phrase) > 4 for word in words if word.islower() and word[: max(5, len(phrase) - 3)] == phrase[: max(5, len(phrase) - 3)]]
    return tuple(dict.fromkeys([*phrases, *kin])) if phrases else ()
