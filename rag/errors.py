"""What can go wrong, in words for the person using the product.

    AskPapersError           every error that a user may see; its text says what happened and what to do
    +-- SettingsError        a setting is unknown, malformed or out of range
    +-- LibraryBusy          another process is writing this library; names the holder
    +-- LibraryDamaged       the stored papers themselves can't be read
    +-- EmbedderChanged      the library's vectors come from another embedding model than the one in use
    +-- EmbeddingFailed      the embedding endpoint did not answer as it should
    +-- StorageFailed        the file system refused: full, read-only, not permitted
    +-- PaperNotFound        no paper has this id
    +-- ModelFailed          the language model could not be reached, refused, or broke off

Raised where the cause is known, caught once at each edge (command line, chat page). Never holds a secret.
"""


class AskPapersError(Exception):
    """Base class. `str(error)` is one or two sentences fit to show to a person."""


class SettingsError(AskPapersError):
    """A setting is unknown, malformed or out of range."""


class LibraryBusy(AskPapersError):
    """Another process holds the library's writer lock."""


class LibraryDamaged(AskPapersError):
    """The store of papers is unreadable. (A damaged index is no error: it is rebuilt from the store.)"""


class EmbedderChanged(AskPapersError):
    """The library was embedded by another model; searching it with this one would give wrong results."""


class EmbeddingFailed(AskPapersError):
    """The embedding endpoint refused, timed out or returned something unusable."""


class StorageFailed(AskPapersError):
    """The file system refused a read or a write."""


class PaperNotFound(AskPapersError):
    """No paper in the library has this id."""


class ModelFailed(AskPapersError):
    """The language model could not be reached, refused, or broke off."""
