"""What a sentence turns round or tightens: negations, opposites, hedges that are gone, claims that are stronger than the source's.

Pure. Compares words near each other, no meanings; in doubt it says that something was changed.
"""

from __future__ import annotations

from typing import Sequence

from .wording import Token, roots

Words = Sequence[Token]

NEGATION = frozenset("not no never without neither nor lack lacks lacking fail fails failed unable hardly barely".split())
_AVOIDS = frozenset("eliminates eliminate eliminating avoids avoid avoiding removes remove obviates obviate unnecessary unlike".split())
"""Words that deny in another way: what stands near them counts as denied only if the other text says so too."""
_REACH = 4
"""Words around a negation that it may have to do with. It denies the first word of content behind it."""
_LIGHT = frozenset("necessarily fully really always even longer much very any well significantly need needs have has require requires required".split())
"""Words behind a negation that are not themselves what is denied."""
_OPPOSITES = [
    (roots(one), roots(other))
    for one, other in (
        (
            "increase increasing raise grow magnify amplify boost rise expand",
            "decrease reduce reduction lower shrink diminish mitigate alleviate fall drop cut",
        ),
        ("improve improvement enhance benefit help aid", "degrade degradation worsen hurt harm impair hinder hamper deteriorate compromise"),
        ("outperform surpass exceed beat", "underperform trail"),
        ("higher larger greater bigger high large", "lower smaller fewer low small limited minimal"),
        ("better superior", "worse inferior"),
        ("more", "less fewer"),
        ("faster fast quick quickly rapid rapidly", "slower slow slowly"),
        ("strong stronger strongly", "weak weaker weakly"),
        ("positive positively", "negative negatively"),
        ("best highest largest most", "worst lowest smallest least"),
        ("before", "after"),
        ("robust resilient", "vulnerable brittle fragile"),
        ("same identical", "distinct different differ"),
        ("restore preserve keep maintain retain", "break destroy lose violate modify"),
        ("easy easier easily simple", "difficult hard harder challenging"),
        ("rich abundant ample plentiful extensive", "limited scarce poor sparse little"),
        ("well good", "poorly poor bad badly"),
        ("succeed successful", "fail failure"),
        ("early earlier", "late later"),
        ("always", "rarely seldom"),
        ("include with", "exclude"),
        ("overestimate", "underestimate"),
        ("accept allow enable", "reject prevent forbid prohibit"),
        ("public open", "private closed"),
        ("rise soar", "plummet"),
        ("cheap inexpensive", "expensive costly"),
        ("short shorter", "long longer"),
        ("safe", "dangerous unsafe"),
        ("separate", "joint jointly"),
    )
]
_UP = roots(
    "increase raise grow rise amplify magnify boost expand enhance improve improvement promote encourage induce activate elevate strengthen facilitate"
    " stimulate accelerate help aid benefit gain higher larger greater better superior outperform surpass exceed faster stronger upregulate heighten"
    " worsen exacerbate aggravate advance foster evoke trigger"
)
_DOWN = roots(
    "decrease reduce reduction lower shrink diminish drop decline fall inhibit suppress prevent block impair degrade degradation attenuate dampen hinder"
    " hamper impede limit weaken mitigate alleviate lessen slow slower delay deactivate inactivate abolish worse smaller downregulate curb"
    " harm hurt damage protect resist halt disrupt eliminate remove avoid cut save relieve ameliorate restrict deplete lose loss compromise sacrifice undermine erode"
)
"""What makes more of a thing, and what makes less of it."""
_BOUND = 4
"""Words that a direction may have to do with: those behind it, or those before it if it is passive or nothing follows."""
_BE = frozenset("is are was were be been being".split())
_NO_OBJECT = frozenset("in during with by for on at as when after under while and but to from across than".split())
_LESS_THAN_SAID = NEGATION | frozenset(
    "unable incapable ineffective inaccurate unrelated insufficient inadequate unnecessary impossible unsuccessful unlikely unaffected unchanged"
    " independent independently absent absence dispensable free little few limited rarely seldom poor poorly none zero cannot instead despite"
    " difficult prohibitive rather unlike insensitive exempt eliminates eliminate eliminating avoids avoid avoiding removes remove obviates obviate".split()
)
"""Words by which a text says that something is not so."""
_DENYING = NEGATION | frozenset(
    "unable incapable ineffective inaccurate unrelated insufficient inadequate unnecessary impossible unsuccessful unaffected unchanged".split()
)
_PREFIXES = ("in", "un", "im", "non", "dis", "ir")

