"""Windows of attention in config.json: ``sliding_window`` and which layers have it."""

from collections.abc import Mapping, Sequence
from typing import Any

from gluonish.core.errors import FileFormatError, NotSupportedError
from gluonish.model_zoo.pretrained.config import Config

Windows = Sequence[int | None] | int | None
KINDS = ("full_attention", "sliding_attention")


class WindowSetting:
    """The settings of windows, as the argument ``windows`` of a network.

    Args:
        always: Whether a window is that of all layers if nothing else is said; otherwise
            ``use_sliding_window`` says so, from layer ``max_window_layers`` on.
        window: Window where no setting says it.
    """

    argument = "windows"
    names: tuple[str, ...] = (
        "sliding_window",
        "use_sliding_window",
        "max_window_layers",
        "layer_types",
    )

    def __init__(self, always: bool = False, window: int | None = None) -> None:
        self._always, self._window = always, window

    def read(self, config: Config) -> Mapping[str, Any]:
        """Return the argument by its name.

        Raises:
            FileFormatError: There is not a type for each layer.
            NotSupportedError: There is a layer of another type.
        """
        layers = int(config.take("num_hidden_layers", int))
        window = config.take("sliding_window", int | None, self._window)
        used = config.take("use_sliding_window", bool, self._always)
        first = config.take("max_window_layers", int | None, None, least=0)
        types = config.take("layer_types", list | None, None)
        if not used:
            window = None
        if types is None:
            begin = 0 if self._always or first is None else first
            return {"windows": tuple(window if i >= begin else None for i in range(layers))}
        if len(types) != layers:
            raise FileFormatError(
                f"{config.source}: expected 'layer_types' of {layers} layers, got {len(types)}"
            )
        other = [kind for kind in types if kind not in KINDS]
        if other:
            raise NotSupportedError(
                f"{config.source}: expected 'layer_types' among {', '.join(KINDS)}, got "
                f"{other[0]!r:.60}"
            )
        if window is None and KINDS[1] in types and used:
            raise FileFormatError(
                f"{config.source}: expected 'sliding_window' with layers of sliding_attention, got "
                "none"
            )
        return {"windows": tuple(window if kind == KINDS[1] else None for kind in types)}

    def write(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the settings of the argument."""
        given, layers = arguments["windows"], arguments["num_layers"]
        windows = (given,) * layers if given is None or isinstance(given, int) else tuple(given)
        sizes = {window for window in windows if window is not None}
        if len(sizes) > 1:
            raise NotSupportedError(
                f"save_pretrained: expected windows of one size, got {sorted(sizes)}"
            )
        window = next(iter(sizes), None)
        if self._always and len(set(windows)) == 1:
            return {"sliding_window": window}
        types = [KINDS[window is not None] for window in windows]
        found = {"sliding_window": window, "layer_types": types}
        return found if self._always else {**found, "use_sliding_window": window is not None}
