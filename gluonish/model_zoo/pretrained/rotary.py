"""Rotary embeddings in config.json: ``rope_parameters``, and ``rope_scaling`` of older files."""

from collections.abc import Mapping
from math import log
from typing import Any

from gluonish.core.errors import FileFormatError, NotSupportedError
from gluonish.model_zoo.pretrained.config import Config

_KINDS = {"default": "none", "linear": "linear", "dynamic": "dynamic", "llama3": "llama3",
          "yarn": "yarn"}  # fmt: skip
# Options of each kind: name in config.json, ours, and the default.
_OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "none": {},
    "linear": {"factor": float},
    "dynamic": {"factor": float},
    "llama3": {"factor": float, "low_freq_factor": float, "high_freq_factor": float},
    "yarn": {
        "factor": float,
        "beta_fast": float | None,
        "beta_slow": float | None,
        "attention_factor": float | None,
        "truncate": bool,
    },
}
_ORIGINAL = "original_max_position_embeddings"
_LEAST = 1e-6  # of a factor
_BASE, _PARTIAL = "rope_theta", "partial_rotary_factor"


class RotarySetting:
    """The settings of a rotary embedding, as options of `RotaryEmbedding`.

    Args:
        argument: Name of the argument that the options become.
        base: Base of the angles where no setting says it.
        partial: Share of a head that is rotated where no setting says it.
        older: Names of base and share in older files.
    """

    def __init__(
        self,
        argument: str = "rotary",
        base: float = 10000.0,
        partial: float = 1.0,
        older: tuple[str, str] = (_BASE, _PARTIAL),
    ) -> None:
        self.argument, self._base, self._partial, self._older = argument, base, partial, older
        names = ("rope_parameters", "rope_scaling", _ORIGINAL, *older)
        self.names: tuple[str, ...] = names

    def read(self, config: Config) -> Mapping[str, Any]:
        """Return the options by the argument's name."""
        entries = config.take("rope_parameters", dict | None, None)
        older = config.take("rope_scaling", dict | None, None)
        both = {**(older or {}), **(entries or {})}
        outside = zip((_BASE, _PARTIAL, _ORIGINAL), (*self._older, _ORIGINAL), strict=True)
        for name, older in outside:
            if older in config and name not in both:
                both[name] = config.take(older, float | int | None)
        return {self.argument: self.options(both, config)}

    def options(self, entries: Mapping[str, Any], config: Config) -> dict[str, Any]:
        """Return the options of one object of settings.

        Raises:
            NotSupportedError: The kind of scaling, or a setting, is not known.
        """
        given = Config(entries, f"{config.source}: rope_parameters")
        kind = given.take("rope_type" if "rope_type" in given else "type", _KINDS, "none")
        made: dict[str, Any] = {"base": given.take(_BASE, float, self._base, least=1e-3)}
        if kind != "none":
            made["scaling"] = kind
        partial = given.take(_PARTIAL, float | None, None, least=0.0, most=1.0)
        partial = self._partial if partial is None else partial
        if partial != 1.0:
            made["dim"] = int(_head_units(config) * partial)
        for name, option in _OPTIONS[kind].items():
            default = () if option is float else (None,)
            limits = {} if option is bool else {"least": _LEAST}
            value = given.take(name, option, *default, **limits)
            if value is not None:
                made[name] = value
        length = given.take(_ORIGINAL, int | None, None)
        if kind in ("dynamic", "llama3", "yarn"):
            if length is None or kind == "dynamic":
                length = config.take("max_position_embeddings", int)
            made[_ORIGINAL] = length
        given.ignore("rope_type", "type", "max_position_embeddings")
        self._yarn(given, made, kind)
        given.finish()
        return made

    @staticmethod
    def _yarn(given: Config, made: dict[str, Any], kind: str) -> None:
        scales = [given.take(name, float | None, None) for name in ("mscale", "mscale_all_dim")]
        if kind != "yarn" and any(scales):
            raise NotSupportedError(f"{given.source}: expected mscale with yarn only, got {kind}")
        if kind == "yarn" and all(scales) and "attention_factor" not in made:
            first, second = (_magnitude(made["factor"], float(scale or 0)) for scale in scales)
            made["attention_factor"] = first / second

    def write(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the settings of options."""
        return {"rope_parameters": self.settings(arguments[self.argument], arguments)}

    def settings(self, options: Mapping[str, Any] | None, arguments: Mapping[str, Any]) -> Any:
        """Return the object of settings of some options."""
        options = options or {}
        kind = options.get("scaling", "none")
        found = {"rope_type": next(theirs for theirs, ours in _KINDS.items() if ours == kind)}
        found[_BASE] = options.get("base", 10000.0)
        units = arguments.get("head_units") or arguments["units"] // arguments["num_heads"]
        if options.get("dim") is not None or self._partial != 1.0:
            found[_PARTIAL] = (options.get("dim") or units) / units
        for name in (*_OPTIONS[kind], _ORIGINAL):
            if options.get(name) is not None:
                found[name] = options[name]
        return found


class TwoRotaries(RotarySetting):
    """The settings of rotary embeddings of layers without a window, and with one.

    Args:
        base: Base of the angles of layers without a window where no setting says it.
        local_base: The same of layers with a window, which are ``window_rotary``.
        name: Name of the setting of the base in older files.
        local_name: That of layers with a window; null for the other base.
    """

    def __init__(self, base: float, local_base: float, name: str, local_name: str) -> None:
        super().__init__(base=base, older=(name, _PARTIAL))
        self._local = (local_name, local_base)
        self.names = (*self.names, local_name)

    def read(self, config: Config) -> Mapping[str, Any]:
        """Return both arguments by name.

        Raises:
            FileFormatError: One of both kinds is missing.
            NotSupportedError: There is another kind of layers.
        """
        nested = config.entries.get("rope_parameters")
        kinds = {"full_attention": "rotary", "sliding_attention": "window_rotary"}
        if not isinstance(nested, dict) or not any(kind in nested for kind in kinds):
            name, default = self._local
            found = dict(super().read(config))
            base = config.take(name, float | None, default, least=1e-3)
            base = found[self.argument]["base"] if base is None else float(base)
            return found | {"window_rotary": {"base": base}}
        config.ignore(*self.names)
        other = [kind for kind in nested if kind not in kinds]
        if other:
            raise NotSupportedError(
                f"{config.source}: expected rope_parameters of {' and '.join(kinds)}, got "
                f"{other[0]!r:.60}"
            )
        made = {}
        for kind, argument in kinds.items():
            if not isinstance(nested.get(kind), dict):
                raise FileFormatError(
                    f"{config.source}: expected rope_parameters with an object {kind!r}, got "
                    f"{nested.get(kind)!r:.60}"
                )
            made[argument] = self.options(nested[kind], config)
        return made

    def write(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the settings of both arguments."""
        rotary, local = arguments["rotary"], arguments["window_rotary"]
        local = rotary if local is None else local
        return {
            "rope_parameters": {
                "full_attention": self.settings(rotary, arguments),
                "sliding_attention": self.settings(local, arguments),
            }
        }


def _head_units(config: Config) -> int:
    given = config.take("head_dim", int | None, None)
    if given is not None:
        return int(given)
    return int(config.take("hidden_size", int)) // int(config.take("num_attention_heads", int))


def _magnitude(factor: float, scale: float) -> float:
    return 1.0 if factor <= 1 else 0.1 * scale * log(factor) + 1.0
