"""Hypothesis strategies that damage valid files: bytes of any kind, and values of JSON."""

import copy
import json
import struct
from typing import Any

from hypothesis import strategies as st

# Sizes and counts that readers have been caught with.
_NUMBERS = (0, 1, 2, 0x7F, 0xFF, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF, 0x1FFF_FFFF, 1 << 20)
_WIDE_NUMBERS = (*_NUMBERS, 1 << 32, 1 << 40, (1 << 63) - 1, 1 << 63, (1 << 64) - 1)
_TEXTS = (b"[", b"{", b'"', b"\t", b"\n", b"-1", b"1e999", b"NaN", b"9" * 30, b"\0", b"\xff")


@st.composite
def damaged_bytes(draw: st.DrawFn, files: tuple[bytes, ...]) -> bytes:
    """One of the files after one to four kinds of damage."""
    content = bytearray(draw(st.sampled_from(files)))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(content)))
        damage = draw(st.sampled_from(_DAMAGES))
        damage(draw, content, at, files)
    return bytes(content)


def _flip(draw: st.DrawFn, content: bytearray, at: int, _: tuple[bytes, ...]) -> None:
    if at < len(content):
        content[at] ^= 1 << draw(st.integers(0, 7))


def _cut(_draw: st.DrawFn, content: bytearray, at: int, _: tuple[bytes, ...]) -> None:
    del content[at:]


def _remove(draw: st.DrawFn, content: bytearray, at: int, _: tuple[bytes, ...]) -> None:
    del content[at : at + draw(st.integers(1, 64))]


def _insert(draw: st.DrawFn, content: bytearray, at: int, _: tuple[bytes, ...]) -> None:
    content[at:at] = draw(st.one_of(st.sampled_from(_TEXTS), st.binary(max_size=16)))


def _repeat(draw: st.DrawFn, content: bytearray, at: int, _: tuple[bytes, ...]) -> None:
    chunk = bytes(content[at : at + draw(st.integers(1, 256))])
    content[at:at] = chunk * draw(st.integers(1, 4))


def _splice(draw: st.DrawFn, content: bytearray, at: int, files: tuple[bytes, ...]) -> None:
    other = draw(st.sampled_from(files))
    content[at:] = other[draw(st.integers(0, len(other))) :]


def _lie(draw: st.DrawFn, content: bytearray, at: int, _: tuple[bytes, ...]) -> None:
    """Write a number over 4 or 8 bytes, most likely over a field: those are aligned."""
    at -= at % draw(st.sampled_from((1, 4)))
    order = draw(st.sampled_from("<>"))
    wide = draw(st.booleans())
    number = draw(st.sampled_from(_WIDE_NUMBERS if wide else _NUMBERS))
    field = struct.pack(order + ("Q" if wide else "I"), number)
    content[at : at + len(field)] = field


_DAMAGES = (_flip, _cut, _remove, _insert, _repeat, _splice, _lie, _lie)

_LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from((0, -1, 1 << 31, 1 << 32, 1 << 63, 1 << 64, 10**400, -(10**400))),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(("(1,", "(0,)*9", "9" * 5000, "null", "Dense", "__shape__", "(" * 300)),
)
_VALUES = st.recursive(
    _LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
)


@st.composite
def damaged_json(draw: st.DrawFn, files: tuple[bytes, ...]) -> bytes:
    """One of the files with one to four of its values changed, removed, doubled or exchanged."""
    value = json.loads(draw(st.sampled_from(files)))
    for _ in range(draw(st.integers(1, 4))):
        places = list(_places(value))
        if not places:
            break
        holder, key = draw(st.sampled_from(places))
        _change(draw, holder, key, places)
    return json.dumps(value).encode()


def _change(draw: st.DrawFn, holder: Any, key: Any, places: list[tuple[Any, Any]]) -> None:
    action = draw(st.sampled_from(("set", "number", "remove", "double", "exchange")))
    if action == "set":
        holder[key] = draw(_VALUES)
    elif action == "number":
        holder[key] = draw(st.integers(-2, 40))
    elif action == "remove":
        del holder[key]
    elif action == "double" and isinstance(holder, list):
        holder.insert(key, copy.deepcopy(holder[key]))
    else:
        other, other_key = draw(st.sampled_from(places))
        holder[key] = copy.deepcopy(other[other_key])


def _places(value: Any) -> Any:
    """Give each item inside a value as (list or dict that holds it, index or key)."""
    keys = list(value) if isinstance(value, dict) else range(len(value))
    for key in keys:
        yield value, key
        if isinstance(value[key], dict | list):
            yield from _places(value[key])
