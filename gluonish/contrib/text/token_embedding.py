"""TokenEmbedding: a vocabulary with a vector for each of its tokens."""

import json
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from gluonish.contrib.text.vector_file import read_vectors
from gluonish.core.config import MXNET_HOME
from gluonish.core.errors import ArgumentError, ArgumentTypeError, KeyLookupError, nearest
from gluonish.core.files import AnyPath, path_text
from gluonish.core.numpy_mode import is_np_array
from gluonish.gluon.contrib.data.text import Vocabulary, get_published_file
from gluonish.ndarray import NDArray, array, concat

InitVector = Callable[..., Any]


def _as_current(x: NDArray) -> NDArray:
    """Return an array as an ``mx.np`` array while `is_np_array` is on."""
    found: NDArray = x.as_np_ndarray() if is_np_array() else x
    return found


def published_hashes(name: str) -> Mapping[str, Mapping[str, str]]:
    """Return the SHA-1 of an embedding's published ``archives`` and of the ``files`` in them.

    Args:
        name: Name of the embedding in lower case.
    """
    text = Path(__file__).with_name("embedding_hashes.json").read_text("utf-8")
    hashes: Mapping[str, Mapping[str, str]] = json.loads(text)[name]
    return hashes


class TokenEmbedding(Vocabulary):
    """A vocabulary with a vector for each token; base class of embeddings.

    The unknown token has the index 0. A subclass with published files lists them in
    ``pretrained_file_name_sha1``.

    Args:
        **kwargs: Arguments of `Vocabulary`.

    Attributes:
        vec_len: Length of a vector.
        idx_to_vec: The vectors by token index, shape (tokens, vec_len).
        pretrained_file_name_sha1: SHA-1 of each published file, by its name.
        pretrained_archive_name_sha1: SHA-1 of the archives that contain them.
    """

    pretrained_file_name_sha1: ClassVar[Mapping[str, str]] = {}
    pretrained_archive_name_sha1: ClassVar[Mapping[str, str]] = {}

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._idx_to_vec: NDArray | None = None

    @property
    def vec_len(self) -> int:
        """Length of the vectors.

        Raises:
            ArgumentError: No vectors were loaded.
        """
        return int(self._table().shape[1])

    @property
    def idx_to_vec(self) -> NDArray:
        """The vectors, (tokens, vec_len); row i belongs to the token with index i.

        Raises:
            ArgumentError: No vectors were loaded.
        """
        return _as_current(self._table())

    def _table(self) -> NDArray:
        if self._idx_to_vec is None:
            raise ArgumentError(
                f"{type(self).__name__}: expected loaded vectors, got none; use GloVe, FastText or "
                "CustomEmbedding"
            )
        return self._idx_to_vec

    def get_vecs_by_tokens(self, tokens: str | list[str], lower_case_backup: bool = False) -> Any:
        """Return the vectors of tokens; unknown tokens get the vector of the unknown token.

        Args:
            tokens: A token, or a list of tokens.
            lower_case_backup: Whether to look up an unknown token in lower case, too.

        Returns:
            Shape (vec_len,) for a token, (tokens, vec_len) for a list.

        Raises:
            ArgumentError: The list is empty.
        """
        names: list[Any] = tokens if isinstance(tokens, list) else [tokens]
        if not names:
            raise ArgumentError(
                f"{type(self).__name__}.get_vecs_by_tokens: expected at least one token, got []"
            )
        if lower_case_backup:
            known = self._token_to_idx
            names = [token if token in known else token.lower() for token in names]
        vectors = self._table().take(array(self.to_indices(names), dtype="int32"))
        return _as_current(vectors if isinstance(tokens, list) else vectors[0])

    def update_token_vectors(self, tokens: str | list[str], new_vectors: NDArray) -> None:
        """Replace the vectors of tokens.

        Args:
            tokens: A token, or a list of tokens. To change the vector of unknown tokens, name the
                unknown token itself.
            new_vectors: Shape (tokens, vec_len), or (vec_len,) for a single token.

        Raises:
            ArgumentTypeError: ``new_vectors`` is not an NDArray.
            ArgumentError: A token is unknown, or the shape does not match.
        """
        who = f"{type(self).__name__}.update_token_vectors"
        names: list[Any] = tokens if isinstance(tokens, list) else [tokens]
        if not isinstance(new_vectors, NDArray):
            raise ArgumentTypeError(
                f"{who}: expected an NDArray as new_vectors, got {type(new_vectors).__name__}"
            )
        for token in names:
            if token not in self._token_to_idx:
                raise ArgumentError(
                    f"{who}: expected tokens of the vocabulary, got {token!r}; to change the "
                    f"vector of unknown tokens name {self.unknown_token!r}"
                )
        shape = (len(names), self.vec_len)
        if new_vectors.shape != shape and (len(names) != 1 or new_vectors.shape != shape[1:]):
            raise ArgumentError(f"{who}: expected new_vectors {shape}, got {new_vectors.shape}")
        rows = array(self.to_indices(names), dtype="int32")
        self._table()[rows] = new_vectors.as_nd_ndarray().reshape(shape)

    def _load_embedding(
        self,
        pretrained_file_path: str,
        elem_delim: str,
        init_unknown_vec: InitVector | None,
        encoding: str = "utf8",
    ) -> None:
        """Load tokens and vectors from a file; tokens not in it get the unknown token's vector."""
        path = str(Path(path_text(pretrained_file_path, type(self).__name__)).expanduser())
        logging.info("Loading pre-trained token embedding vectors from %s", path)
        tokens, vectors, unknown = read_vectors(path, elem_delim, encoding, self.unknown_token)
        if unknown is None:
            unknown = self._initial_vector(init_unknown_vec, vectors.shape[1])
        rows = {token: row for row, token in enumerate(tokens)}
        known = [vectors[rows[t]] if t in rows else unknown for t in self._idx_to_token]
        is_new = [t not in self._token_to_idx for t in tokens]
        for token, new in zip(tokens, is_new, strict=True):
            if new:
                self._add(token)
        table = np.concatenate([np.stack(known), vectors[np.array(is_new, bool)]])
        self._idx_to_vec = array(table, dtype="float32")

    def _initial_vector(self, init: InitVector | None, length: int) -> Any:
        who = type(self).__name__
        if not callable(init):
            raise ArgumentTypeError(
                f"{who}: expected init_unknown_vec as a function of `shape`, as the file has no "
                f"vector of {self.unknown_token!r}, got {init!r}"
            )
        made = init(shape=length)
        vector = made.asnumpy() if isinstance(made, NDArray) else np.asarray(made, np.float32)
        if vector.shape != (length,):
            raise ArgumentError(
                f"{who}: expected init_unknown_vec to return shape {(length,)}, got {vector.shape}"
            )
        return vector

    def _build_embedding_for_vocabulary(self, vocabulary: Vocabulary | None) -> None:
        """Switch to another vocabulary, with this embedding's vectors for its tokens."""
        if vocabulary is not None:
            self._combine(vocabulary, [self])

    def _combine(self, vocabulary: Vocabulary, embeddings: Sequence["TokenEmbedding"]) -> None:
        """Set the vocabulary, and concatenate each token's vectors from several embeddings."""
        if not isinstance(vocabulary, Vocabulary):
            raise ArgumentTypeError(
                f"{type(self).__name__}: expected a Vocabulary, got {type(vocabulary).__name__}"
            )
        vectors = [
            embedding.get_vecs_by_tokens(vocabulary.idx_to_token).as_nd_ndarray()
            for embedding in embeddings
        ]
        for table, embedding in zip(vectors, embeddings, strict=True):
            # The embedding may have a different unknown token, or know the vocabulary's as a word.
            table[0] = embedding.idx_to_vec.as_nd_ndarray()[0]
        joined = concat(*vectors, dim=1)
        self._unknown_token = vocabulary.unknown_token
        self._reserved_tokens = vocabulary.reserved_tokens
        self._idx_to_token = list(vocabulary.idx_to_token)
        self._token_to_idx = dict(vocabulary.token_to_idx)
        self._idx_to_vec = joined

    @classmethod
    def _get_download_file_name(cls, pretrained_file_name: str) -> str:
        """Return the name of the archive that contains a file; by default the file's name."""
        return pretrained_file_name

    @classmethod
    def _check_pretrained_file_names(cls, pretrained_file_name: str) -> None:
        names = cls.pretrained_file_name_sha1
        if pretrained_file_name not in names:
            shown = f"{', '.join(names)}" if len(names) <= 20 else f"{len(names)} names"
            raise KeyLookupError(
                f"{cls.__name__}: expected a pretrained file among {shown}, got "
                f"{pretrained_file_name!r}{nearest(pretrained_file_name, names)}; "
                "get_pretrained_file_names lists them"
            )

    @classmethod
    def _get_pretrained_file(cls, embedding_root: AnyPath | None, pretrained_file_name: str) -> str:
        """Return the path of a published file, downloaded if it is missing."""
        cls._check_pretrained_file_names(pretrained_file_name)
        name = cls.__name__.lower()
        root = os.path.join(MXNET_HOME.value, "embeddings")
        if embedding_root is not None:
            root = path_text(embedding_root, f"{cls.__name__}: embedding_root")
        archive = cls._get_download_file_name(pretrained_file_name)
        path = get_published_file(
            Path(root).expanduser() / name / pretrained_file_name,
            cls.pretrained_file_name_sha1[pretrained_file_name],
            f"gluon/embeddings/{name}",
            archive,
            cls.pretrained_archive_name_sha1.get(archive),
        )
        return str(path)
