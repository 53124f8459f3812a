"""Token embeddings: GloVe, fastText, custom files, and concatenations of embeddings."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from gluonish.contrib.text.token_embedding import InitVector, TokenEmbedding, published_hashes
from gluonish.core.errors import ArgumentError, ArgumentTypeError, KeyLookupError, nearest
from gluonish.core.files import AnyPath
from gluonish.core.registry import get_create_func, get_register_func, get_registry
from gluonish.gluon.contrib.data.text import Vocabulary
from gluonish.ndarray import zeros

__all__ = [
    "CompositeEmbedding",
    "CustomEmbedding",
    "FastText",
    "GloVe",
    "create",
    "get_pretrained_file_names",
    "register",
]

_TokenEmbedding = TokenEmbedding  # programs derive custom embeddings from it
_register = get_register_func(TokenEmbedding, "token embedding")
_create = get_create_func(TokenEmbedding, "token embedding")


def register(embedding_cls: type[TokenEmbedding]) -> type[TokenEmbedding]:
    """Class decorator that registers an embedding for `create`, under its lower-case class name.

    Args:
        embedding_cls: Subclass of `TokenEmbedding`, which is returned.

    Raises:
        ArgumentTypeError: ``embedding_cls`` is not a subclass of `TokenEmbedding`.
    """
    registered: type[TokenEmbedding] = _register(embedding_cls)
    return registered


def create(embedding_name: str, **kwargs: Any) -> TokenEmbedding:
    """Return a new embedding.

    Args:
        embedding_name: Name of a registered class, such as ``"glove"`` or ``"fasttext"``.
        **kwargs: Arguments of the class.

    Raises:
        ArgumentError: No such embedding is registered.
    """
    return _create(embedding_name, **kwargs)


def get_pretrained_file_names(embedding_name: str | None = None) -> Any:
    """Return the names of the published files of an embedding.

    Args:
        embedding_name: Name of an embedding in lower case, such as ``"glove"``; None for all.

    Returns:
        A list of names; for all embeddings a dict of such lists.

    Raises:
        ArgumentError: No such embedding is registered.
    """
    names = {
        name: list(found.pretrained_file_name_sha1)
        for name, found in get_registry(TokenEmbedding).items()
        if issubclass(found, TokenEmbedding)
    }
    if embedding_name is None:
        return names
    if embedding_name not in names:
        raise KeyLookupError(
            f"get_pretrained_file_names: expected an embedding among {', '.join(names)}, got "
            f"{embedding_name!r}{nearest(str(embedding_name), names)}"
        )
    return names[embedding_name]


@register
class GloVe(TokenEmbedding):
    """Pretrained GloVe vectors.

    A missing file is downloaded from the repository that ``MXNET_GLUON_REPO`` names.

    References:
        Pennington, Socher and Manning, GloVe: Global Vectors for Word Representation, 2014.

    Args:
        pretrained_file_name: One of ``get_pretrained_file_names("glove")``.
        embedding_root: Folder of the files; ``$MXNET_HOME/embeddings`` by default.
        init_unknown_vec: Function that creates the vector of unknown tokens, called with ``shape``.
        vocabulary: `Vocabulary` of the tokens to load; None loads all of the file.
        **kwargs: Arguments of `Vocabulary`.

    Raises:
        ArgumentError: There is no such file.
        DownloadError: The file cannot be downloaded.
    """

    pretrained_archive_name_sha1: ClassVar[Mapping[str, str]] = published_hashes("glove")[
        "archives"
    ]
    pretrained_file_name_sha1: ClassVar[Mapping[str, str]] = published_hashes("glove")["files"]

    def __init__(
        self,
        pretrained_file_name: str = "glove.840B.300d.txt",
        embedding_root: AnyPath | None = None,
        init_unknown_vec: InitVector | None = zeros,
        vocabulary: Vocabulary | None = None,
        **kwargs: Any,
    ) -> None:
        path = self._get_pretrained_file(embedding_root, pretrained_file_name)
        super().__init__(**kwargs)
        self._load_embedding(path, " ", init_unknown_vec)
        self._build_embedding_for_vocabulary(vocabulary)

    @classmethod
    def _get_download_file_name(cls, pretrained_file_name: str) -> str:
        stem = pretrained_file_name.removesuffix(".txt")
        # The archive contains only this file, or files with several vector lengths.
        archive = f"{stem}.zip"
        if archive in cls.pretrained_archive_name_sha1:
            return archive
        return f"{stem.rpartition('.')[0]}.zip"


@register
class FastText(TokenEmbedding):
    """Pretrained fastText vectors.

    A missing file is downloaded from the repository that ``MXNET_GLUON_REPO`` names.

    References:
        Bojanowski, Grave, Joulin and Mikolov, Enriching Word Vectors with Subword Information,
        2017.

    Args:
        pretrained_file_name: One of ``get_pretrained_file_names("fasttext")``.
        embedding_root: Folder of the files; ``$MXNET_HOME/embeddings`` by default.
        init_unknown_vec: Function that creates the vector of unknown tokens, called with ``shape``.
        vocabulary: `Vocabulary` of the tokens to load; None loads all of the file.
        **kwargs: Arguments of `Vocabulary`.

    Raises:
        ArgumentError: There is no such file.
        DownloadError: The file cannot be downloaded.
    """

    pretrained_archive_name_sha1: ClassVar[Mapping[str, str]] = published_hashes("fasttext")[
        "archives"
    ]
    pretrained_file_name_sha1: ClassVar[Mapping[str, str]] = published_hashes("fasttext")["files"]

    def __init__(
        self,
        pretrained_file_name: str = "wiki.simple.vec",
        embedding_root: AnyPath | None = None,
        init_unknown_vec: InitVector | None = zeros,
        vocabulary: Vocabulary | None = None,
        **kwargs: Any,
    ) -> None:
        path = self._get_pretrained_file(embedding_root, pretrained_file_name)
        super().__init__(**kwargs)
        self._load_embedding(path, " ", init_unknown_vec)
        self._build_embedding_for_vocabulary(vocabulary)

    @classmethod
    def _get_download_file_name(cls, pretrained_file_name: str) -> str:
        return f"{pretrained_file_name.removesuffix('.vec')}.zip"


class CustomEmbedding(TokenEmbedding):
    """Vectors from a file of your own, with a token and its vector's elements on each line.

    Args:
        pretrained_file_path: Path of the file.
        elem_delim: Separator between a token and the elements of its vector.
        encoding: Character encoding, such as ``"utf8"``.
        init_unknown_vec: Function that creates the vector of unknown tokens, if the file has none;
            called with ``shape``, the length of the vector.
        vocabulary: `Vocabulary` of the tokens to load; None loads all of the file.
        **kwargs: Arguments of `Vocabulary`.

    Raises:
        MissingFileError: The file does not exist.
        FileFormatError: The file has a different format.
    """

    def __init__(
        self,
        pretrained_file_path: str,
        elem_delim: str = " ",
        encoding: str = "utf8",
        init_unknown_vec: InitVector | None = zeros,
        vocabulary: Vocabulary | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._load_embedding(pretrained_file_path, elem_delim, init_unknown_vec, encoding)
        self._build_embedding_for_vocabulary(vocabulary)


class CompositeEmbedding(TokenEmbedding):
    """Combines several embeddings: the vector of a token is the concatenation of its vectors.

    Args:
        vocabulary: `Vocabulary` of the tokens.
        token_embeddings: An embedding, or a list of embeddings; they are not changed.

    Raises:
        ArgumentTypeError: A list item is not an embedding, or ``vocabulary`` is not a Vocabulary.
        ArgumentError: The list is empty.
    """

    def __init__(
        self, vocabulary: Vocabulary, token_embeddings: TokenEmbedding | Sequence[TokenEmbedding]
    ) -> None:
        super().__init__()
        embeddings = (
            [token_embeddings] if isinstance(token_embeddings, TokenEmbedding) else token_embeddings
        )
        for embedding in embeddings:
            if not isinstance(embedding, TokenEmbedding):
                raise ArgumentTypeError(
                    "CompositeEmbedding: expected token embeddings, got a "
                    f"{type(embedding).__name__} among them"
                )
        if not embeddings:
            raise ArgumentError("CompositeEmbedding: expected at least one embedding, got none")
        self._combine(vocabulary, embeddings)
