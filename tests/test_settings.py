"""Settings come from the environment once, complain about what they don't know, and show no secret."""

from __future__ import annotations

import copy
import json
import traceback
from dataclasses import FrozenInstanceError, replace
from pathlib import Path

import pytest
from shared import run_python

from rag.errors import SettingsError
from rag.settings import Secret, Settings, host_of

KEY = "sk-very-secret"


def settings(**environment: str) -> Settings:
    return Settings.from_environment(environment)


def test_no_variable_at_all_gives_the_defaults():
    assert settings() == Settings() and settings().model == "" and not settings().api_key


def test_every_setting_is_read_from_its_variable():
    read = settings(
        ASKPAPERS_LIBRARY="~/papers", OPENAI_MODEL="m", OPENAI_BASE_URL="http://localhost:11434/v1", OPENAI_API_KEY=f" {KEY} ",
        ASKPAPERS_PAPERS_IN_PROMPT="3", ASKPAPERS_TIMEOUT="1.5", ASKPAPERS_QUOTE_WHEN_MODEL_FAILS="no", ASKPAPERS_LOCK_WAIT="0",
        ASKPAPERS_EMBEDDING_MODEL="e", ASKPAPERS_EMBEDDING_API_KEY="e-key",
    )  # fmt: skip
    assert (read.model, read.base_url, read.api_key.reveal()) == ("m", "http://localhost:11434/v1", KEY)
    assert (read.papers_in_prompt, read.timeout, read.quote_when_model_fails, read.lock_wait) == (3, 1.5, False, 0.0)
    assert (read.embedding_model, read.embedding_api_key.reveal()) == ("e", "e-key")
    assert read.library_folder == Path.home() / "papers"


def test_a_blank_variable_counts_as_not_set():
    assert settings(ASKPAPERS_TIMEOUT=" ", OPENAI_API_KEY="", OPENAI_MODEL="") == Settings()


def test_a_key_alone_means_openai_but_a_key_for_another_server_names_no_model():
    assert settings(OPENAI_API_KEY=KEY).model and settings(OPENAI_API_KEY=KEY).model_host == "api.openai.com"
    assert settings(OPENAI_API_KEY=KEY, OPENAI_BASE_URL="http://localhost:1/v1").model == ""


@pytest.mark.parametrize(
    "name, hint", [("ASKPAPERS_TIMEOUTS", "Did you mean ASKPAPERS_TIMEOUT?"), ("ASKPAPERS_XYZZY_PLUGH", "Known are: ASKPAPERS_")]
)
def test_an_unknown_setting_is_an_error_with_the_nearest_known_one(name, hint):
    with pytest.raises(SettingsError) as caught:
        settings(**{name: KEY})
    assert name in str(caught.value) and hint in str(caught.value) and KEY not in str(caught.value)


@pytest.mark.parametrize(
    "name, value, says",
    [
        ("ASKPAPERS_TIMEOUT", "soon", "must be a number, not 'soon'"),
        ("ASKPAPERS_TIMEOUT", "-1", "between 0.1 and 3600"),
        ("ASKPAPERS_TIMEOUT", "nan", "between"),
        ("ASKPAPERS_PAPERS_IN_PROMPT", "2.5", "must be a whole number"),
        ("ASKPAPERS_PAPERS_IN_PROMPT", "0", "between 1 and 50"),
        ("ASKPAPERS_QUOTE_WHEN_MODEL_FAILS", "perhaps", "must be true or false"),
        ("ASKPAPERS_LOCK_WAIT", "1e99", "between"),
        ("OPENAI_BASE_URL", "localhost:8000", "must be a web address such as"),
        ("OPENAI_BASE_URL", "ftp://x", "must be a web address"),
        ("OPENAI_BASE_URL", "http://", "must be a web address"),
    ],
)
def test_a_value_that_makes_no_sense_is_an_error_that_says_what_would(name, value, says):
    with pytest.raises(SettingsError, match="(?i)" + name.removeprefix("ASKPAPERS_").removeprefix("OPENAI_")) as caught:
        settings(**{name: value})
    assert says in str(caught.value)


@pytest.mark.parametrize(
    "address", [f"http://user:{KEY}@host/v1", f"http://user:{KEY}", f"http://[{KEY}/v1", f"http://a:{KEY}\u2100@host/v1"]
)
def test_a_secret_inside_an_address_is_refused_and_not_repeated(address):
    with pytest.raises(SettingsError) as caught:
        settings(OPENAI_BASE_URL=address)
    assert KEY not in "".join(traceback.format_exception(caught.value))


def test_a_secret_shows_in_no_text_made_from_the_settings():
    held = Settings(api_key=Secret(KEY), embedding_api_key=Secret(KEY))
    for text in (
        repr(held),
        str(held),
        f"{held}",
        f"{held.api_key!r} {held.api_key}",
        "%s" % held,
        repr(replace(held, model="m")),
        repr(copy.deepcopy(held)),
    ):
        assert KEY not in text and "***" in text
    with pytest.raises(TypeError) as caught:
        json.dumps(held.api_key)
    assert KEY not in str(caught.value)
    assert held.api_key.reveal() == KEY and repr(Secret()) == "Secret('')"


def test_a_key_given_as_a_plain_string_is_kept_as_a_secret():
    held = Settings(api_key=KEY, embedding_api_key=KEY)
    assert KEY not in repr(held) and held.api_key == Secret(KEY) == held.embedding_api_key


def test_settings_cannot_be_changed_behind_ones_back():
    with pytest.raises(FrozenInstanceError):
        Settings().model = "m"


def test_a_shown_host_holds_no_path():
    assert host_of("https://host.example:8443/secret/path?key=1") == "host.example:8443" and host_of("") == ""


def test_importing_rag_imports_no_vendor_and_looks_at_no_setting():
    code = """
import sys, rag
[getattr(rag, name) for name in rag.__all__]
rag.Settings()
vendors = {"chromadb", "gradio", "llama_index", "openai", "tantivy", "onnxruntime", "tokenizers", "httpx", "pydantic", "tqdm"}
print(sorted(vendors & set(sys.modules)))
"""
    done = run_python(code, ASKPAPERS_TIMEOUT="nonsense")
    assert (done.returncode, done.stdout) == (0, "[]\n"), done.stderr


@pytest.mark.parametrize("key", ["sk-two\nlines", "sk-two words", "sk-smart–dash", "sk-tab\there", "sk-\x00"])
def test_a_key_that_no_header_can_carry_is_told_without_repeating_it(key):
    for name, variable in (("api_key", "OPENAI_API_KEY"), ("embedding_api_key", "ASKPAPERS_EMBEDDING_API_KEY")):
        with pytest.raises(SettingsError, match=f"^{variable} holds") as caught:
            Settings(**{name: Secret(key)})
        assert "sk-" not in str(caught.value)
    with pytest.raises(SettingsError):
        Settings.from_environment({"OPENAI_API_KEY": key})


def test_the_second_check_is_off_and_the_calls_of_a_list_are_bounded_unless_set():
    assert Settings().second_check is False and Settings().judge_calls == 4
    set_ = Settings.from_environment({"ASKPAPERS_SECOND_CHECK": "on", "ASKPAPERS_JUDGE_CALLS": "0"})
    assert set_.second_check is True and set_.judge_calls == 0
    with pytest.raises(SettingsError, match="judge_calls must be between 0"):
        Settings(judge_calls=-1)
