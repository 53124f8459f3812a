"""Networks to print and to draw; made with MXNet and with gluonish alike."""

from collections.abc import Callable
from typing import Any

Case = tuple[Callable[[Any], Any], dict[str, tuple[int, ...]]]


def mlp(sym: Any) -> Any:
    """Return two dense layers, one without bias."""
    x = sym.FullyConnected(sym.var("data"), num_hidden=8, name="fc1")
    x = sym.Activation(x, act_type="relu", name="relu1")
    x = sym.FullyConnected(x, num_hidden=3, no_bias=True, name="fc2")
    return sym.SoftmaxOutput(x, name="softmax")


def cnn(sym: Any) -> Any:
    """Return a residual block of convolutions, and what follows it."""
    x = sym.Convolution(sym.var("data"), num_filter=4, kernel=(3, 3), pad=(1, 1), name="conv0")
    x = sym.Activation(sym.BatchNorm(x, name="bn0"), act_type="relu", name="relu0")
    y = sym.Convolution(
        *(x,), num_filter=4, kernel=(3, 3), pad=(1, 1), num_group=2, no_bias=True, name="conv1"
    )
    y = sym.BatchNorm(y, fix_gamma=False, name="bn1")
    x = sym.elemwise_add(x, y, name="plus0")
    x = sym.Pooling(x, kernel=(2, 2), stride=(2, 2), pool_type="max", name="pool0")
    x = sym.LeakyReLU(x, name="leaky")
    x = sym.Flatten(x, name="flat")
    x = sym.Concat(x, x, name="both")
    return sym.softmax(sym.FullyConnected(x, num_hidden=5, name="fc"), name="out")


def embedded(sym: Any) -> Any:
    """Return an embedding, parts of it by different ways, and several outputs."""
    x = sym.Embedding(sym.var("data"), input_dim=10, output_dim=4, name="words")
    x = sym.transpose(x, axes=(1, 0, 2), name="by_time")
    x = sym.reshape(x.slice_axis(axis=0, begin=0, end=1), shape=(-1, 4)) * 2 + sym.var("offset")
    a, b = sym.split(x, num_outputs=2, axis=0, name="halves")
    return sym.Group([a, sym.BlockGrad(b)])


CASES: dict[str, Case] = {
    "mlp": (mlp, {"data": (2, 6)}),
    "cnn": (cnn, {"data": (1, 3, 8, 8)}),
    "embedded": (embedded, {"data": (2, 5), "offset": (2, 4)}),
}


def tables(shape: dict[str, tuple[int, ...]]) -> dict[str, dict[str, Any]]:
    """Return the arguments of `print_summary`, by a name."""
    return {
        "plain": {},
        "shapes": {"shape": shape},
        "short": {"shape": shape, "line_length": 80},
        "columns": {"shape": shape, "positions": [44, 60, 80, 100]},
    }


def pictures(shape: dict[str, tuple[int, ...]]) -> dict[str, dict[str, Any]]:
    """Return the arguments of `plot_network`, by a name."""
    return {
        "plain": {},
        "shapes": {"shape": shape},
        "types": {"shape": shape, "dtype": {"data": "float32"}},
        "weights": {"hide_weights": False, "title": "all of it"},
        "ovals": {"node_attrs": {"shape": "oval", "fixedsize": "false"}, "save_format": "svg"},
    }
