"""Numbers with their units, whatever they are written like, and what each of them is said of.

Pure. A number is what it is: 0.85 is not 85 %, 9 is not about 9.2, and nothing is computed.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_UNITS = {
    "%": "% percent", "points": "points point pp", "×": "× x times fold", "000": "k thousand", "000000": "m million",
    "000000000": "b billion", "ms": "ms milliseconds millisecond", "s": "s sec seconds second", "min": "minutes minute",
    "h": "hours hour h", "d": "days day", "week": "weeks week", "month": "months month", "year": "years year", "gb": "gb", "mb": "mb",
    "tb": "tb", "token": "tokens token", "word": "words word",
}  # fmt: skip
_UNIT_OF = {name: unit for unit, names in _UNITS.items() for name in names.split()}
_WORDS = {
    word: str(number)
    for number, word in enumerate("two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty".split(), 2)
} | {"thirty": "30", "forty": "40", "fifty": "50", "sixty": "60", "seventy": "70", "eighty": "80", "ninety": "90", "hundred": "100"}  # fmt: skip
_PARTS = (
    (re.compile(r"\b(?:two|2)[\s-]thirds\b", re.IGNORECASE), "66.7%"),
    (re.compile(r"\bthree[\s-]quarters\b", re.IGNORECASE), "75%"),
    (re.compile(r"\b(?:(?:a|one)[\s-])?third(?= of\b)|\bone[\s-]third\b", re.IGNORECASE), "33.3%"),
    (re.compile(r"\b(?:(?:a|one)[\s-])?quarter\b|(?<!\d)1⁄4(?!\d)", re.IGNORECASE), "25%"),
    (re.compile(r"\bhalf\b|\bhalv(?:e[sd]?|ing)\b|(?<!\d)1⁄2(?!\d)", re.IGNORECASE), "50%"),
    (re.compile(r"\btwice\b|\btwo-?fold\b|\bdoubl(?:e[sd]?|ing)\b", re.IGNORECASE), "2 times"),
    (re.compile(r"\b(?:three-?fold|thrice|tripl(?:e[sd]?|ing))\b", re.IGNORECASE), "3 times"),
    (re.compile(r"(?<=\d)\s?p\.\s?p\.", re.IGNORECASE), " pp"),
)
"""Parts and multiples that are words."""
_WORD = re.compile(rf"\b(?:{'|'.join(_WORDS)}|one(?= (?:hundred|thousand|million|billion)))\b", re.IGNORECASE)
_SHARED_UNIT = re.compile(r"(\d)\s?(?:[-–—]{1,2}|\bto\b|\band\b)\s?(\d[\d.,]*)\s?(%|×|percent\b|percentage points\b)")
NUMBER = re.compile(r"(?<![\w.^])(?<![A-Za-z]-)\d[\d,]*(?:\.\d+)?(?:[\s-]?(?:percentage points|[%×]|[A-Za-z]+\b))?")
_INSIDE = re.compile(r"([\d,.]+)[\s-]?(.*)", re.DOTALL)
_YEAR = re.compile(r"(?:19|20)\d\d")
_ABOVE = re.compile(r"(?:\b(?:more than|over|above|exceed(?:s|ing)?|at least|(?:greater|larger|higher) than|upwards of)|>)\s*$", re.IGNORECASE)
_BELOW = re.compile(r"(?:\b(?:less than|fewer than|under|below|at most|up to|no (?:larger|more|greater|higher) than|as (?:little|few) as)|<)\s*$", re.IGNORECASE)


class Quantity(NamedTuple):
    """`value` has no thousands signs and no idle zeros; thousands, millions and billions are part of it. `unit`: "" if none that we know.
    `bound`: 1 for "more than", -1 for "less than". `told`: as written. `after`: the word behind it that is no unit."""

    value: str
    unit: str
    bound: int
    told: str
    after: str

    @property
    def same(self) -> tuple[str, str]:
        """What two writings of one number have in common."""
        return self.value, self.unit

    @property
    def kind(self) -> str:
        """What it could be mistaken for: a number of the same unit, a year for a year, millions for millions."""
        return self.unit or ("year" if _YEAR.fullmatch(self.told) else "million" if float(self.value) >= 1e6 else "")


def is_unit(name: str) -> bool:
    return name.lower() in _UNIT_OF


def quantity(written: str, before: str) -> Quantity:
    """Of a match of NUMBER. `before`: the words in front of it."""
    value, behind = _INSIDE.fullmatch(written).groups()  # type: ignore[union-attr]
    unit = _UNIT_OF.get(behind.lower().replace("percentage points", "points"), "")
    digits = value.replace(",", "").rstrip(".")
    number = digits.rstrip("0").rstrip(".") if "." in digits else digits.lstrip("0") or "0"
    told = written.strip() if unit else value.rstrip(",.")
    after = "" if unit else behind
    if unit.startswith("000"):
        number, unit = str(round(float(number) * int("1" + unit))), ""
    return Quantity(number, unit, -1 if _BELOW.search(before) else 1 if _ABOVE.search(before) else 0, told, after)


def spelled_out(text: str) -> str:
    """Number words as digits, and a unit that two numbers share given to both."""
    for pattern, digits in _PARTS:
        text = pattern.sub(digits, text)
    text = _WORD.sub(lambda m: _WORDS.get(m[0].lower(), "1"), text)
    return _SHARED_UNIT.sub(r"\1\3 \2\3", text)
