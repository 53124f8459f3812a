"""The cells of recurrent layers on vectors; see `rnn_steps` for the same on arrays."""

from collections.abc import Sequence
from typing import NamedTuple

from gluonish.kernels.compiler.vector_code import Assembler, Value


class After(NamedTuple):
    """The result of a forward step.

    Attributes:
        saved: What the backward pass needs; the hidden state of a simple cell.
        hidden: The hidden state.
        cell: The cell of an LSTM.
    """

    saved: Sequence[Value]
    hidden: Value
    cell: Value | None = None


class Before(NamedTuple):
    """The result of a backward step: gradients.

    Attributes:
        products: Of the products of the input, for each gate.
        other: Of the product of the hidden state of a GRU's new gate; for the other gates it is
            that of the input.
        hidden: Of the hidden state before, without the share of the products; of a GRU only.
        cell: Of the cell before, of an LSTM.
    """

    products: Sequence[Value]
    other: Value | None = None
    hidden: Value | None = None
    cell: Value | None = None


def forward(
    code: Assembler,
    mode: str,
    sums: Sequence[Value],
    pre: Sequence[Value],
    before: Value | None,
) -> After:
    """Return a step's result.

    Args:
        sums: The products of the hidden state, for each gate.
        pre: The products of the input.
        before: The cell before of an LSTM, the hidden state before of a GRU.
    """
    if mode == "lstm":
        totals = [code.add(x, y) for x, y in zip(sums, pre, strict=True)]
        i, f, o = (code.function("sigmoid", totals[n]) for n in (0, 1, 3))
        g = code.function("tanh", totals[2])
        cell = code.add(code.multiply(f, before), code.multiply(i, g))
        hidden = code.multiply(o, code.function("tanh", cell))
        return After((i, f, g, o), hidden, cell)
    if mode == "gru":
        r, z = (code.function("sigmoid", code.add(pre[n], sums[n])) for n in (0, 1))
        new = code.function("tanh", code.add(pre[2], code.multiply(r, sums[2])))
        hidden = code.add(new, code.multiply(z, code.subtract(before, new)))
        return After((r, z, new, sums[2]), hidden)
    total = code.add(sums[0], pre[0])
    return After((), code.relu(total) if mode == "rnn_relu" else code.function("tanh", total))


def backward(
    code: Assembler,
    mode: str,
    saved: Sequence[Value],
    before: Value | None,
    after: Value,
    d_hidden: Value,
    d_cell: Value | None,
) -> Before:
    """Return a step's gradients.

    Args:
        saved: What the forward step saved.
        before: The cell before of an LSTM, the hidden state before of a GRU.
        after: The cell after of an LSTM, the hidden state after of a simple cell.
        d_hidden: Gradient of the hidden state after.
        d_cell: Gradient of the cell after, without the share of the hidden state.
    """
    one = code.constant(1)

    def slope(y: Value) -> Value:  # of the hyperbolic tangent, given its value
        return code.subtract(one, code.multiply(y, y))

    def bend(y: Value) -> Value:  # the same of the sigmoid
        return code.multiply(y, code.subtract(one, y))

    if mode == "lstm":
        i, f, g, o = saved
        bent = code.function("tanh", after)
        through = code.multiply(code.multiply(d_hidden, o), slope(bent))
        total = code.add(d_cell, through)
        d_gates = (
            code.multiply(code.multiply(total, g), bend(i)),
            code.multiply(code.multiply(total, before), bend(f)),
            code.multiply(code.multiply(total, i), slope(g)),
            code.multiply(code.multiply(d_hidden, bent), bend(o)),
        )
        return Before(d_gates, cell=code.multiply(total, f))
    if mode == "gru":
        r, z, new, recurrent = saved
        d_new = code.multiply(code.multiply(d_hidden, code.subtract(one, z)), slope(new))
        d_reset = code.multiply(code.multiply(d_new, recurrent), bend(r))
        change = code.multiply(d_hidden, code.subtract(before, new))
        products = (d_reset, code.multiply(change, bend(z)), d_new)
        return Before(products, code.multiply(d_new, r), code.multiply(d_hidden, z))
    if mode == "rnn_relu":
        positive = code.is_less(code.zeros(), after)
        return Before((code.where(positive, d_hidden, code.zeros()),))
    return Before((code.multiply(d_hidden, slope(after)),))
