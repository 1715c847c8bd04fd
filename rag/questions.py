"""What is being asked: small talk, a question of its own, or one that needs the turns before it.

Pure rules over the words of the question; knows no paper and calls no model.
"""

from __future__ import annotations

import re

MAX_QUESTION = 4000
"""Characters that are searched; what is past it is left out of the search, not of the conversation."""

_SMALL_TALK = re.compile(
    r"^\W*(?:(?:hi|hello|hey|good (?:morning|afternoon|evening)|thanks?|thank you|thx|cheers|ok(?:ay)?|great|cool|nice|bye|goodbye)"
    r"(?: (?:there|all|everyone|you|so much|very much|a lot|again|that'?s? (?:great|helpful)))*"
    r"|(?:what|how) can (?:you|i) (?:do|ask|help)(?: (?:me|with|you|here).{0,20})?|who are you|what are you|what is this|help(?: me)?)\W*$",
    re.IGNORECASE,
)
_POINTS_BACK = re.compile(
    r"\b(?:it|its|it's|they|them|their|theirs|this|that|these|those|he|she|his|her|the (?:paper|method|model|approach|authors?|benchmark|data ?set|"
    r"first|second|third|last|former|latter|other) ?(?:one|ones)?|same)\b",
    re.IGNORECASE,
)
_CONTINUES = re.compile(
    r"^\W*(?:(?:and|but|so|also|or|then|what about|how about|why not|go on|which of|any other|else)\b|(?:why|how|more|really|example)\W*$)",
    re.IGNORECASE,
)


def is_small_talk(question: str) -> bool:
    """A greeting, thanks, or a question about the assistant: nothing to search for."""
    return bool(_SMALL_TALK.match(question.strip()))


def needs_context(question: str) -> bool:
    """Whether the question points back to earlier turns: it begins as a continuation, or is short and holds a pronoun."""
    words = re.findall(r"\w+", question)
    return bool(_CONTINUES.match(question)) or (len(words) <= 12 and bool(_POINTS_BACK.search(question)))
