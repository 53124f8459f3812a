"""AttentionView: weights of attention as a page for notebooks, and as pictures."""

import io
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.core.files import AnyPath, atomic_write, path_text
from gluonish.gluon.block.block import Block
from gluonish.gluon.contrib.attention_view.page import page_of
from gluonish.gluon.contrib.attention_view.record import recorded_weights

_FORMATS = (".html", ".pdf", ".png", ".svg")
_MOST_PANELS = 256  # of a picture
_MOST_TICKS = 32  # labels of an axis that are legible in a picture
_MOST_VALUES = 1 << 24  # of a page; each becomes 4/3 bytes
_PANEL = 2.2  # inches

Chosen = int | str | Sequence[int | str] | None


class Panel(NamedTuple):
    """The weights of one head.

    Attributes:
        layer: Path of the layer.
        head: Number of the head.
        weights: (T, S).
    """

    layer: str
    head: int
    weights: np.ndarray


class AttentionView:
    """Weights of attention: which keys each query reads, and how much of each.

    A notebook shows it as a page, which needs nothing from elsewhere: a map of a layer's head,
    with queries as rows and keys as columns. `save` writes the page, or a picture of all heads.

    Args:
        weights: Weights (N, H, T, S) by the path of the layer.
        labels: Text of each query's token, and of each key's; None for numbers.
        key_labels: Text of each key's token where keys are of another sequence.
        layers: Paths or numbers of the layers that are shown, from 0, and from -1 backwards; None
            for all.
        heads: Numbers of the heads that are shown; None for all.
        sample: Which one of the N samples is shown.

    Raises:
        ArgumentError: A layer, head or sample does not exist, labels are of another number than
            the tokens of a layer, or no weights are given.
        ArgumentTypeError: Labels are not text.
    """

    def __init__(
        self,
        weights: Mapping[str, np.ndarray],
        labels: Sequence[str] | None = None,
        key_labels: Sequence[str] | None = None,
        layers: Chosen = None,
        heads: Chosen = None,
        sample: int = 0,
    ) -> None:
        if not weights:
            raise ArgumentError("AttentionView: expected weights of at least one layer, got none")
        self.weights = dict(weights)
        self.sample = sample
        self.labels = _texts("labels", labels)
        self.key_labels = self.labels if key_labels is None else _texts("key_labels", key_labels)
        self.panels = [
            Panel(path, head, _sample(path, self.weights[path], sample)[head])
            for path in _chosen("layers", layers, list(self.weights))
            for head in _chosen("heads", heads, list(range(self.weights[path].shape[1])), path)
        ]
        for path, _, values in self.panels:
            _check_labels("labels", self.labels, values.shape[0], "queries", path)
            _check_labels("key_labels", self.key_labels, values.shape[1], "keys", path)

    def select(self, layers: Chosen = None, heads: Chosen = None, sample: int | None = None) -> Any:
        """Return a view of some layers and heads.

        Args:
            layers: See `AttentionView`.
            heads: See `AttentionView`.
            sample: See `AttentionView`; None for that of this view.

        Raises:
            ArgumentError: See `AttentionView`.
        """
        chosen = self.sample if sample is None else sample
        return type(self)(self.weights, self.labels, self.key_labels, layers, heads, chosen)

    def _repr_html_(self) -> str:
        """Return the page.

        Raises:
            ArgumentError: There are too many weights for a page.
        """
        count = sum(panel.weights.size for panel in self.panels)
        if count > _MOST_VALUES:
            raise ArgumentError(
                f"AttentionView: expected up to {_MOST_VALUES} weights for a page, got {count}; "
                "select layers and heads"
            )
        return page_of(self.panels, self.labels, self.key_labels)

    def save(self, path: AnyPath) -> None:
        """Write a page, or a picture with a row for each layer and a column for each head.

        Args:
            path: Name that ends in ``.html``, ``.png``, ``.svg`` or ``.pdf``; its folder exists.

        Raises:
            ArgumentError: The name has another ending, or there are too many heads for a picture.
            OSError: The file cannot be written.
        """
        name = path_text(path, "AttentionView.save")
        ending = Path(name).suffix.lower()
        if ending not in _FORMATS:
            raise ArgumentError(
                f"AttentionView.save: expected a name ending in {', '.join(_FORMATS)}, got {name!r}"
            )
        if ending == ".html":
            title = "<!DOCTYPE html><meta charset='utf-8'><title>Attention</title>"
            content = (title + self._repr_html_()).encode()
        else:
            content = self._picture(ending[1:])
        with atomic_write(path) as file:
            file.write(content)

    def _picture(self, kind: str) -> bytes:
        """Return a picture of all heads, with one scale of colours from 0 to 1 for all.

        Raises:
            ArgumentError: There are too many heads.
        """
        from matplotlib.cm import ScalarMappable
        from matplotlib.colors import Normalize
        from matplotlib.figure import Figure

        if len(self.panels) > _MOST_PANELS:
            raise ArgumentError(
                f"AttentionView.save: expected up to {_MOST_PANELS} heads for a picture, got "
                f"{len(self.panels)}; select layers and heads"
            )
        rows = {path: row for row, path in enumerate(dict.fromkeys(p.layer for p in self.panels))}
        columns = {head: i for i, head in enumerate(sorted({p.head for p in self.panels}))}
        least = 5 if len(self.panels) == 1 else _PANEL
        size = (1.5 + least * len(columns), 1.0 + least * len(rows))
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.subplots(len(rows), len(columns), squeeze=False)
        for axis in axes.flat:
            axis.set_visible(False)
        scale: dict[str, Any] = {"norm": Normalize(0, 1), "cmap": "viridis"}
        for path, head, weights in self.panels:
            axis = axes[rows[path], columns[head]]
            axis.set_visible(True)
            axis.imshow(weights, **scale, interpolation="nearest")
            axis.set_title(f"{path}, head {head}", fontsize=6, parse_math=False)
            _ticks(axis, "y", self.labels, weights.shape[0], columns[head] == 0)
            _ticks(axis, "x", self.key_labels, weights.shape[1], rows[path] == len(rows) - 1)
        figure.colorbar(
            ScalarMappable(**scale),
            ax=axes,
            label="weight of the key",
            shrink=min(1, 3 / size[1] + 0.2),
        )
        figure.supxlabel("keys")
        figure.supylabel("queries")
        content = io.BytesIO()
        with warnings.catch_warnings():  # a label of another script shows boxes
            warnings.filterwarnings("ignore", "Glyph .* missing from font")
            figure.savefig(content, format=kind, dpi=110)
        return content.getvalue()

    def __repr__(self) -> str:
        layers = len({panel.layer for panel in self.panels})
        return f"AttentionView({layers} layers, {len(self.panels)} heads)"


