"""Texts to unit vectors: the bundled model, or any OpenAI-compatible embeddings endpoint.

Every embedder has a `fingerprint`: two embedders with the same fingerprint give the same vectors, so stored vectors are only
ever compared with queries of their own fingerprint. Never downloads anything; the endpoint is called only if it is set.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from pathlib import Path
from typing import Any, Callable, NamedTuple, Protocol, Sequence

import numpy as np

from .endpoint import only_ours
from .errors import EmbeddingFailed, LibraryDamaged
from .passages import Span
from .settings import OPENAI_HOST, Settings, host_of

MODEL_FOLDER = Path(__file__).parent / "models" / "all-MiniLM-L6-v2"
MODEL_SHA256 = "6c5c1c2f649ec72581b48a578e66fd776145607b5cb902e5236f7650d2926f94"
MAX_TOKENS = 512
"""The model's own limit (config.json: max_position_embeddings)."""
_OVERLAP = 64


class Embedder(Protocol):
    """Anything that embeds. `fingerprint` is the same in every process. An `at_once` says how many texts are best embedded at
    the same time, by threads; without it, one."""

    fingerprint: str

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Shape (len(texts), dimension), float32, each row of unit length. Raises EmbeddingFailed."""
        ...

    def embed_parts(self, text: str, parts: Sequence[Span]) -> np.ndarray:
        """A whole text and parts of it: shape (1 + len(parts), dimension), the whole first. Raises EmbeddingFailed."""
        ...


class Reading(NamedTuple):
    """What the bundled model made of a text: its tokens' vectors (n, dimension) and their character offsets (n, 2)."""

    tokens: np.ndarray
    offsets: np.ndarray

    def vector(self, parts: Sequence[Span] = ()) -> np.ndarray:
        """The mean of the tokens inside any of the parts, or of all if there are none, scaled to unit length."""
        inside = np.zeros(len(self.tokens), dtype=bool)
        for start, end in parts:
            inside |= (self.offsets[:, 0] >= start) & (self.offsets[:, 1] <= end) & (self.offsets[:, 0] < self.offsets[:, 1])
        mean = self.tokens[inside].mean(axis=0) if inside.any() else self.tokens.mean(axis=0)
        return mean / max(float(np.linalg.norm(mean)), 1e-12)


class Remembering:
    """An embedder of questions that doesn't read again what it was asked a moment ago: one question is searched for several
    times, here and there, and parts of it are. Safe to share by threads."""

    def __init__(self, embedder: Embedder, size: int = 64):
        self.fingerprint = embedder.fingerprint
        self._embedder = embedder
        self._size = size
        self._kept: OrderedDict[str, Any] = OrderedDict()
        self._guard = threading.Lock()

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """As of the Embedder; for one text at a time."""
        (text,) = texts
        return self.embed_part(text, ())[None, :]

    def embed_part(self, text: str, parts: Sequence[Span]) -> np.ndarray:
        """One vector for all that stands in the parts of a text, as seen in that text if the embedder can. Shape (dimension,)."""
        if isinstance(self._embedder, BundledEmbedder):
            return self._remembered(text, self._embedder.read).vector(parts)
        return self._remembered(" ".join(text[start:end] for start, end in parts) or text, lambda text: self._embedder.embed([text])[0])

    def tokens(self, text: str) -> np.ndarray | None:
        """The vectors of a text's tokens, shape (n, dimension); None if the embedder doesn't tell them."""
        return self._remembered(text, self._embedder.read).tokens if isinstance(self._embedder, BundledEmbedder) else None

    def is_coined(self, word: str) -> bool:
        """Whether it is one word of letters that the bundled model's vocabulary of 30,522 pieces has in pieces only, as no common
        English word is. False if the embedder has no such vocabulary."""
        if not isinstance(self._embedder, BundledEmbedder) or not word.isalpha():
            return False
        return len(self._embedder.load()[1].encode(word, add_special_tokens=False).ids) > 1

    def _remembered(self, text: str, read: Callable[[str], Any]) -> Any:
        with self._guard:
            kept = self._kept.get(text)
        if kept is None:
            kept = read(text)
            with self._guard:
                self._kept[text] = kept
                while len(self._kept) > self._size:
                    self._kept.popitem(last=False)
        return kept


