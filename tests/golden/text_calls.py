"""Calls of contrib.text, run by MXNet and by gluonish alike; results as plain lists and dicts."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

COUNTER = {"a": 5, "b": 5, "c": 3, "d": 1, "<unk>": 10, "<pad>": 2}
VOCABULARIES: dict[str, dict[str, Any]] = {
    "all": {},
    "frequent": {"min_freq": 2},
    "two": {"most_freq_count": 2},
    "none": {"most_freq_count": 0},
    "negative": {"most_freq_count": -1},
    "fraction": {"min_freq": 2.5},
    "reserved": {"most_freq_count": 1, "reserved_tokens": ["<pad>", "a"]},
    "empty reserved": {"reserved_tokens": []},
    "other unknown": {"unknown_token": "a"},
}
FILES = {
    "plain": "a 0.1 0.2 0.3\nb 1 2 3\nc 7 8 9\n",
    "unknown": "a 1 2\n<unk> 9 8\nb 3 4\n",
    "spaces": "a 1 2 \nb 3 4  \n\u3000 5 6\n",
}
EMBEDDINGS: dict[str, tuple[str, dict[str, Any]]] = {
    "plain": ("plain", {}),
    "unknown in file": ("unknown", {}),
    "unknown is b": ("unknown", {"unknown_token": "b"}),
    "spaces": ("spaces", {}),
}
TEXTS: dict[str, tuple[Any, ...]] = {
    "lines": (" Life is great ! \n life is good . \n",),
    "lower": (" Life is great ! \n life is good . \n", " ", "\n", True),
    "delimiters": ("a-b--c|d", "-", "[|]"),
    "expression": ("a1b22c", "[0-9]", "\n"),
    "empty": ("",),
}


def embedding_of(found: Any) -> list[Any]:
    """Return what an embedding holds."""
    return [
        found.idx_to_token,
        found.token_to_idx,
        found.idx_to_vec.asnumpy().tolist(),
        found.vec_len,
        found.unknown_token,
        found.reserved_tokens,
        len(found),
    ]


def run(mx: Any, text: Any, folder: Path) -> dict[str, Any]:
    """Return the results by name.

    Args:
        mx: The package.
        text: Its package of texts.
        folder: Where files are written.
    """
    found: dict[str, Any] = {}
    for name, arguments in TEXTS.items():
        found[f"count {name}"] = dict(text.utils.count_tokens_from_str(*arguments))
    for name, settings in VOCABULARIES.items():
        made = text.vocab.Vocabulary(Counter(COUNTER), **settings)
        found[f"vocabulary {name}"] = [
            made.idx_to_token,
            made.token_to_idx,
            made.unknown_token,
            made.reserved_tokens,
            len(made),
            made.to_indices(["b", "nobody", "a"]),
            made.to_indices("b"),
            made.to_tokens([0]),
        ]
    return {**found, **embeddings(mx, text, folder)}


def embeddings(mx: Any, text: Any, folder: Path) -> dict[str, Any]:
    """Return what embeddings hold, and what their methods give."""
    paths = {}
    for name, content in FILES.items():
        paths[name] = str(folder / f"{name}.txt")
        Path(paths[name]).write_text(content, encoding="utf8")
    custom: Callable[..., Any] = text.embedding.CustomEmbedding
    found: dict[str, Any] = {
        f"embedding {name}": embedding_of(custom(paths[file], **settings))
        for name, (file, settings) in EMBEDDINGS.items()
    }
    ones = custom(paths["plain"], init_unknown_vec=mx.nd.ones)
    found["embedding ones"] = embedding_of(ones)
    counter = Counter(["b", "x", "b", "a"])
    words = text.vocab.Vocabulary(counter, reserved_tokens=["<pad>"])
    parts = [custom(paths["plain"]), custom(paths["unknown"])]
    found["for a vocabulary"] = embedding_of(custom(paths["unknown"], vocabulary=words))
    found["composite"] = embedding_of(text.embedding.CompositeEmbedding(words, parts))
    found["composite of one"] = embedding_of(text.embedding.CompositeEmbedding(words, parts[0]))
    for name, arguments in {
        "one": ("b",),
        "unknown": ("nobody",),
        "several": (["b", "B", "nobody"],),
        "backup": (["b", "B", "nobody"], True),
        "backup of one": ("B", True),
    }.items():
        found[f"vectors {name}"] = ones.get_vecs_by_tokens(*arguments).asnumpy().tolist()
    for tokens, values in (
        ("a", [4, 5, 6]),
        (["b"], [3, 3, 3]),
        (["c", "<unk>"], [[1, 1, 1], [2, 2, 2]]),
    ):
        ones.update_token_vectors(tokens, mx.nd.array(values))
    found["updated"] = ones.idx_to_vec.asnumpy().tolist()
    names = text.embedding.get_pretrained_file_names()
    found["files"] = {name: [len(names[name]), names[name][:12]] for name in ("glove", "fasttext")}
    return found
