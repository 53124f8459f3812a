"""Settings of a network in a folder's ``config.json``, and the arguments of ours that they become.

A setting is taken by name, with its type; one that nobody takes is refused by name, as it might
change what the network computes. `COMMON` says which settings no network here depends on.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import UnionType
from typing import Any, Protocol

from gluonish.core.errors import FileFormatError, NotSupportedError, nearest
from gluonish.core.files import open_to_read
from gluonish.core.json_text import parse_object

MOST = 1 << 24  # of a number of units, words, positions ...
MOST_LAYERS = 1024
MOST_EXPERTS = 4096
_MAX_NBYTES = 10_000_000
_REQUIRED: Any = object()

# Of tokens, training and printing: kept for `save_pretrained`, without an effect on the outputs.
COMMON = frozenset({
    *("_name_or_path", "transformers_version", "architectures", "model_type", "dtype"),
    *("auto_map", "torch_dtype", "bos_token_id", "eos_token_id", "pad_token_id", "sep_token_id"),
    *("mask_token_id", "cls_token_id", "unk_token_id", "decoder_start_token_id"),
    *("forced_eos_token_id", "forced_bos_token_id", "suppress_tokens", "begin_suppress_tokens"),
    *("forced_decoder_ids", "id2label", "label2id", "num_labels", "problem_type"),
    *("task_specific_params", "language", "use_cache", "initializer_range", "initializer_factor"),
    *("finetuning_task", "attn_implementation", "_attn_implementation"),
    *("_attn_implementation_autoset", "gradient_checkpointing", "_commit_hash"),
    *("tokenizer_class", "prefix", "max_length", "min_length", "do_sample", "early_stopping"),
    *("num_beams", "temperature", "top_k", "top_p", "length_penalty", "repetition_penalty"),
    *("no_repeat_ngram_size", "num_return_sequences", "output_past", "normalize_before"),
    *("xla_device", "use_bfloat16", "remove_invalid_values", "exponential_decay_length_penalty"),
})  # fmt: skip
# Settings that would change the outputs, with the values that leave them as they are here.
_FIXED: Mapping[str, tuple[Any, ...]] = {
    "add_cross_attention": (False,),
    "chunk_size_feed_forward": (0,),
    "cross_attention_hidden_size": (None,),
    "is_decoder": (False,),
    "is_encoder_decoder": (False,),
    "output_attentions": (False,),
    "output_hidden_states": (False,),
    "pruned_heads": ({}, None),
    "quantization_config": (None,),
    "return_dict": (True,),
    "return_dict_in_generate": (False,),
    "output_scores": (False,),
    "tie_encoder_decoder": (False,),
    "torchscript": (False,),
}


class Config:
    """The object of a ``config.json``, of which settings are taken.

    Args:
        entries: Settings by name.
        source: Name of the file in messages.
    """

    def __init__(self, entries: Mapping[str, Any], source: str) -> None:
        self.entries = dict(entries)
        self.source = source
        self._taken: set[str] = set()
        self._rewritten: set[str] = set()
        self._inner: dict[str, Config] = {}

    def __contains__(self, name: str) -> bool:
        return name in self.entries

    def take(self, name: str, kind: Any, default: Any = _REQUIRED, **limits: float) -> Any:
        """Return a setting.

        Args:
            name: Name of the setting.
            kind: ``int``, ``float``, ``bool``, ``str``, ``list``, ``dict``, or a union with None;
                or a dict of the values that are known, to what is returned for them.
            default: Returned where the setting is missing; without one it must be there.
            **limits: ``least`` and ``most`` of a number; 1 and 2^24 of an int by default.

        Raises:
            FileFormatError: The setting is missing, of another type, or out of range.
            NotSupportedError: The value is not known.
        """
        self._taken.add(name)
        value = self.entries.get(name, default)
        if value is _REQUIRED:
            advice = nearest(name, self.entries)
            raise FileFormatError(f"{self.source}: expected the setting {name!r}, got none{advice}")
        if name not in self.entries:
            return value
        if isinstance(kind, Mapping):
            return self._choose(name, kind, value)
        self._check(name, kind, value, **limits)
        return float(value) if kind is float else value

    def _choose(self, name: str, known: Mapping[Any, Any], value: Any) -> Any:
        if isinstance(value, str | int | None) and value in known:
            return known[value]
        names = ", ".join(map(str, known))
        raise NotSupportedError(
            f"{self.source}: expected {name!r} among {names}, got {value!r:.60}"
        )

    def _check(
        self,
        name: str,
        kind: Any,
        value: Any,
        least: float | None = None,
        most: float | None = None,
    ) -> None:
        accepted = kind | int if _accepts(kind, float) else kind
        right = isinstance(value, accepted)
        if isinstance(value, bool) and not _accepts(kind, bool):
            right = False
        if not right:
            shown = str(kind) if isinstance(kind, UnionType) else kind.__name__
            raise FileFormatError(
                f"{self.source}: expected {name!r} of type {shown}, got {value!r:.60}"
            )
        if isinstance(value, bool) or not isinstance(value, int | float):
            return
        if _accepts(kind, float):
            low, high = -math.inf, 1e30
        else:
            low, high = 1, MOST
        low, high = low if least is None else least, high if most is None else most
        if not low <= value <= high:
            raise FileFormatError(
                f"{self.source}: expected {name!r} from {low} to {high}, got {value!r:.60}"
            )

    def inner(self, name: str, entries: Mapping[str, Any]) -> "Config":
        """Return the settings of a part of the network.

        Args:
            name: Name of the setting that has them.
            entries: The settings.
        """
        self._inner[name] = Config(entries, f"{self.source}: {name!r}")
        return self._inner[name]

    def require(self, name: str, *allowed: Any) -> None:
        """Take a setting of which only some values are supported; the first is the default.

        Raises:
            NotSupportedError: It has another value.
        """
        self._taken.add(name)
        value = self.entries.get(name, allowed[0])
        if not any(value == one and type(value) is type(one) for one in allowed):
            raise NotSupportedError(
                f"{self.source}: expected {name!r} to be {' or '.join(map(repr, allowed))}, got "
                f"{value!r:.60}, which is not supported"
            )

    def ignore(self, *names: str) -> None:
        """Take settings that do not matter for the outputs."""
        self._taken.update(names)

    def finish(self) -> None:
        """Refuse settings that nobody took.

        Raises:
            NotSupportedError: There are such; the message names them.
        """
        for name, allowed in _FIXED.items():
            if name not in self._taken:
                self.require(name, *allowed)
        left = [name for name in self.entries if name not in self._taken | COMMON]
        if left:
            shown = ", ".join(f"{name}={self.entries[name]!r:.60}" for name in left)
            raise NotSupportedError(
                f"{self.source}: expected settings that "
                f"{self.entries.get('model_type')!r} networks have here, got {shown}; a setting "
                "that is not understood is never ignored: remove it, if it does not matter"
            )

    def extras(self) -> dict[str, Any]:
        """Return settings without an effect that nobody took, which `save_pretrained` keeps."""
        written = {"architectures", "model_type", "dtype", "torch_dtype", "transformers_version"}
        kept = COMMON - written - self._rewritten
        found = {k: v for k, v in self.entries.items() if k in kept}
        return found | {name: config.extras() for name, config in self._inner.items()}

    def rewrites(self, *names: str) -> None:
        """Say that the network writes settings itself, which are no extras then."""
        self._rewritten.update(names)


def _accepts(kind: Any, one: type) -> bool:
    return one in getattr(kind, "__args__", (kind,))


def read_config(folder: Path, name: str = "config.json") -> dict[str, Any]:
    """Return the JSON object of a file in a folder.

    Raises:
        FileFormatError: It is not a JSON object, or is too large.
        OSError: The file cannot be read.
    """
    path = folder / name
    with open_to_read(path, "from_pretrained") as file:
        content = file.read(_MAX_NBYTES + 1)
    if len(content) > _MAX_NBYTES:
        raise FileFormatError(f"{path}: expected up to {_MAX_NBYTES} bytes, got more")
    return parse_object(content, str(path), "a JSON object of settings")


class AnySetting(Protocol):
    """Settings, and the arguments of a network's class that they are, in both directions."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the settings."""
        ...

    def read(self, config: Config) -> Mapping[str, Any]:
        """Return arguments by name."""
        ...

    def write(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return settings by name."""
        ...


class Setting:
    """A setting and the argument of a network's class that it is, in both directions.

    Args:
        argument: Name of the argument.
        name: Name of the setting; others that it may have follow.
        kind: See `Config.take`.
        default: The setting's value where it is missing.
        **limits: See `Config.take`.
    """

    def __init__(
        self,
        argument: str,
        name: str | Sequence[str],
        kind: Any = int,
        default: Any = _REQUIRED,
        **limits: float,
    ) -> None:
        self.argument = argument
        self.names = (name,) if isinstance(name, str) else tuple(name)
        self.kind, self.default, self.limits = kind, default, limits

    def read(self, config: Config) -> Mapping[str, Any]:
        """Return the argument by its name."""
        name = next((one for one in self.names if one in config), self.names[0])
        return {self.argument: config.take(name, self.kind, self.default, **self.limits)}

    def write(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the setting of an argument by its name."""
        value = arguments[self.argument]
        if isinstance(self.kind, Mapping):
            value = next((theirs for theirs, ours in self.kind.items() if ours == value), value)
        if value is None and self.default is None:
            return {}
        return {self.names[0]: value}


class TokenSetting(Setting):
    """A token of the vocabulary that is an argument of a head, which writes it itself.

    Args:
        name: Name of the setting, and of the argument.
        default: The token where no setting says it; None for none.
        optional: Whether there may be none.
    """

    def __init__(self, name: str, default: int | None, optional: bool = False) -> None:
        kind, least = (int | None, -1) if optional else (int, 0)
        super().__init__(name, name, kind, default, least=least)

    def read(self, config: Config) -> Mapping[str, Any]:
        """Return the argument by its name."""
        config.rewrites(*self.names)
        return super().read(config)


class Fixed:
    """A setting of which only some values are supported, and none is an argument of ours.

    Args:
        name: Name of the setting.
        *allowed: Its values; the first is the default, and the one that is written.
    """

    def __init__(self, name: str, *allowed: Any) -> None:
        self.names, self._allowed = (name,), allowed

    def read(self, config: Config) -> Mapping[str, Any]:
        """Check the setting."""
        config.require(*self.names, *self._allowed)
        return {}

    def write(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the setting by its name."""
        return {self.names[0]: self._allowed[0]}


class Ignored:
    """Settings of one family without an effect on outputs.

    Args:
        *names: Their names.
    """

    def __init__(self, *names: str) -> None:
        self.names = names

    def read(self, config: Config) -> Mapping[str, Any]:
        """Take the settings."""
        config.ignore(*self.names)
        return {}

    def write(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return nothing."""
        return {}


class Computed:
    """Arguments that several settings make, by a function for each direction.

    Args:
        names: Names of the settings.
        read: Takes settings from a `Config`, and returns arguments by name.
        write: Takes arguments by name, and returns settings by name.
    """

    def __init__(
        self,
        names: Sequence[str],
        read: Callable[[Config], Mapping[str, Any]],
        write: Callable[[Mapping[str, Any]], Mapping[str, Any]],
    ) -> None:
        self.names, self._read, self._write = tuple(names), read, write

    def read(self, config: Config) -> Mapping[str, Any]:
        """Return the arguments by name."""
        return self._read(config)

    def write(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the settings by name."""
        return self._write(arguments)


# Activation functions by the names that config.json has for them.
ACTIVATIONS = {
    "gelu": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "gelu_fast": "gelu_tanh",
    "quick_gelu": "gelu_sigmoid",
    "relu": "relu",
    "silu": "silu",
    "swish": "silu",
    "tanh": "tanh",
}