class BundledEmbedder:
    """all-MiniLM-L6-v2 through onnxruntime: mean of the token vectors, scaled to unit length. Safe to share by threads.

    One text at a time: on two cores that is 1.5 times faster than padded batches of 16, with a third of the memory, and a
    text's vector can't depend on its neighbours. One thread a text, several texts at once: more threads for one text wait for
    each other, and on a busy machine took three times as long for a question.
    """

    fingerprint = f"all-MiniLM-L6-v2:{MODEL_SHA256[:12]}:mean:{MAX_TOKENS}:late"
    dimension = 384
    at_once = max(1, min(os.cpu_count() or 1, 8))

    def __init__(self, folder: Path = MODEL_FOLDER):
        self._folder = folder
        self._lock = threading.Lock()
        self._session = None

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        return np.stack([self.embed_parts(text, ())[0] for text in texts]) if texts else np.empty((0, self.dimension), np.float32)

    def embed_parts(self, text: str, parts: Sequence[Span]) -> np.ndarray:
        """One pass over the whole text; a part is the mean of its own tokens' vectors, which have seen their context ("late
        chunking", Günther et al. 2024, arXiv 2409.04701). Half the time of embedding the parts apart, and no worse here."""
        reading = self.read(text)
        return np.stack([reading.vector(), *(reading.vector([part]) for part in parts)])

    def read(self, text: str) -> Reading:
        """One pass of the model. A text over MAX_TOKENS is read in overlapping stretches, and each token is taken from the first
        stretch that holds it."""
        session, tokenizer = self.load()
        encoding = tokenizer.encode(text)
        vectors, offsets, reached = [], [], 0
        for stretch in (encoding, *encoding.overflowing):
            ids = np.array([stretch.ids], dtype=np.int64)
            inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
            places = np.array(stretch.offsets)
            fresh = (places[:, 0] >= reached) if vectors else np.ones(len(places), dtype=bool)
            vectors.append(session.run(None, inputs)[0][0][fresh])
            offsets.append(places[fresh])
            reached = places[:, 1].max()
        return Reading(np.concatenate(vectors), np.concatenate(offsets))

    def load(self):
        """(onnxruntime session, tokenizer); half a second the first time. Raises LibraryDamaged."""
        with self._lock:
            if self._session is None:
                import onnxruntime
                from tokenizers import Tokenizer

                options = onnxruntime.SessionOptions()
                options.intra_op_num_threads = 1
                options.log_severity_level = 3
                try:
                    tokenizer = Tokenizer.from_file(str(self._folder / "tokenizer.json"))
                    model = onnxruntime.InferenceSession(
                        str(self._folder / "model.onnx"), options, providers=["CPUExecutionProvider"]
                    )
                except Exception as error:
                    raise LibraryDamaged(
                        f"The bundled embedding model in {self._folder} can't be loaded ({type(error).__name__}). "
                        "Reinstall Ask Papers."
                    ) from error
                tokenizer.enable_truncation(MAX_TOKENS, stride=_OVERLAP)
                tokenizer.no_padding()
                self._session = (model, tokenizer)
            return self._session


class EndpointEmbedder:
    """An OpenAI-compatible embeddings endpoint. Parts are sent as texts of their own. Imports openai when first used."""

    _BATCH = 64

    def __init__(self, model: str, base_url: str, api_key: str, timeout: float = 60.0):
        # An empty address would make the client look for one in the environment, and take the key there.
        base_url = base_url or f"https://{OPENAI_HOST}/v1"
        self.fingerprint = f"{model}@{host_of(base_url)}"
        self._model, self._base_url, self._api_key, self._timeout = model, base_url, api_key, timeout
        self._client = None

    def __repr__(self) -> str:
        return f"EndpointEmbedder({self.fingerprint!r})"

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        rows = [row for start in range(0, len(texts), self._BATCH) for row in self._request(list(texts[start : start + self._BATCH]))]
        try:
            matrix = np.array(rows, dtype=np.float32)
        except (TypeError, ValueError):  # of different lengths, or not numbers
            matrix = np.empty(0)
        if matrix.ndim != 2 or len(matrix) != len(texts) or not np.isfinite(matrix).all() or not np.linalg.norm(matrix, axis=1).all():
            raise EmbeddingFailed(f"{self.fingerprint} returned vectors that can't be used. Is it an embedding model?")
        return matrix / np.linalg.norm(matrix, axis=1, keepdims=True)

    def embed_parts(self, text: str, parts: Sequence[Span]) -> np.ndarray:
        return self.embed([text, *(text[start:end] for start, end in parts)])

    def _request(self, texts: list[str]) -> list[list[float]]:
        import openai

        try:
            if self._client is None:
                self._client = openai.OpenAI(
                    base_url=self._base_url, api_key=self._api_key or "none", timeout=self._timeout, max_retries=2,
                    http_client=openai.DefaultHttpxClient(follow_redirects=False, event_hooks={"request": [only_ours]}),
                )  # fmt: skip
            data = self._client.embeddings.create(model=self._model, input=texts, encoding_format="float").data
            return [item.embedding for item in sorted(data, key=lambda item: item.index)]
        except openai.AuthenticationError as error:
            raise EmbeddingFailed(f"{self.fingerprint} refused the key. Set ASKPAPERS_EMBEDDING_API_KEY.") from error
        except openai.APIConnectionError as error:
            raise EmbeddingFailed(f"{self.fingerprint} can't be reached. Is the server running, and ASKPAPERS_EMBEDDING_BASE_URL right?") from error
        except openai.APIStatusError as error:
            raise EmbeddingFailed(f"{self.fingerprint} answered with error {error.status_code}. Does it serve this embedding model?") from error
        except (openai.OpenAIError, TypeError, ValueError, AttributeError) as error:
            raise EmbeddingFailed(f"{self.fingerprint} gave no usable answer ({type(error).__name__}).") from error


def make_embedder(settings: Settings) -> Embedder:
    """The embedder that the settings name. A key goes only to the host that it was given for."""
    if not settings.embedding_model:
        return BundledEmbedder()
    base_url = settings.embedding_base_url or settings.base_url
    same_host = (host_of(base_url) or OPENAI_HOST) == settings.model_host
    key = settings.embedding_api_key or (settings.api_key if same_host else settings.embedding_api_key)
    return EndpointEmbedder(settings.embedding_model, base_url, key.reveal(), settings.timeout)
