"""Files of a tokenizer in a folder, as Hugging Face's programs write them."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from gluonish.core.errors import FileFormatError, GluonishError, MissingFileError
from gluonish.core.json_text import parse_object
from gluonish.model_zoo.pretrained.hub import TOKENIZER_FILES

SPECIAL = ("bos", "eos", "pad", "unk", "sep", "cls", "mask")
"""Kinds of special tokens."""
SIDES = ("left", "right")
_MOST_NBYTES = 128 << 20  # of tokenizer.json; that of Gemma 3 has 33 MB
_MOST_SMALL_NBYTES = 16 << 20  # of other files


class TokenizerFiles:
    """The files of one folder.

    Args:
        folder: The folder.

    Raises:
        FileFormatError: A file is malformed or too large.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._config = self._json("tokenizer_config.json")
        self._map = self._json("special_tokens_map.json")

    def arguments(self, padding_side: str | None) -> dict[str, Any]:
        """Return the arguments of `Tokenizer`."""
        backend = self._backend()
        side = padding_side or self._config.get("padding_side")
        length: Any = self._config.get("model_max_length")
        known = type(length) in (int, float) and 0 < length < 1 << 31
        return {
            "backend": backend,
            "special": self._special(backend),
            "chat_template": self._template(),
            "max_length": int(length) if known else None,
            "padding_side": side if side in SIDES else "right",
            "source": str(self._folder / "tokenizer.json"),
        } | ({} if padding_side is None else {"padding_side": padding_side})

    def contents(self) -> Iterator[tuple[str, bytes]]:
        """Yield the name and the content of each file that there is, if tokenizer.json is."""
        for name in TOKENIZER_FILES:
            largest = name == TOKENIZER_FILES[0]
            content = self._read(name, _MOST_NBYTES if largest else _MOST_SMALL_NBYTES)
            if content is not None:
                yield name, content
            elif largest:
                return

    def _read(self, name: str, most: int) -> bytes | None:
        path = self._folder / name
        try:
            with path.open("rb") as file:
                content = file.read(most + 1)
        except FileNotFoundError:
            return None
        if len(content) > most:
            raise FileFormatError(f"{path}: expected a file of up to {most} bytes, got more")
        return content

    def _json(self, name: str) -> dict[str, Any]:
        content = self._read(name, _MOST_SMALL_NBYTES)
        return {} if content is None else parse_object(content, str(self._folder / name), "JSON")

    def _backend(self) -> Any:
        tokenizers = import_tokenizers()
        path = self._folder / "tokenizer.json"
        content = self._read(path.name, _MOST_NBYTES)
        if content is None:
            found = ", ".join(sorted(file.name for file in self._folder.iterdir())[:10])
            raise MissingFileError(
                f"Tokenizer.from_pretrained: expected tokenizer.json in {str(self._folder)!r}, got "
                f"{found or 'an empty folder'}"
            )
        try:
            backend = tokenizers.Tokenizer.from_str(content.decode("utf-8"))
        except BaseException as error:
            # The package's panics are no Exceptions.
            if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
                raise
            raise FileFormatError(
                f"{path}: expected a tokenizer of the package tokenizers, got {error!s:.300}"
            ) from error
        self._add_tokens(backend, tokenizers)
        return backend

    def _add_tokens(self, backend: Any, tokenizers: Any) -> None:
        """Add tokens that only tokenizer_config.json has."""
        entries: Any = self._config.get("added_tokens_decoder", {})
        path = self._folder / "tokenizer_config.json"
        if not isinstance(entries, dict) or len(entries) > 1 << 20:
            raise FileFormatError(f"{path}: expected added_tokens_decoder with tokens by id")
        for number, entry in sorted(entries.items(), key=lambda x: x[0].zfill(20)):
            text = _content(entry)
            if text is None or not number.isascii() or not number.isdigit():
                raise FileFormatError(
                    f"{path}: expected a token with its id in added_tokens_decoder, got "
                    f"{number!r:.60}: {entry!r:.100}"
                )
            if backend.token_to_id(text) is None:
                options = ("single_word", "lstrip", "rstrip", "normalized", "special")
                flags = {name: bool(entry[name]) for name in options if name in entry}
                backend.add_tokens([tokenizers.AddedToken(text, **flags)])
            if backend.token_to_id(text) != int(number[:18]):
                raise FileFormatError(
                    f"{path}: expected the id {backend.token_to_id(text)} of tokenizer.json for "
                    f"token {text!r:.100}, got {number:.60}"
                )

    def _special(self, backend: Any) -> dict[str, str]:
        found = {}
        entry: Any
        for kind in SPECIAL:
            name = f"{kind}_token"
            entry = self._config.get(name, self._map.get(name))
            text = _content(entry)
            if entry is not None and text is None:
                raise FileFormatError(
                    f"{self._folder / 'tokenizer_config.json'}: expected {name} as text, got "
                    f"{entry!r:.100}"
                )
            if text is not None and backend.token_to_id(text) is None:
                tokenizers = import_tokenizers()
                backend.add_special_tokens([tokenizers.AddedToken(text, special=True)])
            if text is not None:
                found[kind] = text
        return found

    def _template(self) -> str | dict[str, str] | None:
        content = self._read("chat_template.jinja", _MOST_SMALL_NBYTES)
        found: Any = self._config.get("chat_template")
        path = self._folder / "tokenizer_config.json"
        if content is not None:
            try:
                return content.decode("utf-8")
            except UnicodeDecodeError as error:
                raise FileFormatError(
                    f"{self._folder / 'chat_template.jinja'}: expected text in UTF-8, got {error}"
                ) from error
        if found is None or isinstance(found, str):
            return found
        named: dict[Any, Any] = {}
        for entry in found if isinstance(found, list) else [None]:
            fields = entry if isinstance(entry, dict) else {}
            named[fields.get("name")] = fields.get("template")
        if not all(isinstance(text, str) for item in named.items() for text in item):
            raise FileFormatError(f"{path}: expected chat_template as text, got {found!r:.100}")
        return named


