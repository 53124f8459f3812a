"""from_pretrained and save_pretrained: networks in folders of config.json and model.safetensors."""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from gluonish.core.context import current_context
from gluonish.core.errors import (
    ArgumentError,
    ArgumentTypeError,
    FileFormatError,
    MissingFileError,
    NotSupportedError,
)
from gluonish.core.files import atomic_write, path_text, written_together
from gluonish.core.loading import load
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.initializer import Initializer
from gluonish.model_zoo.generation.generate import Generates
from gluonish.model_zoo.generation.options import options_of, unknown_stored
from gluonish.model_zoo.pretrained.config import Config, read_config
from gluonish.model_zoo.pretrained.families import (
    Family,
    Head,
    body_of,
    family_of,
    family_of_type,
)
from gluonish.model_zoo.pretrained.hub import TOKENIZER_FILES, folder_or_snapshot
from gluonish.model_zoo.pretrained.image_transform import PREPROCESSOR
from gluonish.model_zoo.pretrained.sentence import Stages, read_stages, stage_files
from gluonish.model_zoo.pretrained.timm_vit import (
    is_timm,
    is_vision_transformer,
    vision_transformer,
)
from gluonish.model_zoo.pretrained.weights import (
    Form,
    WeightTable,
    common_dtype,
    floating_dtype,
    setter,
)
from gluonish.model_zoo.text.embedder import Embedder
from gluonish.model_zoo.text.tokenizer import Tokenizer
from gluonish.model_zoo.text.tokenizer_files import TokenizerFiles
from gluonish.ndarray.array_file import open_arrays, write_arrays
from gluonish.ndarray.list_file import StoredArray

__all__ = ["from_pretrained", "load_folder", "save_pretrained"]

_TIMM = "gluonish.model_zoo.pretrained.timm"
_CONFIG = "config.json"
_GENERATION = "generation_config.json"
_PROCESSOR = "processor_config.json"  # of several kinds of input
_WEIGHTS = "model.safetensors"
_INDEX = "model.safetensors.index.json"
# Options of generation that are tokens, which config.json of older folders has.
_TOKENS = (
    *("bos_token_id", "eos_token_id", "pad_token_id", "decoder_start_token_id"),
    *("forced_bos_token_id", "forced_eos_token_id", "suppress_tokens", "begin_suppress_tokens"),
)
# Buffers that files of older versions have, which are computed.
_BUFFERS = ("rotary_emb.inv_freq", "position_ids", "masked_bias")


def load_folder(
    folder: str | os.PathLike[str],
    ctx: Any = None,
    dtype: Any = None,
    mmap: bool = False,
    architecture: str | None = None,
    initializer: Initializer | None = None,
    revision: str | None = None,
    **changes: Any,
) -> Any:
    """Return the network of a folder; see `from_pretrained`."""
    path = folder_or_snapshot(folder, revision, "from_pretrained")
    stages = read_stages(path) if architecture is None else None
    if stages is not None:
        if initializer is not None:
            raise ArgumentError(
                f"from_pretrained: expected no initializer for {str(path)!r}, a network without a "
                "new head, got one; name a head by architecture"
            )
        return _embedder(stages, ctx, dtype, mmap, **changes)
    entries = read_config(path)
    source = str(path / _CONFIG)
    if is_timm(entries) and not is_vision_transformer(entries):
        if architecture is not None:
            raise ArgumentError(
                f"from_pretrained: expected no architecture for {source}, as timm's folders name "
                f"one network, got {architecture!r:.60}"
            )
        opened = partial(_open_weights, path, mmap)
        timm = load(_TIMM)
        return timm.load_timm(entries, source, opened, ctx, dtype, mmap, initializer, changes)
    family, net = _described(entries, source, architecture, changes)
    with _open_weights(path, mmap) as (stored, weights):
        decided = family.decided_by(stored.keys(), net, changes)
        if decided:
            family, net = _described(entries, source, architecture, {**changes, **decided})
        if isinstance(net, Generates):
            net.generation_config = _generation_config(path, entries)
        net._folder = str(path)  # of the tokenizer, which `save_pretrained` writes
        if hasattr(net, "_preprocessor"):
            net._preprocessor = _preprocessor(path)
        kind = common_dtype(stored, weights) if dtype is None else floating_dtype(dtype)
        net.cast(kind)
        table, stored = _table(family, net, stored)
        others = _names_of_heads(family) if architecture is not None else frozenset()
        beginnings = family.others if architecture is not None else ()
        head = "" if body_of(net) is net else "body."
        missing = table.load(
            stored,
            weights,
            setter(current_context() if ctx is None else ctx, mmap),
            lambda path: initializer is not None and _may_begin_new(path, head, family),
            lambda name: (
                name.endswith(_BUFFERS + family.unused)
                or name in others
                or name.startswith(beginnings)
            ),
        )
    if missing and initializer is not None:
        parameters = net._collect_params_with_prefix()
        for name in missing:
            parameters[name].initialize(ctx=ctx, default_init=initializer)
    return net


