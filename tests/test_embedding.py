"""The bundled model and the endpoint: unit vectors that depend on their own text only, and keys that stay where they belong."""

from __future__ import annotations

import json
import shutil
import socket
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import numpy as np
import pytest
from shared import SEEDS

from rag.embedding import MAX_TOKENS, BundledEmbedder, EndpointEmbedder, make_embedder
from rag.errors import EmbeddingFailed, LibraryDamaged
from rag.passages import Span, sentences
from rag.readers import read
from rag.settings import Secret, Settings

TEXTS = ["Optimal transport moves mass.", "A cat sat on a mat.", "", "Zero\u200bwidth \x00 and 😀.", "x" * 300]


@pytest.fixture(scope="module")
def bundled() -> BundledEmbedder:
    return BundledEmbedder()


# The bundled model


def test_vectors_have_unit_length_whatever_the_text(bundled):
    matrix = bundled.embed([*TEXTS, "word " * 1000])
    assert matrix.shape == (len(TEXTS) + 1, bundled.dimension) and matrix.dtype == np.float32
    assert np.allclose(np.linalg.norm(matrix, axis=1), 1, atol=1e-5)


def test_a_text_alone_has_the_vector_that_it_has_among_others(bundled):
    together = bundled.embed(TEXTS)
    for text, row in zip(TEXTS, together):
        assert np.array_equal(bundled.embed([text])[0], row)


def test_no_text_gives_no_vectors(bundled):
    assert bundled.embed([]).shape == (0, bundled.dimension)


def test_meanings_are_near_and_vectors_are_those_of_the_published_model(bundled):
    a, b, c = bundled.embed(["A cat sat on a mat.", "A kitten was lying on the rug.", "Protein folding in yeast"])
    assert a @ b > 0.5 > 0.1 > a @ c
    published = [6.76569194e-02, 6.34959713e-02, 4.87131178e-02]  # sentence-transformers/all-MiniLM-L6-v2, its model card
    assert np.allclose(bundled.embed(["This is an example sentence"])[0][:3], published, atol=1e-4)


def test_parts_are_unit_vectors_that_have_seen_their_context(bundled):
    abstract = next(iter(read(SEEDS))).abstract
    spans = sentences(abstract)
    whole, *parts = bundled.embed_parts(abstract, spans)
    assert np.array_equal(whole, bundled.embed([abstract])[0]) and len(parts) == len(spans)
    assert np.allclose(np.linalg.norm(parts, axis=1), 1, atol=1e-5)
    alone = bundled.embed([abstract[start:end] for start, end in spans])
    assert all(0.4 < float(one @ other) < 0.999 for one, other in zip(parts, alone))


def test_a_part_without_a_token_of_its_own_stands_for_the_whole(bundled):
    whole, part = bundled.embed_parts("Some text.", [Span(4, 5)])
    assert np.array_equal(whole, part)


def test_every_sentence_of_a_text_over_the_models_limit_is_embedded(bundled):
    text = " ".join(record.abstract for record in list(read(SEEDS))[:5])
    spans = sentences(text)
    matrix = bundled.embed_parts(text, spans)
    assert len(text.split()) > MAX_TOKENS * 1.5 and np.allclose(np.linalg.norm(matrix, axis=1), 1, atol=1e-5)
    assert len(np.unique(matrix.round(4), axis=0)) == len(spans) + 1  # none fell back to the whole
    alone = bundled.embed([text[start:end] for start, end in spans])
    assert np.mean(np.argmax(alone @ matrix[1:].T, axis=1) == np.arange(len(spans))) > 0.8


