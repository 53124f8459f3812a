"""Metadata of files on a server: requests without content, over one connection."""

from collections.abc import Mapping
from contextlib import ExitStack
from types import TracebackType
from typing import Any, NamedTuple
from urllib.parse import urljoin, urlsplit

from gluonish.core.errors import DownloadError
from gluonish.gluon.download import http_fetch
from gluonish.gluon.download.http_fetch import (
    BearerToken,
    CutOffError,
    RefusedError,
    StallMonitor,
    excerpt,
    transfer_errors,
)

_RETRIES = 4
_MOST_REDIRECTS = 5


class Answer(NamedTuple):
    """An answer to a request without content.

    Attributes:
        status: Status code; 3xx if the content is on another host.
        reason: The status in words.
        headers: Headers by name, in any case.
        url: URL of the answer.
    """

    status: int
    reason: str
    headers: Mapping[str, str]
    url: str


class Prober:
    """Context manager that requests metadata of several files of one host.

    Redirects within the host are followed; no other host receives a request, and so none receives
    the token.

    Args:
        token: Token for the host; empty for none.
        advice: Advice in messages of failed requests.
    """

    def __init__(self, token: str, advice: str) -> None:
        self._auth = BearerToken(token) if token else None
        self._advice = advice
        self._stack = ExitStack()

    def __enter__(self) -> "Prober":
        import requests

        self._session = self._stack.enter_context(requests.Session())
        monitor = StallMonitor(self._session, http_fetch.STALL_S)
        self._monitor = self._stack.enter_context(monitor)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stack.close()

    def head(self, url: str) -> Answer:
        """Request the metadata of a file.

        Raises:
            DownloadError: The server cannot be reached or does not speak HTTP, or answers with a
                transient error again and again.
        """
        attempt = 0
        while True:
            try:
                answer = self._follow(url)
                if answer.status not in http_fetch.TRANSIENT:
                    return answer
                raise CutOffError(f"{answer.status} {answer.reason} from {url}")
            except (CutOffError, RefusedError) as error:
                if http_fetch.is_last(error, attempt, _RETRIES):
                    raise DownloadError(
                        f"download: expected to reach {url}, got {error}; {self._advice}"
                    ) from error
            attempt += 1

    def _follow(self, url: str) -> Answer:
        first = url
        for _ in range(_MOST_REDIRECTS):
            answer = self._request(url)
            location = answer.headers.get("Location", "")
            if answer.status not in (301, 302, 303, 307, 308) or not location:
                return answer
            with transfer_errors():
                target = urljoin(url, location)
                if urlsplit(target)[:2] != urlsplit(first)[:2]:
                    return answer
            url = target
        raise RefusedError(f"more than {_MOST_REDIRECTS} redirects")

    def _request(self, url: str) -> Answer:
        self._monitor.step()
        with transfer_errors():
            response: Any = self._session.head(
                url,
                headers={"Accept-Encoding": "identity"},
                auth=self._auth,
                allow_redirects=False,
                timeout=http_fetch.TIMEOUTS_S,
            )
        response.close()
        return Answer(response.status_code, excerpt(response.reason), response.headers, url)