_SURE = [
    roots(group)
    for group in (
        "always invariably every all any each never consistently", "guarantee ensure certainly definitely undoubtedly certain provably",
        "prove proof proven theorem theoretically theoretical formally", "only solely exclusively merely mere sole",
        "completely entirely perfectly fully totally", "impossible cannot", "best optimal",
    )
]  # fmt: skip
"""Words that leave no exception, in groups that say about the same."""
_SURE_WORDS = frozenset(
    "always invariably every never guarantee guarantees guaranteed certainly definitely undoubtedly prove proves proved only solely"
    " exclusively completely entirely perfectly fully impossible all".split()
)
_MEASURED = frozenset("a an about minimal small limited few some little slight marginal modest partial".split())
"""Words behind "only" that say how much, so that it adds nothing."""
_MAY = roots("may might could potential potentially possibly perhaps would should possible can likely probably promise promising expect believe hope aim")
_MAY_WORDS = frozenset("may might could potentially possibly perhaps would should".split())
_HOPES = frozenset("expect hope anticipate envision believe aim".split())
_WISHES = roots("expect hope anticipate envision believe aim intend would could should may might will can goal want seek plan designed design")
_OFTEN = roots("often sometimes usually typically generally tend frequently occasionally mostly mainly some many times partly partially largely most commonly can")
_ASKING = roots("whether if ask question investigate examine explore study test analyze determine assess evaluate unclear unknown")
_OFTEN_WORDS = frozenset("often sometimes occasionally".split())
_PARITY = roots("comparable par competitive similar comparably equal match approach close nearly near almost same rival")
_PARITY_WORDS = frozenset("comparable comparably par competitive approach".split())
_SUPERIOR = roots("outperform surpass exceed beat better best superior match win")
_HEDGED = 6
"""Words behind a hedge that it may soften."""


def turned(ours: Words, said: Sequence[Words], around: Words) -> list[str]:
    """Words that one text denies and the other does not, or whose opposite stands in the other. `said`: the sentences that come
    nearest, the nearest first, which settles what it speaks of; `around`: these and their neighbours."""
    (denied, near), far = _denied(ours), _denied(around)[1]
    left = {t.stem for t in ours if t.stem}
    found: list[str] = []
    for words in said:
        their_words, (their_denied, their_near) = {t.stem for t in words if t.stem}, _denied(words)
        found += sorted(denied & their_words & left - their_near - far) + sorted(their_denied & left - near)
        left = left - their_words
    flat = [token for words in said for token in words]
    mine, others = _roots(ours), _roots(flat)
    for pair in _OPPOSITES:
        for side, other in (pair, pair[::-1]):
            if side & mine and not side & others and other & others and not other & mine:
                found.append(min(t.text for t in ours if t.root in side))
            elif side & mine and other & others:
                found += sorted(_heads(ours, side) & _heads(flat, other) - _heads(flat, side) - _heads(ours, other))
    (up, down), (their_up, their_down) = ((_directed(words, _UP), _directed(words, _DOWN)) for words in (ours, flat))
    found += sorted(up & their_down - their_up - down) + sorted(down & their_up - their_down - up)
    return found + _unbacked(ours, denied, [*flat, *around]) + _prefixed(mine, others)


def _unbacked(ours: Words, denied: set[str], theirs: Words) -> list[str]:
    """A direction, or a denial, of which there is nothing in the abstract's words."""
    found, others, texts = [], _roots(theirs), {t.text for t in theirs}
    for side in (_UP, _DOWN):
        if not side & others:
            found += [t.text for i, t in enumerate(ours) if t.stem and not t.quantity and t.stem not in denied and t.root in side and not (i and t.told[0].isupper())][:1]
    if not _LESS_THAN_SAID & texts:
        found += [t.text for t in ours if t.text in _DENYING][:1]
    return found


