"""Programs that make the same graph in gluonish and in MXNet 1.9.1, for make_symbol_json.py.

Each takes the package and returns a Symbol, and the shapes from which all others follow.
"""

from collections.abc import Callable
from typing import Any

Shapes = dict[str, tuple[int, ...]]
Program = Callable[[Any], tuple[Any, Shapes]]


def dense(mx: Any) -> tuple[Any, Shapes]:
    """Layers, a loss, and variables with attributes."""
    sym = mx.sym
    with mx.AttrScope(ctx_group="one"):
        x = sym.FullyConnected(sym.var("data", lr_mult=2.0), num_hidden=6, name="fc1")
    x = sym.Activation(x, act_type="tanh", name="act")
    x = sym.LeakyReLU(x, act_type="elu", slope=0.5, name="elu")
    x = sym.FullyConnected(x, num_hidden=3, no_bias=True, name="fc2")
    return sym.SoftmaxOutput(x, sym.var("label"), name="softmax"), {"data": (4, 5), "label": (4,)}


def convolution(mx: Any) -> tuple[Any, Shapes]:
    """Convolution, batch normalization, pooling, branches that meet."""
    sym = mx.sym
    x = sym.Convolution(sym.var("data"), kernel=(3, 3), num_filter=4, pad=(1, 1), name="conv")
    x = sym.BatchNorm(x, fix_gamma=False, eps=1e-3, name="bn")
    x = sym.Activation(x, act_type="relu", name="relu")
    a = sym.Pooling(x, kernel=(2, 2), stride=(2, 2), pool_type="max", name="max")
    b = sym.Pooling(x, kernel=(2, 2), stride=(2, 2), pool_type="avg", name="avg")
    y = sym.Concat(a, b, dim=1, name="concat")
    return sym.flatten(y, name="flat"), {"data": (2, 3, 6, 6)}


def arithmetic(mx: Any) -> tuple[Any, Shapes]:
    """Operators of Python, broadcasting, and functions of one array."""
    sym = mx.sym
    a, b = sym.var("a"), sym.var("b")
    x = (a + b * 2 - 1.5) / (sym.abs(b) + 3)
    y = sym.broadcast_add(sym.exp(x), sym.sum(a, axis=1, keepdims=True))
    z = sym.where(a > b, y, -y) ** 2
    parts = sym.split(z, num_outputs=2, axis=1)
    return sym.Group([parts[0] + parts[1], sym.transpose(z), z.reshape((-1,))]), {
        "a": (3, 4),
        "b": (3, 4),
    }


def sequence(mx: Any) -> tuple[Any, Shapes]:
    """Embedding, a loop over the sequence with weights inside, an attention of the steps."""
    sym = mx.sym
    x = sym.Embedding(sym.var("words"), input_dim=7, output_dim=3, name="embed")

    def step(data: Any, state: Any) -> Any:
        new = sym.tanh(
            sym.FullyConnected(data, num_hidden=3, name="i2h")
            + sym.FullyConnected(state, num_hidden=3, name="h2h")
        )
        return new * 2, new

    out, state = sym.contrib.foreach(step, x, sym.var("begin"), name="recurrence")
    weights = sym.softmax(sym.sum(out, axis=2), axis=0, name="weights")
    return sym.Group([sym.broadcast_mul(out, sym.expand_dims(weights, axis=2)), state]), {
        "words": (4, 2),
        "begin": (2, 3),
    }


def closure(mx: Any) -> tuple[Any, Shapes]:
    """A loop over two arrays with two states, which reads what was computed outside."""
    sym = mx.sym
    scale = sym.sigmoid(sym.var("w"), name="scale")

    def step(data: Any, states: Any) -> Any:
        x, y = data
        a, b = states
        return [x * scale + a, y], [a + y, b * scale]

    outs, states = sym.contrib.foreach(
        step, [sym.var("x"), sym.var("y")], [sym.var("a"), sym.var("b")], name="closed"
    )
    shapes: Shapes = {"x": (3, 2), "y": (3, 2), "a": (2,), "b": (2,)}
    return sym.Group([*outs, *states]), shapes


def nested(mx: Any) -> tuple[Any, Shapes]:
    """A loop in a loop."""
    sym = mx.sym
    w = sym.var("w")

    def inner(x: Any, s: Any) -> Any:
        return x + s * w, s * 0.5

    def outer(x: Any, s: Any) -> Any:
        return sym.contrib.foreach(inner, x, s, name="inner")

    out, state = sym.contrib.foreach(outer, sym.var("x"), sym.var("s"), name="outer")
    return sym.Group([out, state]), {"x": (2, 3, 2), "s": (2,)}


def until(mx: Any) -> tuple[Any, Shapes]:
    """A loop while a condition holds; what it is given decides how often."""
    sym = mx.sym
    limit = sym.var("limit")
    _, variables = sym.contrib.while_loop(
        lambda i, s: s < limit,
        lambda i, s: (i * s, [i + 1, s + i * i]),
        [sym.var("i"), sym.var("s")],
        max_iterations=20,
        name="until",
    )
    return sym.Group(variables), {"limit": (1,), "i": (1,), "s": (1,)}


def branches(mx: Any) -> tuple[Any, Shapes]:
    """One of two computations."""
    sym = mx.sym
    a, b = sym.var("a"), sym.var("b")
    chosen = sym.contrib.cond(
        sym.sum(a) < sym.sum(b), lambda: [a * b, a], lambda: [b + 1, a], name="choice"
    )
    return sym.Group(chosen), {"a": (2, 2), "b": (2, 2)}


PROGRAMS: dict[str, Program] = {
    program.__name__: program
    for program in (dense, convolution, arithmetic, sequence, closure, nested, until, branches)
}