def _content(entry: Any) -> str | None:
    """Return the text of a special token, which may be an object; None if it has none."""
    text = entry.get("content") if isinstance(entry, dict) else entry
    return text if isinstance(text, str) and text else None


def made_files(
    backend: Any,
    special: Mapping[str, str],
    templates: Mapping[str, str],
    max_length: int | None,
    padding_side: str,
) -> dict[str, bytes]:
    """Return the contents of files, by their names, that make a tokenizer again.

    Args:
        backend: A `tokenizers.Tokenizer`.
        special: See `Tokenizer`.
        templates: Chat templates by their names.
        max_length: See `Tokenizer`.
        padding_side: See `Tokenizer`.
    """
    config: dict[str, Any] = {f"{kind}_token": text for kind, text in special.items()}
    config |= {"tokenizer_class": "PreTrainedTokenizerFast", "padding_side": padding_side}
    if max_length is not None:
        config["model_max_length"] = max_length
    found = {"tokenizer.json": backend.to_str().encode()}
    if templates.keys() == {"default"}:
        found["chat_template.jinja"] = templates["default"].encode()
    elif templates:
        config["chat_template"] = [{"name": k, "template": v} for k, v in templates.items()]
    return found | {"tokenizer_config.json": (json.dumps(config, indent=2) + "\n").encode()}


def import_tokenizers() -> Any:
    """Return the package tokenizers.

    Raises:
        GluonishError: It is not installed.
    """
    try:
        import tokenizers
        import tokenizers.decoders
    except ImportError as error:
        raise GluonishError(
            f"Tokenizer: expected the package tokenizers, got {error}; pip install 'gluonish[text]'"
        ) from error
    return tokenizers
