"""Who does what to whom: swapped sides of a comparison, swapped halves of a contrast, numbers given to the wrong thing.

Pure. Sees the order of words and no grammar: what it names was turned round as far as the words tell, and what it doesn't name may
be wrong all the same.
"""

from __future__ import annotations

from collections import Counter
from typing import Iterator, NamedTuple, Sequence

from .wording import Token, roots

Words = Sequence[Token]

_BEATS = roots("outperform surpass exceed beat outpace outdo underperform trail dominate")
_BE = frozenset("is are was were be been being gets".split())
_OVER = roots("prefer favor favour superior advantage superiority preference inferior")
_SPLITS = frozenset("while whereas but and although though versus vs than".split())
_CONTRASTS = frozenset("while whereas although though versus vs".split())
_WHOLE = 0.9
_BETWEEN = 2
"""Words in order between two that have changed places."""
_ENDS_SIDE = frozenset("while whereas but when under on in across by with using for without at given".split())
_BOTH_SIDES = 12
"""Words on either side of a comparison that may take part in it."""


def swapped(ours: Words, theirs: Sequence[Words]) -> list[str]:
    """What our sentence says the other way round than the sentences of the abstract; empty if nothing shows it."""
    return _swapped_sides(ours, theirs) or _swapped_clauses(ours, theirs) or _exchanged(ours, theirs)


class _Comparison(NamedTuple):
    pivot: str
    left: frozenset[str]
    right: frozenset[str]


def _comparisons(words: Words) -> Iterator[_Comparison]:
    """«A outperforms B», «B is outperformed by A», «A is faster than B», «A is preferred over B», «A rather than B»."""
    for i, token in enumerate(words):
        behind = words[i + 1].text if i + 1 < len(words) else ""
        if token.root in _BEATS:
            passive = behind == "by" and any(w.text in _BE for w in words[max(0, i - 3) : i])
            left, right = _side(words[:i][::-1], ends=False), _side(words[i + 1 + passive :])
            yield _Comparison("beats", *((right, left) if passive else (left, right)))
        elif token.text in ("than", "over", "to", "vs", "versus", "not"):
            before = words[max(0, i - 3) : i]
            if token.text == "not" and i and words[i - 1].text == "rather":
                yield _Comparison("rather", _side(words[: i - 1][::-1], ends=False), _side(words[i + 1 :], ends=False))
            elif token.text == "than" and not (i + 1 < len(words) and words[i + 1].quantity) or token.text != "not" and any(w.root in _OVER for w in before):
                yield _Comparison("than", _side(words[:i][::-1], ends=False), _side(words[i + 1 :]))


def _side(words: Words, ends: bool = True) -> frozenset[str]:
    kept = set()
    for token in words[:_BOTH_SIDES]:
        if not token.stem and token.text in ".;:" or token.text in ("while", "whereas", "but") or (ends and token.text in _ENDS_SIDE):
            break
        if token.content or (token.stem and not token.quantity and token.text[0].isdigit()):
            kept.add(token.stem)
    return frozenset(kept)


def _swapped_sides(ours: Words, theirs: Sequence[Words]) -> list[str]:
    for told in _comparisons(ours):
        best, found = 0, None
        for words in theirs:
            for other in _comparisons(words):
                alike = len((told.left | told.right) & (other.left | other.right))
                if alike > best and (told.pivot == other.pivot or {told.pivot, other.pivot} == {"beats", "than"}):
                    best, found = alike, other
        if not found:
            continue
        left, right, their_left, their_right = told.left - told.right, told.right - told.left, found.left - found.right, found.right - found.left
        crossed = len(left & their_right), len(right & their_left)
        straight = len(left & their_left), len(right & their_right)
        if all(crossed) and (crossed[0] > straight[0] or crossed[1] > straight[1]):
            return [" ".join(sorted(t.told for t in ours if t.stem in right & their_left)) or told.pivot]
    return []


def clauses(words: Words, coarse: bool = False) -> list[list[Token]]:
    """Words between stops and the conjunctions that set two things side by side; `coarse`: only those that set two statements so. A
    comma alone parts nothing, as in «On X, A does B»."""
    return [clause for _, clause in _parted(words, coarse)]


