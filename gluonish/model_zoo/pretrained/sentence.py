"""Folders of sentence-transformers: ``modules.json``, with a network, a pooling and perhaps a norm.

A folder has the network itself, ``1_Pooling/config.json``, and the largest number of tokens in
``sentence_bert_config.json``.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from gluonish.core.errors import FileFormatError, NotSupportedError
from gluonish.core.files import open_to_read
from gluonish.core.json_text import parse_json
from gluonish.model_zoo.pretrained.config import Config, read_config

_MODULES, _LIMITS = "modules.json", "sentence_bert_config.json"
_KINDS = ("Transformer", "Pooling", "Normalize")
_MODES = {
    "cls_token": "cls",
    "mean_tokens": "mean",
    "max_tokens": "max",
    "lasttoken": "last",
    "mean_sqrt_len_tokens": None,
    "weightedmean_tokens": None,
}
_NAMES = {"cls": "cls", "mean": "mean", "max": "max", "lasttoken": "last"}
_MAX_NBYTES = 1_000_000


class Stages(NamedTuple):
    """What a ``modules.json`` says.

    Attributes:
        folder: Folder of the network.
        units: Number of features that the pooling expects; None if it does not say it.
        arguments: Arguments of `Embedder`.
        source: Name of the file in messages.
    """

    folder: Path
    units: int | None
    arguments: Mapping[str, Any]
    source: str


def read_stages(path: Path) -> Stages | None:
    """Return what the ``modules.json`` of a folder says; None if there is none.

    Raises:
        FileFormatError: A file is damaged, or a path leaves the folder.
        NotSupportedError: A module, or a setting of one, is not known.
    """
    if not (path / _MODULES).exists():
        return None
    source = str(path / _MODULES)
    found: dict[str, Path] = {}
    for entry in _entries(path / _MODULES):
        kind = str(entry.get("type", "")).rsplit(".", 1)[-1]
        if kind not in _KINDS[len(found) :]:
            raise NotSupportedError(
                f"{source}: expected modules {', '.join(_KINDS)} in this order, got "
                f"{entry.get('type')!r:.80}"
            )
        found[kind] = _inside(path, entry.get("path"), source)
    if list(found)[:2] != list(_KINDS[:2]):
        raise NotSupportedError(
            f"{source}: expected modules Transformer and Pooling, got {', '.join(found)}"
        )
    pooling, units = _pooling(found["Pooling"])
    arguments: dict[str, Any] = {"pooling": pooling, "normalize": "Normalize" in found}
    folder = found["Transformer"]
    if (folder / _LIMITS).exists():
        limits = Config(read_config(folder, _LIMITS), str(folder / _LIMITS))
        arguments["max_length"] = limits.take("max_seq_length", int | None, None)
    return Stages(folder, units, arguments, source)


def _entries(file: Path) -> list[dict[str, Any]]:
    """Return the objects of a JSON list."""
    with open_to_read(file, "from_pretrained") as opened:
        content = opened.read(_MAX_NBYTES + 1)
    what = "a JSON list of modules"
    found = parse_json(content, str(file), what) if len(content) <= _MAX_NBYTES else None
    if not isinstance(found, list) or not all(isinstance(entry, dict) for entry in found):
        raise FileFormatError(
            f"{file}: expected {what} of up to {_MAX_NBYTES} bytes, got something else"
        )
    return found


def _inside(path: Path, name: object, source: str) -> Path:
    """Return a folder inside another one.

    Raises:
        FileFormatError: It is outside.
    """
    if not isinstance(name, str) or "\0" in name or ".." in Path(name).parts:
        inside = False
    else:
        inside = not Path(name).is_absolute()
    if not inside:
        raise FileFormatError(f"{source}: expected a 'path' inside of the folder, got {name!r:.60}")
    return path / str(name)


def _pooling(folder: Path) -> tuple[str, int | None]:
    """Return the pooling, and the number of features."""
    config = Config(read_config(folder), str(folder / "config.json"))
    units = config.take("word_embedding_dimension", int | None, None)
    config.require("include_prompt", True, False)
    if "pooling_mode" in config:
        pooling: str = config.take("pooling_mode", _NAMES)
        config.finish()
        return pooling, units
    modes = {name: config.take(f"pooling_mode_{name}", bool, False) for name in _MODES}
    config.finish()
    chosen = [name for name, used in modes.items() if used]
    if len(chosen) != 1 or _MODES[chosen[0]] is None:
        raise NotSupportedError(
            f"{config.source}: expected one pooling among "
            f"{', '.join(name for name, ours in _MODES.items() if ours)}, got "
            f"{', '.join(chosen) or 'none'}"
        )
    return str(_MODES[chosen[0]]), units


def stage_files(pooling: str, normalize: bool, max_length: int, units: int) -> dict[str, Any]:
    """Return the contents of the files of an `Embedder`, by their paths.

    Args:
        pooling: See `Embedder`.
        normalize: See `Embedder`.
        max_length: See `Embedder`.
        units: Number of features.
    """
    kinds = _KINDS if normalize else _KINDS[:2]
    places = ("", *(f"{i}_{kind}" for i, kind in enumerate(kinds) if i))
    modules = [
        {"idx": i, "name": str(i), "path": place, "type": f"sentence_transformers.models.{kind}"}
        for i, (kind, place) in enumerate(zip(kinds, places, strict=True))
    ]
    settings: dict[str, Any] = {
        f"pooling_mode_{name}": ours == pooling for name, ours in _MODES.items()
    }
    settings["word_embedding_dimension"] = units
    found: dict[str, Any] = {_MODULES: modules, "1_Pooling/config.json": settings}
    found[_LIMITS] = {"max_seq_length": max_length, "do_lower_case": False}
    return found
