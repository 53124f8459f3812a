"""Generated kernels for one time step of recurrent cells: everything but the products, in one pass.

A step's extent is the batch. For the layout of gates see `gluonish.ops.recurrent.layout`. With
bfloat16 products, a forward step also writes the hidden state in bfloat16 (the last param), and a
backward step writes the gradients of the products in bfloat16 only; all else is float32.
"""

import re

from gluonish.kernels.compiler import CompiledKernel, compile_kernel

ROW_ELEMENTS = 2048  # minimum elements of a state for each thread

# Params: gates, cells before, cells after, hidden state after, H. The gates' products become the
# gates in place.
_LSTM_FORWARD = """
def body(begin, end, params):
    gates, before = f32(params[0]), f32(params[1])
    after, hidden, units = f32(params[2]), f32(params[3]), params[4]
    for n in range(begin, end):
        row = n * units
        at = 4 * row
        for j in range(units):
            independent()
            i = sigmoid(gates[at + j])
            f = sigmoid(gates[at + units + j])
            g = tanh(gates[at + 2 * units + j])
            o = sigmoid(gates[at + 3 * units + j])
            c = f * before[row + j] + i * g
            gates[at + j] = i
            gates[at + units + j] = f
            gates[at + 2 * units + j] = g
            gates[at + 3 * units + j] = o
            after[row + j] = c
            hidden[row + j] = o * tanh(c)
"""

# Params: gates, cells before, cells after, gradient of the output and its row stride, gradients of
# the hidden state, of the cells (in and out) and of the products, H.
_LSTM_BACKWARD = """
def body(begin, end, params):
    gates, before, after = f32(params[0]), f32(params[1]), f32(params[2])
    dy, stride, dh, dc, d = f32(params[3]), params[4], f32(params[5]), f32(params[6]), D(params[7])
    units = params[8]
    one = float32(1)
    for n in range(begin, end):
        row = n * units
        at = 4 * row
        up = n * stride
        for j in range(units):
            independent()
            i = gates[at + j]
            f = gates[at + units + j]
            g = gates[at + 2 * units + j]
            o = gates[at + 3 * units + j]
            h = dy[up + j] + dh[row + j]
            bent = tanh(after[row + j])
            c = dc[row + j] + h * o * (one - bent * bent)
            d[at + j] = PUT(c * g * i * (one - i))
            d[at + units + j] = PUT(c * before[row + j] * f * (one - f))
            d[at + 2 * units + j] = PUT(c * i * (one - g * g))
            d[at + 3 * units + j] = PUT(h * bent * o * (one - o))
            dc[row + j] = c * f
"""

# Params: products of the input (3 H) and of the hidden state (3 H), gates (4 H), hidden state
# before and after, H.
_GRU_FORWARD = """
def body(begin, end, params):
    pre, recurrent, gates = f32(params[0]), f32(params[1]), f32(params[2])
    before, hidden, units = f32(params[3]), f32(params[4]), params[5]
    for n in range(begin, end):
        row = n * units
        at = 3 * row
        to = 4 * row
        for j in range(units):
            independent()
            r = sigmoid(pre[at + j] + recurrent[at + j])
            z = sigmoid(pre[at + units + j] + recurrent[at + units + j])
            b = recurrent[at + 2 * units + j]
            m = tanh(pre[at + 2 * units + j] + r * b)
            gates[to + j] = r
            gates[to + units + j] = z
            gates[to + 2 * units + j] = m
            gates[to + 3 * units + j] = b
            hidden[row + j] = m + z * (before[row + j] - m)
"""

# Params: gates, hidden state before, gradient of the output and its row stride, gradient of the
# hidden state (in and out; out without the share of the products), gradients of both products, H.
_GRU_BACKWARD = """
def body(begin, end, params):
    gates, before, dy, stride = f32(params[0]), f32(params[1]), f32(params[2]), params[3]
    dh, d, e, units = f32(params[4]), D(params[5]), D(params[6]), params[7]
    one = float32(1)
    for n in range(begin, end):
        row = n * units
        at = 3 * row
        of = 4 * row
        up = n * stride
        for j in range(units):
            independent()
            r = gates[of + j]
            z = gates[of + units + j]
            m = gates[of + 2 * units + j]
            b = gates[of + 3 * units + j]
            h = dy[up + j] + dh[row + j]
            new = h * (one - z) * (one - m * m)
            reset = new * b * r * (one - r)
            update = h * (before[row + j] - m) * z * (one - z)
            d[at + j] = PUT(reset)
            d[at + units + j] = PUT(update)
            d[at + 2 * units + j] = PUT(new)
            e[at + j] = PUT(reset)
            e[at + units + j] = PUT(update)
            e[at + 2 * units + j] = PUT(new * r)
            dh[row + j] = h * z
"""