def test_threads_share_one_model(bundled):
    rows: list[np.ndarray] = []
    threads = [threading.Thread(target=lambda: rows.append(bundled.embed(TEXTS))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(rows) == 4 and all(np.array_equal(row, rows[0]) for row in rows)


def test_a_damaged_model_file_is_a_clear_error(tmp_path):
    from rag.embedding import MODEL_FOLDER

    shutil.copy(MODEL_FOLDER / "tokenizer.json", tmp_path)
    (tmp_path / "model.onnx").write_bytes(b"not a model")
    with pytest.raises(LibraryDamaged, match="can't be loaded .*Reinstall"):
        BundledEmbedder(tmp_path).embed(["x"])


# An endpoint


class Endpoint(BaseHTTPRequestHandler):
    """Answers with one vector a text, or with what the test says; remembers every request."""

    requests: list[tuple[dict[str, str], Any]]
    reply: Any

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        type(self).requests.append((dict(self.headers), body))
        status, answer, headers = self.reply(body)
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(json.dumps(answer).encode())

    def log_message(self, *_: Any) -> None:
        pass


def vectors(body: dict[str, Any]) -> tuple[int, Any, dict[str, str]]:
    rows = [{"object": "embedding", "index": n, "embedding": [len(text), 1.0, n]} for n, text in enumerate(body["input"])]
    return 200, {"object": "list", "data": rows[::-1], "model": "m"}, {}


@pytest.fixture
def endpoint():
    handler = type("Handler", (Endpoint,), {"requests": [], "reply": staticmethod(vectors)})
    server = HTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    handler.url = f"http://127.0.0.1:{server.server_port}/v1"
    yield handler
    server.shutdown()
    server.server_close()


def test_an_endpoints_vectors_come_back_in_order_at_unit_length_in_batches(endpoint):
    embedder = EndpointEmbedder("m", endpoint.url, "k")
    texts = ["x" * n for n in range(1, 101)]
    matrix = embedder.embed(texts)
    expected = np.array([[len(text), 1.0, n % 64] for n, text in enumerate(texts)])
    assert np.allclose(matrix, expected / np.linalg.norm(expected, axis=1, keepdims=True), atol=1e-6)
    assert [len(body["input"]) for _, body in endpoint.requests] == [64, 36]


def test_an_endpoint_embeds_a_whole_text_and_its_parts_together(endpoint):
    assert EndpointEmbedder("m", endpoint.url, "k").embed_parts("One. Two.", [Span(0, 4), Span(5, 9)]).shape == (3, 3)
    assert endpoint.requests[0][1]["input"] == ["One. Two.", "One.", "Two."]


@pytest.mark.parametrize(
    "reply, says",
    [
        (lambda body: (200, {"data": []}, {}), "vectors that can't be used"),
        (lambda body: (200, {"data": [{"index": 0, "embedding": [0, 0]}]}, {}), "vectors that can't be used"),
        (lambda body: (200, {"data": [{"index": 0, "embedding": [1e400, 1]}]}, {}), "can't be used"),
        (lambda body: (200, {"data": [{"index": 0, "embedding": "abc"}]}, {}), "vectors that can't be used"),
        (lambda body: (200, {"choices": []}, {}), "no usable answer"),
        (lambda body: (401, {"error": "no"}, {}), "refused the key. Set ASKPAPERS_EMBEDDING_API_KEY"),
        (lambda body: (404, {"error": "no"}, {}), "error 404. Does it serve this embedding model?"),
        (lambda body: (302, {}, {"Location": "http://127.0.0.1:1/elsewhere"}), "error 302"),
    ],
)
def test_a_failing_endpoint_is_an_error_that_says_what_to_do_and_no_secret(endpoint, reply, says):
    endpoint.reply = staticmethod(reply)
    with pytest.raises(EmbeddingFailed) as caught:
        EndpointEmbedder("m", endpoint.url, "sk-secret").embed(["x"])
    assert says in str(caught.value) and "sk-secret" not in str(caught.value)


def test_a_server_that_is_not_there_is_an_error_that_says_so(monkeypatch):
    embedder = EndpointEmbedder("m", "http://127.0.0.1:9/v1", "sk-secret")
    monkeypatch.setattr("time.sleep", lambda seconds: None)  # the client's pause between attempts
    with pytest.raises(EmbeddingFailed, match="can't be reached"):
        embedder.embed(["x"])


# Which embedder, and whose key


def sent_key(endpoint: Any, settings: Settings) -> str:
    make_embedder(settings).embed(["x"])
    return endpoint.requests[-1][0]["Authorization"]


def test_the_bundled_model_is_used_unless_another_is_named():
    assert isinstance(make_embedder(Settings(model="gpt", api_key=Secret("k"))), BundledEmbedder)
    embedder = make_embedder(Settings(embedding_model="m", embedding_base_url="http://user.example:8080/v1"))
    assert embedder.fingerprint == "m@user.example:8080"


def test_a_key_goes_to_its_own_host_only(endpoint):
    key = Secret("sk-chat")
    assert sent_key(endpoint, Settings(embedding_model="m", base_url=endpoint.url, api_key=key)) == "Bearer sk-chat"
    assert (
        sent_key(endpoint, Settings(embedding_model="m", base_url=endpoint.url, embedding_base_url=endpoint.url, api_key=key))
        == "Bearer sk-chat"
    )
    other = Settings(embedding_model="m", base_url="https://elsewhere.example/v1", embedding_base_url=endpoint.url, api_key=key)
    assert sent_key(endpoint, other) == "Bearer none"
    assert sent_key(endpoint, Settings(embedding_model="m", embedding_base_url=endpoint.url, api_key=key)) == "Bearer none"  # key of OpenAI
    assert (
        sent_key(endpoint, Settings(embedding_model="m", embedding_base_url=endpoint.url, embedding_api_key=Secret("sk-e")))
        == "Bearer sk-e"
    )


def test_openais_own_host_has_one_key_however_it_is_written():
    settings = Settings(embedding_model="m", embedding_base_url="https://api.openai.com/v1", api_key=Secret("sk-chat"))
    assert make_embedder(settings)._api_key == "sk-chat"


def test_an_address_in_the_environment_does_not_attract_the_key(endpoint, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
    embedder = make_embedder(Settings(embedding_model="m", api_key=Secret("sk-chat"), timeout=0.2))
    monkeypatch.setattr(embedder, "_timeout", 0.2)
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    resolve = socket.getaddrinfo

    def only_here(host: str, *rest: Any, **options: Any) -> Any:
        if host not in ("127.0.0.1", b"127.0.0.1"):
            raise OSError("no network in tests")
        return resolve(host, *rest, **options)

    monkeypatch.setattr(socket, "getaddrinfo", only_here)
    with pytest.raises(EmbeddingFailed):
        embedder.embed(["x"])
    assert endpoint.requests == []


def test_a_key_shows_in_no_repr():
    assert "sk-secret" not in repr(EndpointEmbedder("m", "http://localhost/v1", "sk-secret"))