def _described(
    entries: Mapping[str, Any],
    source: str,
    architecture: str | None,
    changes: Mapping[str, Any],
) -> tuple[Family, HybridBlock]:
    """Return the network, without values, that a config.json describes, and its family."""
    if is_timm(entries) and is_vision_transformer(entries) and architecture is None:
        net = vision_transformer(entries, source, changes)
        return family_of(net), net
    family = family_of_type(entries.get("model_type"), source)
    config = Config(entries, source)
    chosen = _architecture(family, entries, source) if architecture is None else architecture
    family = family.variant(chosen)
    net = family.build(config, chosen, changes)
    net._extras = config.extras()
    return family, net


def _read_folder(path: Path) -> tuple[Family, Config]:
    """Return the family and the settings of the network in a folder."""
    entries, source = read_config(path), str(path / _CONFIG)
    return family_of_type(entries.get("model_type"), source), Config(entries, source)


def _embedder(stages: Stages, ctx: Any, dtype: Any, mmap: bool, **changes: Any) -> Embedder:
    """Return the network of a folder of sentence-transformers.

    Raises:
        FileFormatError: The pooling expects another number of features than the network has.
    """
    own = {name: changes.pop(name) for name in stages.arguments if name in changes}
    architecture = _read_folder(stages.folder)[0].architecture
    body = load_folder(stages.folder, ctx, dtype, mmap, architecture, **changes)
    units = body._arguments.get("units")
    if stages.units not in (None, units):
        raise FileFormatError(
            f"{stages.source}: expected a pooling of {units} features, got {stages.units}"
        )
    return Embedder(body, **{**stages.arguments, **own})


def _may_begin_new(path: str, head: str, family: Family) -> bool:
    """Return whether a parameter may be missing from a file: one of a head, or an optional one."""
    own = path.removeprefix(head)
    return (bool(head) and own == path) or own.startswith(family.optional)


