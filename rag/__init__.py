"""Ask Papers: questions over a pile of paper abstracts, every sentence of the answer cited to the abstract that says it.

    from rag import Library
    library = Library.open()
    print(library.ask("What is optimal transport used for?").text)

These names are the public interface. Importing this package imports no vendor library and reads no environment variable.
"""

from .errors import AskPapersError
from .library import Library
from .papers import REFUSAL, AddReport, Answer, Citation, Event, Hit, Paper, Passage, Quote, Sentence
from .settings import Settings

__all__ = [
    "REFUSAL", "AddReport", "Answer", "AskPapersError", "Citation", "Event", "Hit", "Library", "Paper", "Passage", "Quote",
    "Sentence", "Settings",
]  # fmt: skip
