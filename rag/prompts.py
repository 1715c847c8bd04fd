"""Prompts from prompts/*.md: a header, then one section a message. Placeholders are checked when a prompt is loaded.

Prompts hold no code and no settings. The text of a prompt is part of its hash, so an eval run can say what it used.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from .errors import AskPapersError

FOLDER = Path(__file__).resolve().parent.parent / "prompts"
_PLACEHOLDER = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Prompt:
    """`messages`: (role, template) pairs in order. `hash`: 12 hex digits of the file."""

    name: str
    placeholders: frozenset[str]
    messages: tuple[tuple[str, str], ...]
    hash: str

    def fill(self, **values: str) -> list[tuple[str, str]]:
        """(role, text) pairs; a value is put in as it is, and is never searched for placeholders. Raises ValueError if a
        value is missing or unknown."""
        if values.keys() != self.placeholders:
            raise ValueError(f"prompt '{self.name}' takes {sorted(self.placeholders)}, not {sorted(values)}")
        return [(role, _PLACEHOLDER.sub(lambda m: values[m.group(1)], template)) for role, template in self.messages]


@lru_cache(maxsize=None)
def load(name: str, folder: Path = FOLDER) -> Prompt:
    """Raises AskPapersError if the file is missing, has no message, or its placeholders are not those of its header."""
    path = folder / f"{name}.md"
    try:
        raw = path.read_text(encoding="utf-8")
    except OSError as error:
        raise AskPapersError(f"The prompt {path} can't be read: {error.strerror}. Reinstall Ask Papers.") from error
    header = re.match(r"---\n(.*?)\n---\n", raw, re.DOTALL)
    declared = re.search(r"^placeholders:(.*)$", header.group(1), re.MULTILINE) if header else None
    names = frozenset(re.findall(r"\w+", declared.group(1))) if declared else frozenset()
    parts = re.split(r"^## (system|user|assistant)\n", raw[header.end() :] if header else raw, flags=re.MULTILINE)[1:]
    messages = tuple((role, text.strip()) for role, text in zip(parts[::2], parts[1::2]))
    used = frozenset(n for _, text in messages for n in _PLACEHOLDER.findall(text))
    if not messages or used != names:
        raise AskPapersError(f"The prompt {path} is not well formed: it declares {sorted(names)} and uses {sorted(used)}.")
    return Prompt(name, names, messages, hashlib.sha256(raw.encode()).hexdigest()[:12])
