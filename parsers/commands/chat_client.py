"""The HTTP side of `toolwire chat`: a server is asked, and its stream read.

Everything that can go wrong with a server is a `ToolwireError` with one sentence.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx2

from ..errors import ToolwireError
from ..gateway.sse import DONE, EventSplitter, load_object
from .chat_answer import error_words, finish_reason

Json = dict[str, Any]

_CONNECT_SECONDS, _SILENT_SECONDS = 5.0, 300.0
_MAX_EVENT = 8 * 1024 * 1024


class Server:
    """An OpenAI-compatible server."""

    def __init__(self, base_url: str, api_key: str | None = None) -> None:
        self._base = _checked(base_url)
        self._has_key = bool(api_key)
        self._client = httpx2.Client(
            headers={"Accept-Encoding": "identity"} | _authorization(api_key),
            timeout=httpx2.Timeout(_SILENT_SECONDS, connect=_CONNECT_SECONDS),
        )

    @property
    def name(self) -> str:
        """Its URL, without anything secret."""
        return str(self._base.copy_with(userinfo=b"", query=None))

    def models(self) -> list[str]:
        """The names of the server's models."""
        with self._errors():
            response = self._client.get(self._url("/models"))
        self._refuse_errors(response)
        listed = (load_object(response.content) or {}).get("data")
        entries = listed if isinstance(listed, list) else []
        names = [entry.get("id") for entry in entries if isinstance(entry, dict)]
        found = [name for name in names if isinstance(name, str)]
        if not found:
            raise ToolwireError(f"{self.name} does not say which models it has: use --model")
        return found

    def stream(self, body: Json) -> Iterator[tuple[str, Json | None]]:
        """The events of a streamed answer: the data as it came, and as JSON where it is that."""
        request = self._client.build_request(
            "POST",
            self._url("/chat/completions"),
            content=json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
        )
        with self._errors():
            response = self._client.send(request, stream=True)
        try:
            if response.status_code != 200:
                with self._errors():
                    response.read()
            self._refuse_errors(response)
            self._refuse_other_content(response)
            yield from self._events(response)
        finally:
            response.close()

    def _events(self, response: httpx2.Response) -> Iterator[tuple[str, Json | None]]:
        splitter = EventSplitter(_MAX_EVENT)
        finished = False
        try:
            for data in response.iter_bytes():
                for event in splitter.feed(data):
                    if event.data == DONE:
                        return
                    if event.data is not None:
                        chunk = event.load()
                        finished = finished or (
                            chunk is not None and finish_reason(chunk) is not None
                        )
                        yield event.data.decode(errors="replace"), chunk
        except httpx2.TransportError as error:
            if not finished:  # after that, it only failed to hang up properly
                raise ToolwireError(f"The stream broke off: {_words(error)}") from error
        if not finished:
            raise ToolwireError("The stream broke off: it ended without a finish reason or [DONE]")

    def _url(self, path: str) -> httpx2.URL:
        return self._base.copy_with(path=self._base.path.rstrip("/") + path)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Sentences for a request that gets no answer."""
        try:
            yield
        except httpx2.ConnectTimeout as error:
            raise ToolwireError(
                f"No server answers at {self.name} within {_CONNECT_SECONDS:.0f} s"
            ) from error
        except httpx2.ConnectError as error:
            raise ToolwireError(f"No server answers at {self.name}: {_words(error)}") from error
        except httpx2.ReadTimeout as error:
            raise ToolwireError(
                f"{self.name} has said nothing for {_SILENT_SECONDS:.0f} s"
            ) from error
        except httpx2.HTTPError as error:
            raise ToolwireError(f"{self.name} gave no answer: {_words(error)}") from error

    def _refuse_errors(self, response: httpx2.Response) -> None:
        status = response.status_code
        if status == 200:
            return
        said = error_words(response.content)
        if status in (401, 403):
            wants = "refuses the API key" if self._has_key else "wants an API key"
            hint = "" if self._has_key else "; use --api-key or OPENAI_API_KEY"
            raise ToolwireError(f"{self.name} {wants} (status {status}: {said}{hint})")
        raise ToolwireError(f"{self.name} refused the request (status {status}: {said})")

    def _refuse_other_content(self, response: httpx2.Response) -> None:
        content = response.headers.get("content-type", "no content type").partition(";")[0]
        if content != "text/event-stream":
            raise ToolwireError(
                f"{self.name} sent {content} and no stream of events: is the base URL right?"
            )


def _checked(base_url: str) -> httpx2.URL:
    try:
        url = httpx2.URL(base_url)
    except httpx2.InvalidURL:
        url = httpx2.URL("")
    if url.scheme not in ("http", "https") or not url.host:
        raise ToolwireError(f"--base-url is {base_url!r}: use a URL like http://127.0.0.1:8000/v1")
    return url


def _authorization(api_key: str | None) -> dict[str, str]:
    if not api_key:
        return {}
    if not (api_key.isascii() and api_key.isprintable()):
        raise ToolwireError("The API key has characters that can't be sent: was it copied whole?")
    return {"Authorization": f"Bearer {api_key}"}


def _words(error: Exception) -> str:
    return str(error) or type(error).__name__
