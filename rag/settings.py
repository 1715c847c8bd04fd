"""Every setting in one frozen object, built once at the edge and passed down. Nothing else reads the environment.

Secrets are held in `Secret`, which shows nothing of itself in repr, logs or errors.
"""

from __future__ import annotations

import ast
import difflib
import inspect
import os
import re
import textwrap
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Mapping
from urllib.parse import urlsplit

from .errors import SettingsError

PREFIX = "ASKPAPERS_"
OPENAI_HOST = "api.openai.com"


class Secret:
    """A key. `reveal()` gives it to the one call that needs it; anything else sees asterisks."""

    def __init__(self, value: str = ""):
        self._value = value

    def reveal(self) -> str:
        return self._value

    def __bool__(self) -> bool:
        return bool(self._value)

    def __repr__(self) -> str:
        return "Secret('***')" if self._value else "Secret('')"

    __str__ = __repr__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._value == self._value

    def __hash__(self) -> int:
        return hash(self._value)


@dataclass(frozen=True)
class Settings:
    """All settings with their defaults. Environment names: ASKPAPERS_ and the field's name in capitals, except those of the
    model, which are OpenAI's own: OPENAI_API_KEY, OPENAI_BASE_URL, OPENAI_MODEL."""

    library: str = ""
    """Folder of the library; empty for the default place of the operating system."""
    model: str = ""
    """Chat model that writes the answers; empty for none: exact quotes only."""
    base_url: str = ""
    """OpenAI-compatible endpoint of the model; empty for OpenAI's own."""
    api_key: Secret = Secret()
    """Key for base_url's host, and for no other."""
    papers_in_prompt: int = 6
    """How many papers the model is shown for one question."""
    context_tokens: int = 8000
    """The model's context window; prompt and answer are fitted into it."""
    answer_tokens: int = 700
    """The longest answer that is asked of the model."""
    timeout: float = 60.0
    """Seconds without a sign of life from the model before it is given up."""
    quote_when_model_fails: bool = True
    """Whether a failed model is replaced, for that question, by the extractive answer."""
    judge_calls: int = 4
    """How often the model may be asked, at most, which papers match in one which / list / how-many question; 0 for never."""
    second_check: bool = False
    """Whether the model is asked, in one more call, if the abstracts say what its answer says; shown apart from our own check."""
    embedding_model: str = ""
    """Model of an embeddings endpoint; empty for the bundled model."""
    embedding_base_url: str = ""
    """OpenAI-compatible embeddings endpoint; empty for the same as base_url."""
    embedding_api_key: Secret = Secret()
    """Key for embedding_base_url; by default api_key if the host is the same."""
    lock_wait: float = 5.0
    """Seconds that a writing command waits for another one to finish."""
    auth: Secret = Secret()
    """User name and password that the chat page asks for, as user:password; empty for none."""

    def __post_init__(self) -> None:
        for name in ("api_key", "embedding_api_key", "auth"):
            if isinstance(getattr(self, name), str):  # as a plain string it would show in repr
                object.__setattr__(self, name, Secret(getattr(self, name)))
            if name != "auth" and not re.fullmatch(r"[!-~]*", getattr(self, name).reveal()):  # HTTP libraries repeat a header that they can't send
                variable = "OPENAI_API_KEY" if name == "api_key" else PREFIX + name.upper()
                raise SettingsError(f"{variable} holds a space, a line break or a letter that no key has. Copy the key again.")
        for name in ("base_url", "embedding_base_url"):
            _check_url(name, getattr(self, name))
        for name, low, high in (
            ("papers_in_prompt", 1, 50), ("context_tokens", 512, 10_000_000), ("answer_tokens", 16, 1_000_000),
            ("judge_calls", 0, 1000), ("timeout", 0.1, 3600), ("lock_wait", 0, 86_400),
        ):  # fmt: skip
            if not low <= getattr(self, name) <= high:
                raise SettingsError(f"The setting {name} must be between {low} and {high}, not {getattr(self, name)}.")
        user, colon, password = self.auth.reveal().partition(":")
        if self.auth and not (user and colon and password):
            raise SettingsError("The user name and password for the page must be given as user:password, neither of them empty.")

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> Settings:
        """Raises SettingsError for an unknown ASKPAPERS_ name (with the nearest known one) or a value of the wrong kind."""
        environment = os.environ if environment is None else environment
        names = {f.name: f for f in fields(cls)}
        own = _own_names()
        for variable in environment:
            if variable.startswith(PREFIX) and not variable.startswith(_FOR_TESTS) and variable not in own.values():
                known = {name.removeprefix(PREFIX): name for name in own.values()}
                near = difflib.get_close_matches(variable.removeprefix(PREFIX), known, 1)
                hint = f" Did you mean {known[near[0]]}?" if near else f" Known are: {', '.join(sorted(own.values()))}."
                raise SettingsError(f"There is no setting {variable}.{hint}")
        values = {n: _parse(own[n], names[n].default, environment[own[n]]) for n in names if environment.get(own[n], "").strip()}
        if values.get("api_key") and not values.get("model") and not values.get("base_url"):
            values["model"] = "gpt-4o-mini"  # a key alone says: use OpenAI
        return cls(**values)

    def described(self, environment: Mapping[str, str] | None = None) -> list[tuple[str, str, str, str]]:
        """(name, value as it may be shown, where it comes from, meaning) of every setting: no key, and of an address its host only."""
        environment = os.environ if environment is None else environment
        meanings, rows = _meanings(), []
        for f in fields(self):
            value, variable = getattr(self, f.name), _own_names()[f.name]
            if isinstance(value, Secret):
                shown = "set, not shown" if value else "not set"
            elif f.name in _VARIABLES:
                shown = host_of(value) or "not set"
            else:
                shown = {True: "yes", False: "no", "": "not set"}.get(value, str(value)) if isinstance(value, (bool, str)) else str(value)
            given = environment.get(variable, "").strip()
            source = variable if given else "default" if value == f.default else "OPENAI_API_KEY" if f.name == "model" and environment.get("OPENAI_API_KEY") else "command line"
            rows.append((f.name, shown, source, meanings.get(f.name, "")))
        return rows

    @property
    def library_folder(self) -> Path:
        if self.library:
            return Path(self.library).expanduser()
        from platformdirs import user_data_path

        return user_data_path("askpapers", appauthor=False)

    @property
    def model_host(self) -> str:
        """Where questions are sent, for showing: host and port, never a path, a user or a key."""
        return host_of(self.base_url) or OPENAI_HOST


