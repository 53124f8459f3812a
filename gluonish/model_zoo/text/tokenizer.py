"""Tokenizers of networks for text, by the package `tokenizers`."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.errors import (
    ArgumentError,
    ArgumentTypeError,
    FileFormatError,
    OutOfBoundsError,
    nearest,
    require_text,
)
from gluonish.model_zoo.pretrained.hub import TOKENIZER_FILES, folder_or_snapshot
from gluonish.model_zoo.text.chat_template import ChatTemplate
from gluonish.model_zoo.text.tokenizer_files import (
    SIDES,
    SPECIAL,
    TokenizerFiles,
    import_tokenizers,
)
from gluonish.ndarray import NDArray, array

__all__ = ["Batch", "Tokenizer"]

_MOST_UNUSED_ROWS = 1024  # of an embedding, which may be padded


class Batch(NamedTuple):
    """Texts of different lengths as one array of tokens.

    Attributes:
        tokens: (N, T), int32; padded.
        mask: (N, T), bool: True for tokens of a text, False for padding.
        token_types: (N, T), int32: 1 for tokens of the second text of a pair, else 0.
        valid_length: (N,), int32: number of tokens of each text.
    """

    tokens: NDArray
    mask: NDArray
    token_types: NDArray
    valid_length: NDArray


class Tokenizer:
    """Text to tokens and back, as the network was trained with.

    Args:
        backend: A `tokenizers.Tokenizer`.
        special: Texts of special tokens by kind: ``bos``, ``eos``, ``pad``, ``unk``, ``sep``,
            ``cls``, ``mask``.
        chat_template: Template of jinja2 that makes one text of a conversation; or several by name.
        max_length: Largest number of tokens of the network; None if unknown.
        padding_side: ``"right"`` or ``"left"``, for `batch`.
        source: Name of the file in messages.

    Raises:
        ArgumentError: The side or a kind is not known.
        FileFormatError: A special token is not in the vocabulary.

    Example:
        >>> from gluonish.model_zoo.text import Tokenizer
        >>> tokenizer = Tokenizer.from_pretrained("org/name")  # doctest: +SKIP
        >>> tokenizer.decode(tokenizer.encode("A cat on a mat."))  # doctest: +SKIP
        'A cat on a mat.'
    """

    def __init__(
        self,
        backend: Any,
        special: Mapping[str, str] | None = None,
        chat_template: str | Mapping[str, str] | None = None,
        max_length: int | None = None,
        padding_side: str = "right",
        source: str = "Tokenizer",
    ) -> None:
        self.backend = backend
        self.source = source
        self.max_length = max_length
        self.padding_side = _side(padding_side)
        self.special: dict[str, str] = dict(special or {})
        for kind, text in self.special.items():
            if kind not in SPECIAL:
                known = ", ".join(SPECIAL)
                raise ArgumentError(f"Tokenizer: expected special tokens of {known}, got {kind!r}")
            if self.id_of(text) is None:
                raise FileFormatError(
                    f"{source}: expected the {kind} token in the vocabulary, got {text!r:.100}"
                )
        templates = {"default": chat_template} if isinstance(chat_template, str) else chat_template
        self._templates = {
            name: ChatTemplate(text, source) for name, text in (templates or {}).items()
        }
        backend.no_padding()
        backend.no_truncation()

    @classmethod
    def from_pretrained(
        cls,
        folder: str | os.PathLike[str],
        revision: str | None = None,
        padding_side: str | None = None,
    ) -> "Tokenizer":
        """Return the tokenizer of a folder or of a network of the hub.

        Read are ``tokenizer.json`` and, where they exist, ``tokenizer_config.json``,
        ``special_tokens_map.json`` and ``chat_template.jinja``.

        Args:
            folder: Path of the folder, or ``org/name``, see `model_zoo.from_pretrained`.
            revision: Branch, tag or commit of a network of the hub.
            padding_side: ``"right"`` or ``"left"``; that of the files by default.

        Raises:
            MissingFileError: There is no folder, or no tokenizer.json in it.
            FileFormatError: A file is malformed or too large.
            DownloadError: See `model_zoo.pretrained.hub.snapshot`.
            GluonishError: The package `tokenizers` is not installed.
        """
        required, *optional = TOKENIZER_FILES
        path = folder_or_snapshot(
            folder, revision, "Tokenizer.from_pretrained", [required], optional
        )
        return cls(**TokenizerFiles(path).arguments(padding_side))

    @property
    def bos_id(self) -> int | None:
        """Token that begins a text; None if there is none."""
        return self._special_id("bos")

    @property
    def eos_id(self) -> int | None:
        """Token that ends a text; None if there is none."""
        return self._special_id("eos")

    @property
    def pad_id(self) -> int | None:
        """Token of padding; None if there is none."""
        return self._special_id("pad")

    @property
    def unk_id(self) -> int | None:
        """Token of unknown text; None if there is none."""
        return self._special_id("unk")

    @property
    def mask_id(self) -> int | None:
        """Token that hides a word; None if there is none."""
        return self._special_id("mask")

    def _special_id(self, kind: str) -> int | None:
        return self.id_of(self.special[kind]) if kind in self.special else None

    def id_of(self, token: str) -> int | None:
        """Return the id of a token's text; None if the vocabulary does not have it.

        Args:
            token: The text.
        """
        found: int | None = self.backend.token_to_id(token)
        return found

    def token_of(self, index: int) -> str | None:
        """Return the text of a token, as the vocabulary has it; None if there is none.

        Args:
            index: The id.
        """
        found: str | None = self.backend.id_to_token(_id(index))
        return found

    @cached_property
    def vocab_size(self) -> int:
        """One more than the largest id."""
        ids = self.backend.get_vocab(with_added_tokens=True).values()
        return int(max(ids, default=-1)) + 1

    def check_vocab_size(self, rows: int, what: str) -> None:
        """Check that an embedding belongs to this vocabulary.

        It may have up to 1,024 rows more, because many are padded.

        Args:
            rows: Number of rows of the embedding.
            what: The network, for the message.

        Raises:
            FileFormatError: It has fewer rows, or more.
        """
        if not self.vocab_size <= rows <= self.vocab_size + _MOST_UNUSED_ROWS:
            raise FileFormatError(
                f"{self.source}: expected a vocabulary of the {rows} words of {what}, got "
                f"{self.vocab_size}"
            )

    def encode(
        self,
        text: str,
        pair: str | None = None,
        add_special_tokens: bool = True,
        max_length: int | None = None,
        truncation_side: str = "right",
    ) -> list[int]:
        """Return the tokens of a text.

        Args:
            text: The text.
            pair: A second text; None for none.
            add_special_tokens: Whether to add the tokens that mark beginning, end and pair, as far
                as the network was trained with them.
            max_length: Largest number of tokens, special ones included: the longer text is cut
                first; None for no limit.
            truncation_side: Where a text is cut: ``"right"``, its end, or ``"left"``.

        Raises:
            ArgumentTypeError: It is not text.
            ArgumentError: ``max_length`` has no room for a token of the text.
        """
        texts = [text] if pair is None else [(text, pair)]
        (encoding,) = self._encodings(texts, add_special_tokens, max_length, truncation_side)
        found: list[int] = encoding.ids
        return found

    def decode(self, tokens: Iterable[int], skip_special_tokens: bool = True) -> str:
        """Return the text of tokens.

        Args:
            tokens: Ids, as a list or array.
            skip_special_tokens: Whether special tokens are left out.

        Raises:
            OutOfBoundsError: An id is outside the vocabulary.
        """
        ids = [_id(token) for token in _listed(tokens)]
        for token in ids:
            if not 0 <= token < self.vocab_size:
                raise OutOfBoundsError(
                    f"Tokenizer.decode: expected ids from 0 to {self.vocab_size - 1}, got {token}"
                )
        return str(self.backend.decode(ids, skip_special_tokens=skip_special_tokens))

    def stream(self, tokens: Iterable[int], skip_special_tokens: bool = True) -> Iterator[str]:
        """Yield the text of tokens as they come, each piece when its characters are complete.

        Args:
            tokens: Ids, which may come one after another.
            skip_special_tokens: Whether special tokens are left out.
        """
        decoders = import_tokenizers().decoders
        stream = decoders.DecodeStream(skip_special_tokens=skip_special_tokens)
        for token in tokens:
            piece = stream.step(self.backend, _id(token))
            if piece:
                yield piece

    def batch(
        self,
        texts: Sequence[str] | Sequence[tuple[str, str]],
        add_special_tokens: bool = True,
        max_length: int | None = None,
        padding_side: str | None = None,
        truncation_side: str = "right",
        multiple: int = 1,
        ctx: Any = None,
    ) -> Batch:
        """Return texts as one array of tokens, padded to the longest.

        Padding is the pad token; without one the token that ends a text, which the mask hides.

        Args:
            texts: Texts, or pairs of texts.
            add_special_tokens: See `encode`.
            max_length: See `encode`.
            padding_side: ``"right"``, as encoders want it, or ``"left"``, as generation does; that
                of the tokenizer by default.
            truncation_side: See `encode`.
            multiple: The length is a multiple of it, so that fewer lengths occur.
            ctx: Device of the arrays; the current one by default.

        Raises:
            ArgumentTypeError: These are not texts.
            ArgumentError: There are none, or an option is not known.
        """
        side = self.padding_side if padding_side is None else _side(padding_side)
        if isinstance(texts, str) or not texts:
            raise ArgumentError(f"Tokenizer.batch: expected a list of texts, got {texts!r:.100}")
        if type(multiple) is not int or multiple < 1:
            raise ArgumentError(f"Tokenizer.batch: expected multiple of 1 or more, got {multiple}")
        encodings = self._encodings(texts, add_special_tokens, max_length, truncation_side)
        lengths = np.array([len(encoding) for encoding in encodings], np.int32)
        longest = -(-max(int(lengths.max()), 1) // multiple) * multiple
        padding = next((x for x in (self.pad_id, self.eos_id) if x is not None), 0)
        tokens = np.full((len(lengths), longest), padding, np.int32)
        types, mask = np.zeros_like(tokens), np.zeros(tokens.shape, bool)
        for row, encoding in enumerate(encodings):
            start = longest - len(encoding) if side == "left" else 0
            columns = slice(start, start + len(encoding))
            tokens[row, columns] = encoding.ids
            types[row, columns] = encoding.type_ids
            mask[row, columns] = True
        arrays = [array(x, ctx, x.dtype) for x in (tokens, mask, types, lengths)]
        return Batch(*arrays)

    def apply_chat_template(
        self,
        messages: Sequence[Mapping[str, Any]],
        add_generation_prompt: bool = True,
        template: str | None = None,
        **variables: Any,
    ) -> str:
        """Return a conversation as the one text that the network was trained with.

        `encode` it with ``add_special_tokens=False``: the template has written them.

        Args:
            messages: Messages, each with ``role`` and ``content``.
            add_generation_prompt: Whether the beginning of an answer follows.
            template: Name of the template, if there are several.
            **variables: More variables of the template, such as ``tools``.

        Raises:
            ArgumentError: There is no template, or it refuses the messages.
            ArgumentTypeError: Messages are not lists and dicts of text and numbers.
            FileFormatError: The template fails, reaches what it may not, or does too much.
            GluonishError: The package `jinja2` is not installed.
        """
        if not isinstance(messages, list | tuple) or not all(
            isinstance(message, Mapping) for message in messages
        ):
            raise ArgumentTypeError(
                f"apply_chat_template: expected a list of messages, got {messages!r:.100}"
            )
        default = (
            "tool_use" if "tools" in variables and "tool_use" in self._templates else "default"
        )
        name = default if template is None else template
        if name not in self._templates:
            known = ", ".join(self._templates)
            raise ArgumentError(
                f"apply_chat_template: expected a template of {self.source}"
                f"{f' among {known}' if known else ', which has none'}, got {name!r}"
            )
        special = {f"{kind}_token": text for kind, text in self.special.items()}
        given = {"messages": messages, "add_generation_prompt": add_generation_prompt}
        return self._templates[name].render({"tools": None, **special, **variables, **given})

    def _encodings(
        self,
        texts: Sequence[Any],
        add_special_tokens: bool,
        max_length: int | None,
        truncation_side: str,
    ) -> list[Any]:
        """Return encodings of the package, truncated."""
        for text in texts:
            for part in text if isinstance(text, tuple | list) else (text,):
                require_text(part, "Tokenizer: expected each text or pair")
                _require_unicode(part)
            if not isinstance(text, str) and len(text) != 2:
                raise ArgumentError(f"Tokenizer: expected a text or pair, got {text!r:.100}")
        _side(truncation_side)
        given = [x if isinstance(x, str) else tuple(x) for x in texts]
        if max_length is None:
            made: list[Any] = self.backend.encode_batch(
                given, add_special_tokens=add_special_tokens
            )
            return made
        pairs = [x if isinstance(x, tuple) else (x, None) for x in given]
        return [self._cut(x, add_special_tokens, max_length, truncation_side) for x in pairs]

    def _cut(self, pair: tuple[str, str | None], special: bool, max_length: int, side: str) -> Any:
        """Return the encoding of a text or pair with a limit of its tokens."""
        first: Any = self.backend.encode(pair[0], add_special_tokens=False)
        second: Any = None
        if pair[1] is not None:
            second = self.backend.encode(pair[1], add_special_tokens=False)
        added = self.backend.num_special_tokens_to_add(second is not None) if special else 0
        left = max_length - added if type(max_length) is int else 0
        if left < (1 if second is None else 2):
            raise ArgumentError(
                f"Tokenizer: expected max_length above the {added} special tokens, got {max_length}"
            )
        lengths = [len(first), 0 if second is None else len(second)]
        while sum(lengths) > left:
            longer = 0 if lengths[0] > lengths[1] else 1
            other = lengths[1 - longer]
            # One after another where both are as long, else at once down to the other's length.
            lengths[longer] -= max(1, min(sum(lengths) - left, lengths[longer] - other))
        for encoding, length in zip((first, second), lengths, strict=True):
            if encoding is not None:
                encoding.truncate(length, direction=side)
        return self.backend.post_process(first, second, add_special_tokens=special)

    def __len__(self) -> int:
        """`vocab_size`."""
        return self.vocab_size

    def __repr__(self) -> str:
        """Source, size and special tokens."""
        return f"Tokenizer({self.source!r}, vocab_size={self.vocab_size}, special={self.special})"


def _listed(tokens: Any) -> list[Any]:
    if isinstance(tokens, NDArray):
        tokens = tokens.asnumpy()
    if isinstance(tokens, np.ndarray):
        tokens = tokens.reshape(-1).tolist() if tokens.ndim < 2 else [tokens]
    return [*tokens]


def _id(token: Any) -> int:
    if isinstance(token, NDArray):
        token = token.asnumpy()
    if isinstance(token, int | np.integer) or (np.ndim(token) == 0 and float(token).is_integer()):
        return int(token)
    raise ArgumentTypeError(f"Tokenizer: expected ids as whole numbers, got {token!r:.60}")


def _require_unicode(text: str) -> None:
    """Refuse a text with half of a pair of surrogates, as Python makes of bytes that are no text.

    Raises:
        ArgumentError: It has one.
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ArgumentError(
            f"Tokenizer: expected Unicode text, got {text[error.start]!r} at {error.start}"
        ) from None


def _side(side: str) -> str:
    if side not in SIDES:
        raise ArgumentError(
            f"Tokenizer: expected a side of left, right, got {side!r}{nearest(side, SIDES)}"
        )
    return side
