"""Where inline code may break at the end of a line.

A browser breaks after each hyphen, also after the two of an option, and breaks a long name in a
narrow cell of a table at any letter.
"""

import re
from typing import Any

from sphinx.application import Sphinx

_CODE = re.compile(r'<code class="[^"]*\bliteral\b[^"]*">.*?</code>', re.S)
_NAMESPACE = re.compile(r'(?<=<span class="doc">)mx\.[\w.]+(?=</span>)')
_OPTION = re.compile(r'<span class="pre">(?=--?[A-Za-z])')
_WORD = re.compile(r'(?<=<span class="pre">)[^<]{13,}(?=</span>)')
_POINT = re.compile(r"(?<=\w{3}[._(=])(?=\w)|(?<=[a-z]{3})(?=[A-Z][a-z])")


def add_breaks(
    app: Sphinx, name: str, template: str, context: dict[str, Any], doctree: Any
) -> None:
    """Mark options in inline code, and the points at which long names may break."""
    del app, name, template, doctree
    if "body" in context:
        body = _CODE.sub(_with_breaks, context["body"])
        context["body"] = _NAMESPACE.sub(lambda name: name[0].replace(".", ".<wbr>"), body)


def _with_breaks(code: re.Match[str]) -> str:
    text = _WORD.sub(lambda word: _POINT.sub("<wbr>", word[0]), code[0])
    return _OPTION.sub('<span class="pre option">', text)