def view_attention(
    net: Block,
    *inputs: Any,
    labels: Sequence[str] | None = None,
    key_labels: Sequence[str] | None = None,
    layers: Chosen = None,
    heads: Chosen = None,
    sample: int = 0,
) -> AttentionView:
    """Call a network once, and return a view of the weights of its attention.

    They are those of inference. The network may be hybridized and stays as it is.

    Args:
        net: A network with layers `MultiHeadAttention`, initialized.
        *inputs: Arguments of the call; no growing caches.
        labels: Text of each token; None for numbers.
        key_labels: Text of each token of the keys where these are of another sequence, as in a
            decoder's attention to an encoder.
        layers: Paths or numbers of the layers that are shown; None for all.
        heads: Numbers of the heads that are shown; None for all.
        sample: Which one of the samples is shown.

    Raises:
        ArgumentError: See `AttentionView`; or the network has no such layer.

    Example:
        >>> import gluonish as mx
        >>> from gluonish.gluon.contrib.attention_view import view_attention
        >>> from gluonish.model_zoo.text import BERT
        >>> net = BERT(32, units=8, hidden_units=16, num_layers=2, num_heads=2)
        >>> net.initialize()
        >>> tokens = mx.nd.array([[1, 5, 7]], dtype="int32")
        >>> view = view_attention(net, tokens, labels=["a", "cat", "sat"])
        >>> view
        AttentionView(2 layers, 4 heads)
        >>> view.select(layers=-1, heads=0).panels[0].weights.shape
        (3, 3)
    """
    weights = recorded_weights(net, inputs)
    return AttentionView(weights, labels, key_labels, layers, heads, sample)


def _texts(name: str, labels: Sequence[str] | None) -> list[str] | None:
    """Return labels as a list.

    Raises:
        ArgumentTypeError: They are no texts.
    """
    if labels is None:
        return None
    if not isinstance(labels, list | tuple) or not all(isinstance(x, str) for x in labels):
        raise ArgumentTypeError(
            f"AttentionView: expected {name} as a list of texts, got {labels!r:.60}"
        )
    return list(labels)


def _check_labels(name: str, labels: list[str] | None, count: int, what: str, path: str) -> None:
    if labels is not None and len(labels) != count:
        raise ArgumentError(
            f"AttentionView: expected {name} for the {count} {what} of {path}, got {len(labels)}; "
            "select layers of this length, or leave them out"
        )


def _sample(path: str, weights: np.ndarray, sample: int) -> np.ndarray:
    if type(sample) is not int or not -len(weights) <= sample < len(weights):
        raise ArgumentError(
            f"AttentionView: expected sample below {len(weights)}, the samples of {path}, got "
            f"{sample!r}"
        )
    found: np.ndarray = weights[sample]
    return found


def _chosen(name: str, given: Chosen, known: list[Any], where: str = "") -> list[Any]:
    """Return those that are chosen by number or name.

    Raises:
        ArgumentError: One is not known, or none is chosen.
    """
    if given is None:
        return known
    found = []
    for one in [given] if isinstance(given, int | str) else given:
        if isinstance(one, str) and one in known:
            found.append(one)
        elif type(one) is int and -len(known) <= one < len(known):
            found.append(known[one])
        else:
            paths = "" if where else f", or of {', '.join(map(str, known))}"
            raise ArgumentError(
                f"AttentionView: expected {name} below {len(known)}{paths}"
                f"{f', the {name} of {where}' if where else ''}, got {one!r:.60}"
            )
    if not found:
        raise ArgumentError(f"AttentionView: expected at least one of {name}, got none")
    return list(dict.fromkeys(found))


def _ticks(axis: Any, which: str, labels: list[str] | None, count: int, outer: bool) -> None:
    """Label an axis of a picture with tokens; with numbers if these are many."""
    if labels is None or count > _MOST_TICKS:
        axis.tick_params(axis=which, labelsize=5)
        return
    place = axis.set_yticks if which == "y" else axis.set_xticks
    if not outer:
        place([])
        return
    options = {"rotation": 90} if which == "x" else {}
    place(range(count), labels, fontsize=6, parse_math=False, **options)