_VARIABLES = {"base_url": "OPENAI_BASE_URL", "embedding_base_url": "ASKPAPERS_EMBEDDING_BASE_URL"}
_FOR_TESTS = "ASKPAPERS_REQUIRE_"


def _own_names() -> dict[str, str]:
    """Each setting's environment variable."""
    return {f.name: PREFIX + f.name.upper() for f in fields(Settings)} | {"model": "OPENAI_MODEL", "base_url": "OPENAI_BASE_URL", "api_key": "OPENAI_API_KEY"}


@lru_cache
def _meanings() -> dict[str, str]:
    """What stands below each setting in the class above."""
    body = ast.parse(textwrap.dedent(inspect.getsource(Settings))).body[0].body
    return {
        field.target.id: " ".join(said.value.value.split())
        for field, said in zip(body, body[1:])
        if isinstance(field, ast.AnnAssign) and isinstance(said, ast.Expr) and isinstance(said.value, ast.Constant)
    }


def host_of(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.hostname or ''}{f':{parts.port}' if parts.port else ''}"


def _check_url(name: str, url: str) -> None:
    if not url:
        return
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:  # its text may repeat a password that stands in the address
        raise SettingsError(f"{_VARIABLES[name]} is not a web address.") from None
    if parts.scheme not in ("http", "https") or not host:
        raise SettingsError(f"{_VARIABLES[name]} must be a web address such as http://localhost:11434/v1.")
    if parts.username or parts.password:
        raise SettingsError(f"{_VARIABLES[name]} must not hold a user name or password; put the key in OPENAI_API_KEY.")


def _parse(variable: str, default: object, text: str) -> object:
    text = text.strip()
    if isinstance(default, Secret):
        return Secret(text)
    if isinstance(default, bool):
        known = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}
        if text.lower() not in known:
            raise SettingsError(f"{variable} must be true or false, not '{text}'.")
        return known[text.lower()]
    try:
        return type(default)(text)
    except ValueError as error:
        raise SettingsError(f"{variable} must be a {'whole number' if isinstance(default, int) else 'number'}, not '{text}'.") from error
