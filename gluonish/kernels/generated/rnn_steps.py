"""Generated kernels for one time step of recurrent cells: everything around the products, at once.

A step's extent is the batch. Gates lie side by side, see `gluonish.ops.recurrent.layout`. Where
products are of bfloat16, a forward step also writes the hidden state in it (the word behind the
others), and a backward step the gradients of the products in it alone; all else is float32.
"""

import re

from gluonish.kernels.compiler import CompiledKernel, compile_kernel

ROW_ELEMENTS = 2048  # elements of a state whose step is worth a thread

# Words: gates, cells before, cells after, hidden state after, H. The gates' products become the
# gates in place.
_LSTM_FORWARD = """
def body(begin, end, words):
    gates, before = f32(words[0]), f32(words[1])
    after, hidden, units = f32(words[2]), f32(words[3]), words[4]
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

# Words: gates, cells before, cells after, gradient of the output and its row stride, that of the
# hidden state, that of the cells (in and out), that of the products, H.
_LSTM_BACKWARD = """
def body(begin, end, words):
    gates, before, after = f32(words[0]), f32(words[1]), f32(words[2])
    dy, stride, dh, dc, d = f32(words[3]), words[4], f32(words[5]), f32(words[6]), D(words[7])
    units = words[8]
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

# Words: products of the input (3 H) and of the hidden state (3 H), gates (4 H), hidden state before
# and after, H.
_GRU_FORWARD = """
def body(begin, end, words):
    pre, recurrent, gates = f32(words[0]), f32(words[1]), f32(words[2])
    before, hidden, units = f32(words[3]), f32(words[4]), words[5]
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

# Words: gates, hidden state before, gradient of the output and its row stride, that of the hidden
# state (in, and out without what goes through the products), those of both products, H.
_GRU_BACKWARD = """
def body(begin, end, words):
    gates, before, dy, stride = f32(words[0]), f32(words[1]), f32(words[2]), words[3]
    dh, d, e, units = f32(words[4]), D(words[5]), D(words[6]), words[7]
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

# Words: hidden state, which holds the products, H.
_PLAIN_FORWARD = """
def body(begin, end, words):
    hidden, units = f32(words[0]), words[1]
    for k in range(begin * units, end * units):
        independent()
        hidden[k] = {value}
"""

# Words: hidden state after, gradient of the output and its row stride, that of the hidden state,
# that of the products, H.
_PLAIN_BACKWARD = """
def body(begin, end, words):
    hidden, dy, stride = f32(words[0]), f32(words[1]), words[2]
    dh, d, units = f32(words[3]), D(words[4]), words[5]
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
    "rnn_tanh": _PLAIN_FORWARD.format(value="tanh(hidden[k])"),
    "rnn_relu": _PLAIN_FORWARD.format(value="maximum(hidden[k], float32(0))"),
}
_BACKWARD = {
    "lstm": _LSTM_BACKWARD,
    "gru": _GRU_BACKWARD,
    "rnn_tanh": _PLAIN_BACKWARD.format(value="h * (one - y * y)"),
    "rnn_relu": _PLAIN_BACKWARD.format(value="h * (one if y > zero else zero)"),
}

MASK_TILE = 1024  # elements of a mask that are made at a time; they stay in the first-level cache

# Words: mask, elements, seed and offset of the draw, bits of the probability of 0 and of what the
# other elements are. The extent is tiles. To the bit what
# `gluonish.ops.recurrent.rnn.dropout_factors` gives.
_MASK = """
def body(begin, end, words):
    mask, count, seed, offset = f32(words[0]), words[1], words[2], words[3]
    p, scale = float32(as_float(words[4])), float32(as_float(words[5]))
    unit = float32(2.0 ** -24)
    drawn = scratch()
    for tile in range(begin, end):
        at = 1024 * tile
        for block in range(256):
            independent()
            philox_fill(drawn, 4 * block, 256 * tile + block, seed, offset)
        for i in range(min(1024, count - at)):
            independent()
            kept = float32(int32(drawn[i] >> 8)) * unit >= p
            mask[at + i] = scale if kept else float32(0)
"""


# How many words a forward step has.
_WORDS = {"lstm": 5, "gru": 6, "rnn_tanh": 2, "rnn_relu": 2}


def step_forward(mode: str, *, narrow: bool = False) -> CompiledKernel:
    """Return the kernel of a cell's forward step; the words stand beside its source.

    Args:
        mode: The kind of cell.
        narrow: Whether it has the word for the hidden state in bfloat16, too.
    """
    source = _FORWARD[mode]
    if narrow:
        half = f"    half = u16(words[{_WORDS[mode]}])\n"
        source = source.replace("    for ", half + "    for ", 1)
        source = re.sub(r"( +)hidden\[(.+?)\] = (.+)", _WITH_HALF, source)
    return compile_kernel(source)


_WITH_HALF = r"""\1new = \3
\1hidden[\2] = new
\1half[\2] = store_bf16(new)"""


def step_backward(mode: str, *, narrow: bool = False) -> CompiledKernel:
    """Return the kernel of a cell's backward step; the words stand beside its source.

    Args:
        mode: The kind of cell.
        narrow: Whether gradients of products are bfloat16.
    """
    kind, put = ("u16", "store_bf16") if narrow else ("f32", "")
    return compile_kernel(_BACKWARD[mode].replace("D(", f"{kind}(").replace("PUT(", f"{put}("))


def dropout_mask() -> CompiledKernel:
    """Return the kernel that draws the factors of dropout; its extent is tiles of `MASK_TILE`."""
    return compile_kernel(_MASK)
