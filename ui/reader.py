"""Who is at the page: an unguessable name in a cookie that no script can read, and how often that person may ask.

There are no accounts. Whoever has the cookie has the conversations; what is stored under it is its hash.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Mapping

COOKIE = "askpapers"
_TOKEN = re.compile(r"[A-Za-z0-9_-]{43}")
_KEEP = 400 * 86_400


def owner(cookies: Mapping[str, str]) -> str | None:
    """The name under which this browser's conversations are kept, or None if it has no cookie of ours."""
    token = cookies.get(COOKIE, "")
    return hashlib.sha256(token.encode()).hexdigest() if _TOKEN.fullmatch(token) else None


def cookie(given: str, path: str, secure: bool) -> str:
    """The Set-Cookie header of the page. A browser that has one keeps it, for a year and more from now. (Lax, as with Strict a
    browser that follows a link from elsewhere would send none and be given another.)"""
    token = given if _TOKEN.fullmatch(given) else secrets.token_urlsafe(32)
    return f"{COOKIE}={token}; Path={path or '/'}; Max-Age={_KEEP}; HttpOnly; SameSite=Lax{'; Secure' * secure}"


class Pace:
    """At most `burst` at once and `rate` a second after that, for each name. Remembers the names that came last."""

    def __init__(self, burst: int, rate: float, names: int = 10_000):
        self._burst, self._rate, self._names = burst, rate, names
        self._lock = threading.Lock()
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, name: str) -> float:
        """0 if it may go on, which is then counted, else the seconds until it may."""
        with self._lock:
            now = time.monotonic()
            left, then = self._left.pop(name, (float(self._burst), now))
            left = min(self._burst, left + (now - then) * self._rate)
            short = max(0.0, 1 - left)
            self._left[name] = (left if short else left - 1, now)
            if len(self._left) > self._names:
                self._left.popitem(last=False)
            return short / self._rate


class Limits:
    """How often may be asked: by one browser, and from one address, which may be that of many."""

    def __init__(self) -> None:
        self._person = Pace(burst=60, rate=1)
        self._address = Pace(burst=300, rate=10)

    def refusal(self, person: str | None, address: str) -> str:
        """Why a question can't be asked now, in a sentence; empty if it can."""
        wait = self._address.wait(address) or (self._person.wait(person) if person else 0)
        seconds = max(1, round(wait))
        return f"That were many questions in a short time. Please ask again in {seconds} second{'s' * (seconds > 1)}." if wait else ""
