"""The settings panel: every setting with its value and where it comes from, and the few that a reader may change for this page.

Never shows a key, and takes no address, name or key from the page: what it may change is whether the configured model writes the
answers, how many papers it is shown, and whether it checks its sentences again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rag.settings import Settings
from ui.text import escape

MOST_PAPERS = 20


@dataclass(frozen=True)
class Options:
    """What one page has changed; None, and False for `quotes_only`, for nothing."""

    quotes_only: bool = False
    papers: int | None = None
    second_check: bool | None = None

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Options:
        """From what a browser sent, which may be anything."""
        papers = str(data.get("papers", ""))
        number = int(papers) if papers.isascii() and papers.isdigit() and len(papers) < 4 else 0
        return cls(data.get("quotes_only") in (True, "true", "on"), min(number, MOST_PAPERS) or None, {"on": True, "off": False}.get(str(data.get("second_check"))))

    def applied(self, library: Any) -> Any:
        """The library, answering so."""
        changes: dict[str, Any] = {"model": ""} if self.quotes_only else {}
        changes |= {"papers_in_prompt": self.papers} if self.papers else {}
        changes |= {} if self.second_check is None else {"second_check": self.second_check}
        return library.answering(**changes) if changes else library


def sheet(settings: Settings, options: Options, facts: Mapping[str, str]) -> str:
    """The whole panel. `facts`: more lines to tell, such as where the library is."""
    return f'<h2 id="sheet-title">Settings</h2>{_changeable(settings, options)}{_how(settings)}{_table(settings, facts)}'


def _changeable(settings: Settings, options: Options) -> str:
    if not settings.model:
        return (
            '<section><h3>Who answers</h3><p>Answers are sentences of the abstracts themselves, quoted. No model is configured, so there is nothing'
            " to choose here.</p></section>"
        )
    papers = options.papers or settings.papers_in_prompt
    said = {None: f"as set ({'on' if settings.second_check else 'off'})", True: "on", False: "off"}
    value = {None: "", True: "on", False: "off"}
    checks = "".join(f'<option value="{value[k]}"{" selected" * (options.second_check is k)}>{words}</option>' for k, words in said.items())
    at = f" at {escape(settings.model_host)}" if settings.model_host else ""
    return (
        '<form id="options" class="panel"><fieldset><legend>Who answers, on this page</legend>'
        f'<label><input type="radio" name="quotes_only" value="false"{" checked" * (not options.quotes_only)}> {escape(settings.model)}{at}, each sentence'
        " checked against the abstracts</label>"
        f'<label><input type="radio" name="quotes_only" value="true"{" checked" * options.quotes_only}> Sentences of the abstracts, quoted; nothing leaves'
        " this library</label></fieldset>"
        f'<label>Papers that the model is shown <input name="papers" type="number" min="1" max="{MOST_PAPERS}" value="{papers}"></label>'
        f'<label>Second check of each sentence, by the model itself <select name="second_check">{checks}</select></label>'
        "<p>Kept for this page, until it is closed.</p></form>"
    )


def _how(settings: Settings) -> str:
    change = "another one" if settings.model else "one"
    return (
        f"<section><h3>To have {change} write the answers</h3><p>Set these where Ask Papers is started, then start it again: "
        "<code>OPENAI_MODEL</code>, and <code>OPENAI_API_KEY</code> for OpenAI, or <code>OPENAI_BASE_URL</code> for a model of your own, such as "
        "<code>http://localhost:11434/v1</code>. Keys and addresses are never taken from this page.</p></section>"
    )


def _table(settings: Settings, facts: Mapping[str, str]) -> str:
    rows = "".join(
        f"<tr><th scope=row><code>{escape(name)}</code><span>{escape(meaning)}</span></th><td>{escape(value)}</td><td>{escape(source)}</td></tr>"
        for name, value, source, meaning in settings.described()
        if name != "library"  # it stands below, with the folder that it is
    )
    more = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in facts.items())
    return (
        '<section><h3>All settings</h3><div class="scroll" tabindex="0" role="group" aria-label="All settings"><table><thead><tr><th scope="col">Setting</th>'
        f'<th scope="col">Value</th><th scope="col">From</th></tr></thead><tbody>{rows}</tbody></table></div>{f"<dl>{more}</dl>" if more else ""}</section>'
    )