def _parted(words: Words, coarse: bool = False) -> list[tuple[str, list[Token]]]:
    """The clauses, each with what stands before it."""
    found: list[tuple[str, list[Token]]] = [("", [])]
    for i, token in enumerate(words):
        listed = token.text == "," and i + 1 < len(words) and words[i + 1].quantity and any(t.quantity for t in found[-1][1])
        if token.text in (_CONTRASTS if coarse else _SPLITS) or token.text in (";" if coarse else ".;:") or (listed and not coarse):
            found.append((token.text, []))
        elif token.stem:
            found[-1][1].append(token)
    return [part for part in found if part[1]]


def _swapped_clauses(ours: Words, theirs: Sequence[Words]) -> list[str]:
    """Two of our clauses that each mix words which two of theirs keep apart, within a sentence or over all of them. A sentence that
    holds nearly all of our words decides by itself."""
    wanted = {t.stem for t in ours if t.content}
    mine = [(coarse, _distinct(clauses(ours, coarse))) for coarse in (False, True)]
    for sentences in (*([words] for words in theirs), theirs):
        for coarse, parts in mine:
            if len(parts) > 1:
                others = _distinct([clause for words in sentences for clause in clauses(words, coarse)])
                found = _mixed(parts, others, 1 / 3 if len(sentences) == 1 and not coarse else 1 / 2)
                if found:
                    return found
        if len(wanted & {t.stem for words in sentences for t in words}) >= _WHOLE * len(wanted):
            break
    return []


def _mixed(mine: Sequence[frozenset[str]], others: Sequence[frozenset[str]], least: float) -> list[str]:
    for a, first in enumerate(mine):
        for second in mine[a + 1 :]:
            for b, one in enumerate(others):
                for other in others[b + 1 :]:
                    if first & one and first & other and second & one and second & other:
                        straight = len(first & one) + len(second & other)
                        crossed = len(first & other) + len(second & one)
                        if min(straight, crossed) >= max(2, max(straight, crossed) * least):
                            return sorted(first & other)[:1]
    return []


def _distinct(parts: list[list[Token]]) -> list[frozenset[str]]:
    """Of every clause the words that no other one has."""
    sets = [{t.stem for t in part if t.content} for part in parts]
    counts = Counter(stem for words in sets for stem in words)
    return [frozenset(stem for stem in words if counts[stem] == 1) for words in sets]


def _exchanged(ours: Words, theirs: Sequence[Words]) -> list[str]:
    """Two runs of words that have changed places around others that have not, as in «A improves with more B» for «B improves with more
    A». A passive in one text alone is a reason to do so."""
    for words in theirs:
        positions = {t.stem: i for i, t in enumerate(words) if t.content}
        shared = [t for t in ours if t.content and t.stem in positions]
        once = Counter(t.stem for t in shared)
        shared = [t for t in shared if once[t.stem] == 1]
        if len(shared) < _WHOLE * sum(t.content for t in ours) or _passives(ours) != _passives(words):
            continue
        ranks = sorted(range(len(shared)), key=lambda i: positions[shared[i].stem])
        order = [0] * len(ranks)
        for rank, i in enumerate(ranks):
            order[i] = rank
        first = next((i for i, rank in enumerate(order) if rank != i), None)
        if first is None:
            continue
        other = order.index(first)
        ends = [at + _run(order[at:]) for at in (first, other)]
        middle = order[ends[0] : other]
        if len(middle) >= _BETWEEN and order[:first] + order[other : ends[1]] + middle + order[first : ends[0]] + order[ends[1] :] == sorted(order):
            return [shared[first].told]
    return []


def _passives(words: Words) -> int:
    return sum(a.text in _BE and any(b.text.endswith(("ed", "en")) for b in words[i + 1 : i + 3]) for i, a in enumerate(words))


def _run(order: Sequence[int]) -> int:
    """How many numbers at the start count up by one."""
    return next((i for i, (a, b) in enumerate(zip(order, order[1:]), 1) if b != a + 1), len(order))


class Told(NamedTuple):
    """A number, and the words it is said of."""

    token: Token
    of: frozenset[str]


def misplaced(ours: Sequence[Told], known: Sequence[Told], title: frozenset[str]) -> list[str]:
    """Numbers of ours that the abstract says of something else, because another number of the same unit fits their words better.
    `known`: all numbers of the abstract; the words of its title could be said of any."""
    wrong = []
    for told in ours:
        same = [k for k in known if k.token.quantity.same == told.token.quantity.same]  # type: ignore[union-attr]
        rivals = [k for k in known if k.token.quantity.kind == told.token.quantity.kind and k not in same]  # type: ignore[union-attr]
        if same and any(all(_fits_better(told.of, rival.of, own.of, title) for own in same) for rival in rivals):
            wrong.append(told.token.told)
    return wrong


