"""The command line: one command a verb, `askpapers` alone opens the chat page.

Exit codes: 0 done; 1 an error, named on standard error; 2 wrong usage; 3 `add` left records out; 4 `doctor` found something
wrong; 130 stopped. `eval` has its own (evals/cli.py). Never shows a traceback for anything that a user can cause.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, Iterator, Sequence

from . import terminal
from .embedding import BundledEmbedder, make_embedder
from .errors import AskPapersError
from .library import Library
from .settings import Secret, Settings

_EXAMPLES = """examples:
  askpapers                                    open the chat page
  askpapers ask "what is AgentBench?"          one answer, with its sources
  askpapers add reading-list.jsonl             add papers
  askpapers --library ~/thesis add refs.jsonl  a library of its own

Data lives in one folder a library; see `askpapers doctor`. With OPENAI_API_KEY, or OPENAI_BASE_URL and OPENAI_MODEL for a
local server, answers are written by that model; without, they are exact quotes."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    options = _parser().parse_args(arguments)
    try:
        return options.run(options) or 0
    except AskPapersError as error:
        terminal.say(f"askpapers: {error}")
        return 1
    except KeyboardInterrupt:
        terminal.say("Stopped." + (" What was stored is kept; the same command completes it." if options.run is _add else ""))
        return 130
    except BrokenPipeError:  # the reader of our output, such as `head`, has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if options.traceback:
            raise
        terminal.say(f"askpapers: something went wrong inside Ask Papers ({type(error).__name__}: {error}). Run it again with --traceback before the command to see where.")
        return 1


def _parser() -> argparse.ArgumentParser:
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--library", metavar="PATH", default=argparse.SUPPRESS, help="folder of the library (default: $ASKPAPERS_LIBRARY, else a folder of your own)")
    data = argparse.ArgumentParser(add_help=False)
    data.add_argument("--json", action="store_true", help="print JSON instead of text")
    parser = argparse.ArgumentParser(
        prog="askpapers", description="Ask questions of a pile of paper abstracts; every sentence of the answer names its paper.",
        epilog=_EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter, parents=[common],
    )  # fmt: skip
    parser.add_argument("--traceback", action="store_true", help=argparse.SUPPRESS)
    _page_options(parser)
    parser.set_defaults(run=_chat)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")

    def command(name: str, run: Any, text: str, *parents: argparse.ArgumentParser) -> argparse.ArgumentParser:
        one = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".", parents=[common, *parents])
        one.set_defaults(run=run)
        return one

    chat = command("chat", _chat, "open the chat page in a browser")
    _page_options(chat)
    for option in chat._actions:  # what was said before `chat` counts, too: a default must not put a password away
        option.default = argparse.SUPPRESS if option.dest in ("host", "port", "auth", "root_path", "no_browser") else option.default
    ask = command("ask", _ask, "answer one question, with sources", data)
    ask.add_argument("question", nargs="+", help="the question; quotes around it are optional")
    search = command("search", _search, "find papers, best first", data)
    search.add_argument("query", nargs="+")
    search.add_argument("--limit", type=_positive, default=10, metavar="N", help="how many at most (default: 10)")
    add = command("add", _add, "add papers from files or folders (.txt, .jsonl, .json)", data)
    add.add_argument("files", nargs="+", metavar="FILE")
    remove = command("remove", _remove, "remove papers by id, from the disk as well", data)
    remove.add_argument("ids", nargs="+", metavar="ID")
    command("list", _list, "list the papers: id, year, title", data)
    doctor = command("doctor", _doctor, "check the library and say what was found", data)
    doctor.add_argument("--rebuild", action="store_true", help="build the index anew from the stored papers first")
    from evals.cli import add_parser

    add_parser(commands, common)
    return parser


def _page_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: 127.0.0.1, this computer only)")
    parser.add_argument("--port", type=_port, default=None, metavar="N", help="port (default: the first free one from 7860)")
    parser.add_argument("--auth", metavar="USER:PASSWORD", help="ask everybody for this user name and password (better: set ASKPAPERS_AUTH)")
    parser.add_argument("--root-path", default="", metavar="PATH", help="path, or whole address, under which a proxy shows the page, such as /papers")
    parser.add_argument("--no-browser", action="store_true", help="print the address instead of opening a browser")


def _positive(text: str) -> int:
    if not text.strip().isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError("must be a whole number, 1 or more")
    return int(text)


def _port(text: str) -> int:
    if not text.strip().isdigit() or not 1 <= int(text) <= 65_535:
        raise argparse.ArgumentTypeError("must be a whole number from 1 to 65535")
    return int(text)


def _settings(options: argparse.Namespace) -> Settings:
    settings = Settings.from_environment()
    return replace(settings, library=options.library) if getattr(options, "library", None) else settings