def _directed(words: Words, side: frozenset[str]) -> set[str]:
    """The words of content that one of these directions is said of."""
    found: set[str] = set()
    for i, token in enumerate(words):
        if token.stem and not token.quantity and token.root in side and not (i and token.told[0].isupper()):
            passive = i and words[i - 1].text in _BE
            last = i + 1 >= len(words) or not words[i + 1].stem or words[i + 1].text in _NO_OBJECT
            near = words[max(0, i - _BOUND) : i][::-1] if passive or last else words[i + 1 : i + 1 + _BOUND]
            found.update(t.stem for t in _until_stop(near))
    return found


def _heads(words: Words, of: frozenset[str]) -> set[str]:
    """The words that stand right behind one of these, as «performance» in «the same performance»."""
    return {b.stem for a, b in zip(words, words[1:]) if b.content and a.stem and a.root in of}


def _prefixed(mine: frozenset[str], others: frozenset[str]) -> list[str]:
    """«inconsistent» for «consistent», or the reverse."""
    return [
        a if a in mine else b
        for one, other in ((mine, others), (others, mine))
        for a in sorted(one - other)
        for b in (a.removeprefix(prefix) for prefix in _PREFIXES if a.startswith(prefix))
        if len(b) > 4 and b in other and b not in one
    ]


def _denied(words: Words) -> tuple[set[str], set[str]]:
    """The words of content that are denied, and all that stand near a negation (as in "requires no" and "does not require")."""
    denied: set[str] = set()
    near: set[str] = set()
    for i, token in enumerate(words):
        if token.text in NEGATION or token.text in _AVOIDS:
            behind = _until_stop(words[i + 1 : i + 1 + _REACH])
            heavy = [t for t in behind if t.text not in _LIGHT] or behind
            denied.update(t.stem for t in (*behind[:1], *heavy[:1]) if token.text in NEGATION)
            near.update(t.stem for t in (*behind, *_until_stop(words[max(0, i - _REACH) : i][::-1])))
    return denied, near


def _until_stop(words: Words) -> list[Token]:
    kept = []
    for token in words:
        if not token.stem or token.text in ("but", "only"):
            break
        if token.content and token.text not in NEGATION:
            kept.append(token)
    return kept


def overclaimed(ours: Words, said: Sequence[Words]) -> list[str]:
    """Words of ours that leave less doubt than the source does, and hedges of the source's that ours has dropped. `said`: as above."""
    mine, others = _roots(ours), _roots([token for words in said for token in words])
    found = []
    for i, token in enumerate(ours):
        if token.text in _SURE_WORDS and not (i + 1 < len(ours) and (ours[i + 1].quantity or ours[i + 1].text in _MEASURED)):
            group = next(g for g in _SURE if token.root in g)
            if not group & others:
                found.append(token.text)
    hedges = (frozenset() if _MAY & mine else _MAY_WORDS) | (frozenset() if _OFTEN & mine else _OFTEN_WORDS)
    hedges |= frozenset() if _ASKING & mine else frozenset(["whether"])
    hedges |= (frozenset() if _WISHES & mine else _HOPES) | (_PARITY_WORDS if _SUPERIOR & mine and not _PARITY & mine else frozenset())
    left = {t.stem for t in ours if t.content}
    for words in said:
        found += [token.text for i, token in enumerate(words) if token.text in hedges and _softens(words, i, left)]
        left -= {t.stem for t in words}
    return found


def _roots(words: Words) -> frozenset[str]:
    return frozenset(t.root for t in words if t.root and not t.quantity)


def _softens(said: Words, at: int, words: set[str]) -> bool:
    """Whether the first word of content behind a hedge, and most of those that follow, are in our sentence."""
    behind = [t.stem for t in _until_stop(said[at + 1 : at + 1 + _HEDGED])][:3]
    return bool(behind) and behind[0] in words or sum(stem in words for stem in behind) >= 2