def _fits_better(words: frozenset[str], rival: frozenset[str], own: frozenset[str], title: frozenset[str]) -> bool:
    for_rival, for_own = len(words & rival - own - title), len(words & own - rival)
    return for_rival > for_own and (not for_own or for_rival >= for_own + 2)


def numbers_in(words: Words, inherit: bool = True) -> list[Told]:
    """Each number of one sentence with the words of its clause; «A and B … 1 and 2, respectively» is taken apart. `inherit`: a clause that
    begins with its number, as in «scores 1 on A and 2 on B», shares what stands before the number in the clause in front."""
    follow = [*words[1:], None]
    words = [a for a, b in zip(words, follow) if not (a.quantity and len(a.text) < 3 and b and b.text == ")")]  # «1) …, 2) …»
    found = _respectively(words) if any(token.text == "respectively" for token in words) else []
    paired = {id(told.token) for told in found}
    before: frozenset[str] = frozenset()
    for clause in _with_numbers(words):
        at = [i for i, token in enumerate(clause) if token.quantity]
        if not at:
            before = frozenset()
            continue
        leading = _of(clause[: at[0]])
        inherited = before if not leading else frozenset()
        for i in at:
            own = _nearest(clause, i)
            if id(clause[i]) not in paired:
                found.append(Told(clause[i], own | inherited if inherit or not own else own))
        before = leading | inherited
    return found


def _with_numbers(words: Words) -> Iterator[list[Token]]:
    """The clauses, those behind an "and" that hold no number joined to the one before: «21 open and commercial models»."""
    last: list[Token] = []
    for opener, clause in _parted(words):
        if opener == "and" and last and not any(t.quantity for t in clause):
            last += clause
            continue
        if last:
            yield last
        last = list(clause)
    yield last


def _nearest(clause: Words, at: int) -> frozenset[str]:
    """The words of a clause that no other number of the same unit is nearer to."""
    unit = clause[at].quantity.unit  # type: ignore[union-attr]
    rivals = [i for i, t in enumerate(clause) if i != at and t.quantity and t.quantity.unit == unit]
    return _of([t for i, t in enumerate(clause) if i != at and all(abs(i - at) <= abs(i - r) for r in rivals)])


def _of(clause: Words) -> frozenset[str]:
    return frozenset(t.stem for t in clause if t.content or t.quantity or (t.stem and t.text[0].isdigit()))


def _respectively(words: Words) -> list[Told]:
    """Lists of numbers and lists of things of the same length, side by side; [] if that can't be told."""
    numbers = [run for run in _lists(words, lambda t: bool(t.quantity)) if len(run) > 1]
    told: list[Told] = []
    for run in numbers:
        positions = [item[0] for item in run]
        unit = words[positions[0]].quantity.unit  # type: ignore[union-attr]
        things = [
            items for items in _lists(words, lambda t: t.content or bool(t.stem and t.text[0].isdigit()) and (not t.quantity or t.quantity.unit != unit))
            if len(items) == len(run) and not set(positions) & {i for item in items for i in item}
        ]  # fmt: skip
        if not things:
            continue
        nearest = min(things, key=lambda items: min(abs(items[0][0] - positions[-1]), abs(positions[0] - items[-1][-1])))
        shared = _of([t for i, t in enumerate(words) if not t.quantity and not any(i in item for item in nearest)])
        told += [Told(words[position], shared | {words[i].stem for i in item}) for position, item in zip(positions, nearest)]
    return told


def _lists(words: Words, belongs) -> list[list[list[int]]]:
    """Positions of items in «X, Y and Z», each item up to three words that belong."""
    found = []
    for i, token in enumerate(words):
        if token.text != "and" or i + 1 >= len(words):
            continue
        items = [_item(words, i + 1, 1, belongs)]
        place = i - 1
        if place >= 0 and words[place].text == ",":
            place -= 1
        while place >= 0:
            item = _item(words, place, -1, belongs)
            if not item:
                break
            items.insert(0, sorted(item))
            place = item[-1] - 1
            if place < 0 or words[place].text != ",":
                break
            place -= 1
        if len(items) > 1 and all(items):
            found.append(items)
    return found


def _item(words: Words, start: int, step: int, belongs) -> list[int]:
    taken: list[int] = []
    place = start
    while 0 <= place < len(words) and belongs(words[place]) and len(taken) < 3:
        taken.append(place)
        place += step
    return taken