def _open(options: argparse.Namespace, will_search: bool = False) -> Library:
    """With `will_search` the embedding model is loaded by a second thread, while this one imports Chroma: half a second."""
    import threading
    from contextlib import suppress

    settings = _settings(options)
    embedder = make_embedder(settings)

    def load() -> None:
        with suppress(Exception):  # whatever is wrong is said by its first use
            embedder.load()

    if will_search and isinstance(embedder, BundledEmbedder):
        threading.Thread(target=load).start()
    return Library.open(settings=settings, embedder=embedder, progress=terminal.Progress(), notice=terminal.say)


def _chat(options: argparse.Namespace) -> int:
    import threading

    login = _login(options)
    with _open(options) as library:
        import chromadb, onnxruntime, tantivy, tokenizers  # noqa: E401, F401  now, so that no two threads import the same

        loading = threading.Thread(target=__import__, args=("ui.server",))
        loading.start()  # the page takes seconds to import; a new library meanwhile embeds its papers
        count = len(library)
        loading.join()
        from ui.server import serve

        def ready(address: str) -> None:
            print(f"Ask Papers, {count:,} papers, is at {address}  (Ctrl+C stops it)", flush=True)
            for line in _warnings(options, bool(login)):
                terminal.say(line)

        serve(library, options.host, options.port, not options.no_browser, ready, login.reveal(), options.root_path)
    return 0


def _login(options: argparse.Namespace) -> Secret:
    """User and password of the page: the option, or ASKPAPERS_AUTH, which no list of processes shows. Raises SettingsError."""
    return replace(_settings(options), auth=Secret(options.auth)).auth if options.auth else _settings(options).auth


def _warnings(options: argparse.Namespace, has_login: bool) -> Iterator[str]:
    others = options.host not in ("127.0.0.1", "localhost", "::1")
    if others and not has_login:
        yield "Anyone who can reach this computer can read and ask here: there is no password (--auth). Papers can't be added or removed on the page."
    elif others:
        yield "Others who can reach this computer need the password. It is sent as it is: put a proxy with https in front if the network isn't yours."
    elif options.root_path and not has_login:
        yield "Whoever your proxy lets through can read, ask, add and remove here: there is no password (--auth)."
    if options.auth:
        yield "The password stands in the list of processes; in the environment variable ASKPAPERS_AUTH it would not."


def _ask(options: argparse.Namespace) -> None:
    with _open(options, will_search=True) as library:
        answer = library.ask(" ".join(options.question))
    if options.json:
        _print_json(answer.to_dict())
    else:
        terminal.show_answer(answer)


def _search(options: argparse.Namespace) -> None:
    with _open(options, will_search=True) as library:
        hits = library.search(" ".join(options.query), options.limit)
    if options.json:
        _print_json([hit.to_dict() for hit in hits])
    else:
        terminal.show_hits(hits)


def _add(options: argparse.Namespace) -> int:
    with _open(options) as library:
        report = library.add(*options.files)
    if options.json:
        _print_json(report.to_dict())
    else:
        terminal.show_report(report)
    return 3 if report.rejected else 0


def _remove(options: argparse.Namespace) -> None:
    with _open(options) as library:
        removed = [library.paper(paper_id) for paper_id in options.ids]
        library.remove(*options.ids)
    if options.json:
        _print_json({"removed": [paper.id for paper in removed]})
    else:
        for paper in removed:
            print(terminal.clean(f"Removed: {paper.title}"))


def _list(options: argparse.Namespace) -> None:
    with _open(options) as library:
        papers = library.papers()
    if options.json:
        from .papers import paper_to_dict

        _print_json([paper_to_dict(paper) for paper in papers])
    else:
        terminal.show_papers(papers)


def _doctor(options: argparse.Namespace) -> int:
    from .doctor import examine

    settings = _settings(options)
    if options.rebuild:
        with _open_for_rebuild(settings) as library:
            library.rebuild()
    findings = []
    for finding in examine(Path(settings.library_folder), settings):
        findings.append(finding)
        if not options.json:
            print(f"{'ok  ' if finding.fine else 'BAD '} {finding.what}: {terminal.clean(finding.detail)}", flush=True)
    if options.json:
        _print_json([vars(finding) for finding in findings])
    return 0 if all(finding.fine for finding in findings) else 4


def _open_for_rebuild(settings: Settings) -> Library:
    return Library.open(settings=settings, progress=terminal.Progress(), notice=terminal.say, check=False)


def _print_json(data: Any) -> None:
    print(json.dumps(data, ensure_ascii=False, indent=2))


if __name__ == "__main__":
    sys.exit(main())