# Params: hidden state, which initially holds the products, H.
_SIMPLE_FORWARD = """
def body(begin, end, params):
    hidden, units = f32(params[0]), params[1]
    for k in range(begin * units, end * units):
        independent()
        hidden[k] = {value}
"""

# Params: hidden state after, gradient of the output and its row stride, gradients of the hidden
# state and of the products, H.
_SIMPLE_BACKWARD = """
def body(begin, end, params):
    hidden, dy, stride = f32(params[0]), f32(params[1]), params[2]
    dh, d, units = f32(params[3]), D(params[4]), params[5]
    one = float32(1)
    zero = float32(0)
    for n in range(begin, end):
        row = n * units
        up = n * stride
        for j in range(units):
            independent()
            y = hidden[row + j]
            h = dy[up + j] + dh[row + j]
            d[row + j] = PUT({value})
"""

_FORWARD = {
    "lstm": _LSTM_FORWARD,
    "gru": _GRU_FORWARD,
    "rnn_tanh": _SIMPLE_FORWARD.format(value="tanh(hidden[k])"),
    "rnn_relu": _SIMPLE_FORWARD.format(value="maximum(hidden[k], float32(0))"),
}
_BACKWARD = {
    "lstm": _LSTM_BACKWARD,
    "gru": _GRU_BACKWARD,
    "rnn_tanh": _SIMPLE_BACKWARD.format(value="h * (one - y * y)"),
    "rnn_relu": _SIMPLE_BACKWARD.format(value="h * (one if y > zero else zero)"),
}

MASK_TILE = 1024  # elements of a mask generated at a time; they fit the first-level cache

# Params: mask, elements, seed and offset of the key, bits of the probability of 0 and of the scale.
# The extent is tiles. Equal bit for bit to `gluonish.ops.recurrent.rnn.dropout_factors`.
_MASK = """
def body(begin, end, params):
    mask, count, seed, offset = f32(params[0]), params[1], params[2], params[3]
    p, scale = float32(as_float(params[4])), float32(as_float(params[5]))
    unit = float32(2.0 ** -24)
    drawn = scratch()
    for tile in range(begin, end):
        at = 1024 * tile
        for block in range(256):
            independent()
            philox_fill(drawn, 4 * block, 256 * tile + block, seed, offset)
        for i in range(min(1024, count - at)):
            independent()
            keep = float32(int32(drawn[i] >> 8)) * unit >= p
            mask[at + i] = scale if keep else float32(0)
"""


# Number of params of a forward step.
_PARAMS = {"lstm": 5, "gru": 6, "rnn_tanh": 2, "rnn_relu": 2}


def step_forward(mode: str, *, narrow: bool = False) -> CompiledKernel:
    """Return the kernel of a cell's forward step; the params are listed above the source.

    Args:
        narrow: Whether the kernel also writes the hidden state in bfloat16.
    """
    source = _FORWARD[mode]
    if narrow:
        half = f"    half = u16(params[{_PARAMS[mode]}])\n"
        source = source.replace("    for ", half + "    for ", 1)
        source = re.sub(r"( +)hidden\[(.+?)\] = (.+)", _WITH_HALF, source)
    return compile_kernel(source)


_WITH_HALF = r"""\1new = \3
\1hidden[\2] = new
\1half[\2] = store_bf16(new)"""


def step_backward(mode: str, *, narrow: bool = False) -> CompiledKernel:
    """Return the kernel of a cell's backward step; the params are listed above the source.

    Args:
        narrow: Whether the gradients of the products are bfloat16.
    """
    kind, put = ("u16", "store_bf16") if narrow else ("f32", "")
    return compile_kernel(_BACKWARD[mode].replace("D(", f"{kind}(").replace("PUT(", f"{put}("))


def dropout_mask() -> CompiledKernel:
    """Return the kernel that generates dropout factors; a step is a tile of `MASK_TILE`."""
    return compile_kernel(_MASK)
