"""How papers lie in SQLite: the tables, and a Paper as a row of them.

Pure but for the vocabulary of SQL. Raise SCHEMA when a table changes, and say in `Store` what becomes of older files.
"""

from __future__ import annotations

import hashlib
import json
from typing import Sequence

from .papers import Paper, fold

SCHEMA = "1"
TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE papers (
    id TEXT PRIMARY KEY, stamp TEXT NOT NULL UNIQUE, revision INTEGER NOT NULL, content TEXT NOT NULL,
    title TEXT NOT NULL, abstract TEXT NOT NULL, authors TEXT NOT NULL, year INTEGER, venue TEXT NOT NULL,
    url TEXT NOT NULL, doi TEXT NOT NULL, keywords TEXT NOT NULL, source TEXT NOT NULL);
CREATE INDEX papers_by_revision ON papers (revision);
CREATE INDEX papers_by_content ON papers (content);
CREATE TABLE passages (
    stamp TEXT NOT NULL, number INTEGER NOT NULL, start INTEGER NOT NULL, stop INTEGER NOT NULL,
    PRIMARY KEY (stamp, number)) WITHOUT ROWID;
CREATE TABLE removed (stamp TEXT PRIMARY KEY, passages INTEGER NOT NULL, revision INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE vectors (
    stamp TEXT NOT NULL, fingerprint TEXT NOT NULL, dimension INTEGER NOT NULL, passages INTEGER NOT NULL, rows BLOB NOT NULL,
    PRIMARY KEY (stamp, fingerprint));
"""
COLUMNS = "id, title, abstract, authors, year, venue, url, doi, keywords, source"
UPSERT = (
    f"INSERT INTO papers (id, stamp, revision, content, {COLUMNS.removeprefix('id, ')}) VALUES ({', '.join('?' * 13)})"
    " ON CONFLICT (id) DO UPDATE SET "
    + ", ".join(f"{name} = excluded.{name}" for name in ("stamp", "revision", "content", *COLUMNS.split(", ")[1:]))
)
NO_PAPERS = 0
"""The corpus hash of a library without papers."""


def content_key(abstract: str) -> str:
    """The same for two abstracts whose words are the same; of an abstract without a word, its own text counts."""
    return hashlib.sha256((fold(abstract) or abstract).encode()).hexdigest()[:16]


def row_of(paper: Paper) -> tuple:
    """The paper's values in the order of COLUMNS, without its id."""
    authors, keywords = (json.dumps(list(names), ensure_ascii=False) for names in (paper.authors, paper.keywords))
    return (paper.title, paper.abstract, authors, paper.year, paper.venue, paper.url, paper.doi, keywords, paper.source)


def paper_of(row: Sequence) -> Paper:
    paper_id, title, abstract, authors, year, venue, url, doi, keywords, source = row
    return Paper(paper_id, title, abstract, tuple(json.loads(authors)), year, venue, url, doi, tuple(json.loads(keywords)), source)


def digest(paper: Paper) -> int:
    return int.from_bytes(hashlib.sha256(json.dumps([paper.id, *row_of(paper)]).encode()).digest(), "big")
