"""Checks of what objects show in a notebook."""

import re
from html import unescape
from html.parser import HTMLParser
from typing import Any

_VOID = {"img", "br"}


class _Balanced(HTMLParser):
    """Checks that tags are closed in order, that nothing runs, and that nothing is fetched."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag not in ("script", "iframe", "object", "embed", "link")
        for name, value in attrs:
            assert not name.startswith("on")
            assert name != "href"
            assert name != "src" or str(value).startswith("data:image/png;base64,")
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def check_html(html: Any) -> str:
    """Check that HTML is self-contained, well-formed and without scripts; return it."""
    assert isinstance(html, str)
    parser = _Balanced()
    parser.feed(html)
    parser.close()
    assert parser.open == []
    return html


def text_of(html: Any) -> str:
    """Return the text that is read, with single spaces."""
    visible = re.sub(r"<style>.*?</style>", "", str(html), flags=re.DOTALL)
    visible = re.sub(r"</?(b|span)\b[^>]*>", "", visible)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", visible)).split())