def _generation_config(path: Path, entries: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of generation in a folder; older folders have tokens in config.json."""
    is_stored = (path / _GENERATION).exists()
    names = _TOKENS[:3] if is_stored else _TOKENS
    found = {name: entries[name] for name in names if entries.get(name) is not None}
    if is_stored:
        stored = read_config(path, _GENERATION)
        unknown = unknown_stored(stored)
        if unknown:
            raise NotSupportedError(
                f"{path / _GENERATION}: expected options of generation that are known here, got "
                f"{unknown[0]!r}; remove it, if it does not matter"
            )
        options_of(stored, {})
        found |= stored
    return found


def _preprocessor(path: Path) -> Mapping[str, Any]:
    """Return the settings of a folder's image processor; none without one."""
    if (path / PREPROCESSOR).exists():
        return read_config(path, PREPROCESSOR)
    inner = read_config(path, _PROCESSOR) if (path / _PROCESSOR).exists() else {}
    found = inner.get("image_processor")
    return found if isinstance(found, dict) else {}


def _architecture(family: Family, entries: Mapping[str, Any], source: str) -> str:
    """Return the architecture that a config names; the family's usual one if it names none."""
    named = entries.get("architectures")
    if named is None:
        return next(iter(family.heads), family.architecture)
    if isinstance(named, list) and len(named) == 1 and isinstance(named[0], str):
        return named[0]
    raise FileFormatError(
        f"{source}: expected 'architectures' with the name of one network, got {named!r:.60}"
    )


@contextmanager
def _open_weights(path: Path, mmap: bool) -> Iterator[tuple[Mapping[str, StoredArray], str]]:
    """Open the weights of a folder: tensors by name, and the name of the file."""
    weights = _weights_file(path)
    with open_arrays(weights, mmap) as file:
        yield _stored(file.names, file.arrays, str(weights)), str(weights)


def _weights_file(path: Path) -> Path:
    for name in (_WEIGHTS, _INDEX):
        if (path / name).exists():
            return path / name
    found = sorted(file.name for file in path.iterdir())
    pickled = [name for name in found if name.endswith((".bin", ".pt", ".pth", ".ckpt"))]
    advice = ""
    if pickled:
        advice = f"; {pickled[0]!r} is a pickle, which is never opened here: save it as safetensors"
    raise MissingFileError(
        f"from_pretrained: expected {_WEIGHTS} or {_INDEX} in {str(path)!r}, got "
        f"{', '.join(found[:10])}{advice}"
    )


def _stored(names: list[str], arrays: list[Any], source: str) -> dict[str, StoredArray]:
    if len(names) != len(arrays) or not all(isinstance(array, StoredArray) for array in arrays):
        raise FileFormatError(f"{source}: expected a safetensors file, got another format")
    return dict(zip(names, arrays, strict=True))


def _table(
    family: Family, net: HybridBlock, stored: Mapping[str, StoredArray]
) -> tuple[WeightTable, Mapping[str, StoredArray]]:
    """Return the table of names that fits a file best, and the file's tensors by its names.

    The names of a body may begin with the family's prefix or not; files of old versions name
    weights of normalizations gamma and beta.
    """
    tables = [family.table(net, prefix) for prefix in family.prefixes()]
    if stored.keys() & {name for _, form in family.timm_names for name in _names(form)}:
        tables.append(family.table(net, "", timm=True))
    table = max(tables, key=lambda table: len(table.names() & stored.keys()))
    names = table.names()
    renamed: dict[str, StoredArray] = {}
    for name, array in stored.items():
        new = name
        for old, now in ((".gamma", ".weight"), (".beta", ".bias")):
            if name.endswith(old) and name not in names:
                new = name.removesuffix(old) + now
        renamed[name if new in stored else new] = array
    return table, renamed


def _names_of_heads(family: Family) -> frozenset[str]:
    """Return the names of the weights of all heads of a family."""
    heads: list[Head] = list(family.heads.values())
    return frozenset(
        name
        for head in heads
        for _, theirs in (*head.table({}), *head.timm_names)
        for name in _names(theirs)
    )


def _names(theirs: str | Form) -> tuple[str, ...]:
    return (theirs,) if isinstance(theirs, str) else theirs.names


def from_pretrained(
    folder: str | os.PathLike[str],
    ctx: Any = None,
    dtype: Any = None,
    mmap: bool = False,
    architecture: str | None = None,
    initializer: Initializer | None = None,
    revision: str | None = None,
    **changes: Any,
) -> Any:
    """Return the network in a folder of the kind that Hugging Face's transformers writes.

    ``config.json`` says which network, ``model.safetensors``, or the shards of
    ``model.safetensors.index.json``, have its weights. Both must agree exactly. A ``modules.json``,
    which sentence-transformers writes, makes it an `Embedder` if no architecture is given.

    Args:
        folder: Path of the folder, or ``org/name`` of a network of the hub, which is downloaded
            into the hub's cache (``HF_HOME``) unless it is there.
        ctx: Device, or a list of devices; the current one by default.
        dtype: Element type of the parameters; None for that of most weights.
        mmap: Whether to map the file instead of reading it: weights are read at their first use,
            and several processes share them. See the warning of `mx.nd.load`. Weights of several
            tensors, or of another type, are copied.
        architecture: Name of the network in place of the one in ``config.json``, such as
            ``"LlamaModel"`` for a body without its head, or ``"BertForSequenceClassification"``
            for a body whose new head has no weights yet, which then needs an ``initializer``.
            Weights of other heads are left out.
        initializer: Initializer of a head that the file does not have.
        revision: Branch, tag or commit of a network of the hub; ``"main"`` by default.
        **changes: Arguments of the network's class in place of those of ``config.json``, such as
            ``dropout``.

    Raises:
        MissingFileError: There is no folder, or a file is missing.
        DownloadError: The hub refuses, cannot be reached, or sends something else.
        FileFormatError: A file is damaged, or a setting is missing or out of range.
        NotSupportedError: The network, a setting or a value of it is not known.
        ParameterError: Weights are missing, left over, or have another shape.

    Example:
        >>> import tempfile
        >>> import gluonish as mx
        >>> from gluonish.model_zoo.text import CausalLM, Llama
        >>> net = CausalLM(Llama(32, units=8, hidden_units=16, num_layers=1, num_heads=2))
        >>> net.initialize()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     mx.model_zoo.save_pretrained(net, folder)
        ...     net = mx.model_zoo.from_pretrained(folder)
        >>> net(mx.nd.array([[1, 2, 3]], dtype="int32")).shape
        (1, 3, 32)
    """
    return load_folder(folder, ctx, dtype, mmap, architecture, initializer, revision, **changes)


def save_pretrained(
    net: HybridBlock,
    folder: str | os.PathLike[str],
    max_shard_size: int | str | None = None,
) -> None:
    """Write a network to a folder that transformers and `from_pretrained` load.

    The tokenizer of a network, which is that of its folder unless ``net.tokenizer`` was set, is
    written, too; and what a network for images does to them, its ``transform``, to
    preprocessor_config.json.

    Args:
        net: A network of a family that `from_pretrained` knows.
        folder: Path of the folder, which is made if it does not exist.
        max_shard_size: Bytes of weights in a file, or text such as ``"2GB"`` or ``"500MB"``;
            larger networks are written to several files with an index. None for one file up to
            5 GB.

    Raises:
        NotSupportedError: The network is of no known family.
        ParameterError: A parameter has no values.
        OSError: The folder cannot be written; its files stay as they were.
    """
    limit = _nbytes(max_shard_size)
    path = Path(path_text(folder, "save_pretrained"))
    others: dict[str, bytes] = {}
    if isinstance(net, Embedder):
        stages = stage_files(net.pooling, net.normalize, net.max_length, net.body.units)
        others = {name: _json(content) for name, content in stages.items()}
        net = net.body
    if isinstance(net, Generates) and net.generation_config:
        others[_GENERATION] = _json(dict(net.generation_config))
    tokenizer = _tokenizer_files(net)
    others |= tokenizer
    if hasattr(net, "_timm_name"):
        timm = load(_TIMM)
        tensors, config = timm.timm_table(net).tensors(), timm.describe(net)
    else:
        family = family_of(net)
        tensors = family.table(net, family.prefix_of(net)).tensors()
        config = _merged(family.describe(net), getattr(net, "_extras", {}))
        dtypes = {tensor.dtype.name for tensor in tensors.values()}
        config["dtype"] = dtypes.pop() if len(dtypes) == 1 else "float32"
        described: Any = getattr(net, "preprocessing", dict)
        preprocessing = described()
        if preprocessing:
            others[PREPROCESSOR] = _json(dict(preprocessing))
    total = sum(array.dtype.itemsize * _size(array) for array in tensors.values())
    name, other = (_WEIGHTS, _INDEX) if total <= limit else (_INDEX, _WEIGHTS)
    for place in (path / _CONFIG, *(path / key for key in others)):
        place.parent.mkdir(parents=True, exist_ok=True)
    with written_together(path / _CONFIG, path / name, *(path / key for key in others)):
        for key, content in others.items():
            with atomic_write(path / key) as file:
                file.write(content)
        with atomic_write(path / _CONFIG) as file:
            file.write((json.dumps(config, indent=2, sort_keys=True) + "\n").encode())
        write_arrays(
            path / name,
            list(tensors.values()),
            list(tensors),
            metadata={"format": "pt"},
            max_shard_nbytes=limit if name == _INDEX else None,
        )
    for left in (other, *(key for key in TOKENIZER_FILES if tokenizer and key not in tokenizer)):
        (path / left).unlink(missing_ok=True)


def _json(content: Any) -> bytes:
    return (json.dumps(content, indent=2) + "\n").encode()


def _tokenizer_files(net: Any) -> Mapping[str, bytes]:
    """Return the contents of the files of a network's tokenizer by name; none without one."""
    tokenizer, folder = getattr(net, "_tokenizer", None), getattr(net, "_folder", None)
    if isinstance(tokenizer, Tokenizer):
        return tokenizer.files()
    if tokenizer is not None or folder is None:
        return {}
    return dict(TokenizerFiles(Path(folder)).contents())


def _merged(settings: Mapping[str, Any], extras: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings with the extras of the file that a network was loaded from.

    Names of classes are kept if the network still has as many.
    """
    merged, names = dict(settings), settings.get("id2label", {})
    renamed = len(names) == len(extras.get("id2label") or names)
    for name, value in extras.items():
        known = settings.get(name)
        if "config" in name and isinstance(known, dict) and isinstance(value, dict):
            merged[name] = {**known, **value}
        elif renamed or (known is None and name != "num_labels"):
            merged[name] = value
    return merged


def _size(array: StoredArray) -> int:
    size = 1
    for extent in array.shape:
        size *= extent
    return size


_UNITS = {"KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}


def _nbytes(size: int | str | None) -> int:
    """Return a number of bytes of a number or a text such as ``"2GB"``.

    Raises:
        ArgumentError: The text is no size, or the number is below 1.
    """
    if size is None:
        return 5 * 10**9
    if isinstance(size, bool) or not isinstance(size, int | str):
        raise ArgumentTypeError(
            f"save_pretrained: expected max_shard_size as int or text, got {size!r:.60}"
        )
    if isinstance(size, str):
        number, unit = size[:-2].strip(), size[-2:].upper()
        if unit not in _UNITS or not number.replace(".", "", 1).isdigit():
            raise ArgumentError(
                f"save_pretrained: expected max_shard_size such as '2GB', got {size!r:.60}"
            )
        size = int(float(number) * _UNITS[unit])
    if size < 1:
        raise ArgumentError(f"save_pretrained: expected max_shard_size of 1 or more, got {size}")
    return size
