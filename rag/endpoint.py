"""What a failing OpenAI-compatible endpoint means, in words for the person who set it up. Never repeats a key.

Imports openai only to tell its errors apart, and only once something has failed.
"""

from __future__ import annotations

from .errors import ModelFailed
from .settings import Settings


def explain(error: Exception, settings: Settings) -> ModelFailed:
    """A sentence on what happened and one on what to do, for any exception that a request to the model raised."""
    import openai

    who = f"{settings.model} at {settings.model_host}"
    if isinstance(error, openai.APITimeoutError):
        return ModelFailed(f"{who} did not answer within {settings.timeout:g} seconds. Try again, or raise ASKPAPERS_TIMEOUT.")
    if isinstance(error, openai.APIConnectionError):
        return ModelFailed(f"{who} can't be reached. Is the server running, and OPENAI_BASE_URL right?")
    if isinstance(error, openai.AuthenticationError):
        return ModelFailed(f"{who} refused the key. Check OPENAI_API_KEY.")
    if isinstance(error, openai.PermissionDeniedError):
        return ModelFailed(f"{who} does not allow this key to use the model.")
    if isinstance(error, openai.NotFoundError):
        return ModelFailed(f"{settings.model_host} knows no model {settings.model}, or OPENAI_BASE_URL lacks its /v1. Check both.")
    if isinstance(error, openai.RateLimitError):
        wait = error.response.headers.get("retry-after", "")
        again = f"in {wait} seconds" if wait.isdigit() else "later"
        return ModelFailed(f"{who} takes no more requests now (rate limit or quota). Try again {again}.")
    if isinstance(error, openai.BadRequestError):
        text = str(error).lower()
        if "context" in text or "too long" in text or "tokens" in text:
            return ModelFailed(f"{who} found the question and its papers too long. Set ASKPAPERS_CONTEXT_TOKENS to its context size.")
        return ModelFailed(f"{who} refused the request (error 400). Is it a chat model?")
    if isinstance(error, openai.APIStatusError):
        if 300 <= error.status_code < 400:
            return ModelFailed(f"{settings.model_host} redirects to another address, which is not followed. Set OPENAI_BASE_URL to the final one.")
        return ModelFailed(f"{who} failed with error {error.status_code}. Try again later.")
    return ModelFailed(f"{who} broke off or gave a reply that can't be read ({type(error).__name__}). Try again.")
