"""Rows of operators that hybridizing joins into kernels of cuDNN and cuBLASLt, against PyTorch.

Each is a small network with the same parameters on both sides; ours is hybridized, with CUDA graphs
as they are by default.
"""

import functools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from benchmarks.gpu_run.comparisons import our_precision, static
from benchmarks.gpu_run.operators import difference_from, time_both
from benchmarks.gpu_run.peers import precision_of
from benchmarks.gpu_run.place import Place
from benchmarks.gpu_run.rows import Note, Refused, Table
from benchmarks.gpu_run.timing import Contender

_FIRST_CALLS = 4  # graphs are captured at the second or third
Shapes = tuple[tuple[int, ...], ...]


class Joined(NamedTuple):
    """A network.

    Attributes:
        name: The row's.
        ours: Returns a block.
        theirs: Returns PyTorch's module, whose parameters and buffers have the order of ours.
        small: Shapes of its data in a rehearsal.
        large: On the device.
        precision: ``TF32`` or ``bfloat16``.
        backward: Whether gradients are computed, too.
        random: Whether outputs cannot be compared.
    """

    name: str
    ours: Callable[[Any, Shapes], Any]
    theirs: Callable[[Any, Shapes], Any]
    small: Shapes
    large: Shapes
    precision: str = "bfloat16"
    backward: bool = True
    random: bool = False


def _our_dense(mx: Any, shapes: Shapes) -> Any:
    units = shapes[0][-1]
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Dense(4 * units, flatten=False, in_units=units), mx.gluon.nn.GELU())
    return net


def _their_dense(torch: Any, shapes: Shapes) -> Any:
    units = shapes[0][-1]
    return torch.nn.Sequential(torch.nn.Linear(units, 4 * units), torch.nn.GELU())


def _our_folded(mx: Any, shapes: Shapes) -> Any:
    nn, channels = mx.gluon.nn, shapes[0][1]
    net = nn.HybridSequential()
    net.add(nn.Conv2D(channels, 3, padding=1, use_bias=False, in_channels=channels))
    net.add(nn.BatchNorm(in_channels=channels, epsilon=1e-5), nn.Activation("relu"))
    return net


def _their_folded(torch: Any, shapes: Shapes) -> Any:
    nn, channels = torch.nn, shapes[0][1]
    convolution = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
    return nn.Sequential(convolution, nn.BatchNorm2d(channels, eps=1e-5), nn.ReLU()).eval()


def _our_sum(mx: Any, shapes: Shapes) -> Any:
    """Return a block of a convolution with bias, the sum with its data, and ReLU."""
    channels = shapes[0][1]

    class Sum(mx.gluon.HybridBlock):  # type: ignore[misc, name-defined]  # a class of a module given
        def __init__(self) -> None:
            super().__init__()
            self.inner = mx.gluon.nn.Conv2D(channels, 3, padding=1, in_channels=channels)

        def hybrid_forward(self, F: Any, x: Any) -> Any:
            return F.relu(self.inner(x) + x)

    return Sum()


def _their_sum(torch: Any, shapes: Shapes) -> Any:
    channels = shapes[0][1]

    class Sum(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.inner = torch.nn.Conv2d(channels, channels, 3, padding=1)

        def forward(self, x: Any) -> Any:
            return torch.relu(self.inner(x) + x)

    return Sum()


def _our_attention(mx: Any, shapes: Shapes, dropout: float) -> Any:
    """Return a block of attention over queries, keys and values (batch, heads, length, units)."""
    scale = shapes[0][-1] ** -0.5

    def attend(F: Any, query: Any, key: Any, value: Any) -> Any:
        query, key, value = (F.reshape(x, shape=(-3, 0, 0)) for x in (query, key, value))
        weights = F.softmax(F.batch_dot(query * scale, key, transpose_b=True))
        weights = F.Dropout(weights, p=dropout) if dropout else weights
        return F.batch_dot(weights, value)

    class Attention(mx.gluon.HybridBlock):  # type: ignore[misc, name-defined]
        def hybrid_forward(self, F: Any, query: Any, key: Any, value: Any) -> Any:
            return attend(F, query, key, value)

    return Attention()


def _their_attention(torch: Any, shapes: Shapes, dropout: float) -> Any:
    class Attention(torch.nn.Module):  # type: ignore[misc, name-defined]
        def forward(self, query: Any, key: Any, value: Any) -> Any:
            attend = torch.nn.functional.scaled_dot_product_attention
            return attend(query, key, value, dropout_p=dropout).flatten(0, 1)

    return Attention()


def _our_lstm(mx: Any, shapes: Shapes) -> Any:
    units = shapes[0][-1]
    return mx.gluon.rnn.LSTM(units, input_size=units)


def _their_lstm(torch: Any, shapes: Shapes) -> Any:
    units = shapes[0][-1]

    class Layer(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.inner = torch.nn.LSTM(units, units)

        def forward(self, x: Any) -> Any:
            return self.inner(x)[0]

    return Layer()


_IMAGES = (((2, 8, 6, 6),), ((64, 64, 56, 56),))
_HEADS = (((2, 2, 8, 8),) * 3, ((32, 12, 128, 64),) * 3)
_ATTENTION = {
    dropout: tuple(
        functools.partial(f, dropout=dropout) for f in (_our_attention, _their_attention)
    )
    for dropout in (0.0, 0.1)
}
JOINED: tuple[Joined, ...] = (
    Joined("attention, dropout 0.1, and gradient", *_ATTENTION[0.1], *_HEADS, random=True),
    Joined("attention, and gradient", *_ATTENTION[0.0], *_HEADS),
    Joined("LSTM layer, and gradient", _our_lstm, _their_lstm, ((3, 2, 4),), ((35, 20, 650),),
           precision="TF32"),
    Joined("dense, bias and GELU, and gradient", _our_dense, _their_dense, ((4, 8),),
           ((4096, 768),)),
    Joined("convolution, batch norm and ReLU at inference", _our_folded, _their_folded, *_IMAGES,
           backward=False),
    Joined("convolution, bias, sum and ReLU at inference", _our_sum, _their_sum, *_IMAGES,
           backward=False),
    Joined("convolution, bias, sum and ReLU, and gradient", _our_sum, _their_sum, *_IMAGES),
)  # fmt: skip


def _ours(place: Place, joined: Joined, values: list[Any]) -> tuple[Callable[[], Any], Any]:
    """Return the call of our block, and the block."""
    mx = place.mx
    dtype = "float32" if joined.precision == "TF32" else joined.precision
    shapes = tuple(x.shape for x in values)
    net = joined.ours(mx, shapes)
    net.initialize(mx.init.Xavier(), ctx=mx.gpu(0))
    net.cast(dtype)
    net.hybridize(**static)
    arrays = [mx.nd.array(x, ctx=mx.gpu(0), dtype=dtype) for x in values]
    if not joined.backward:
        return lambda: net(*arrays), net
    for array in arrays:
        array.attach_grad()

    def step() -> Any:
        with mx.autograd.record():
            out = net(*arrays)
        out.backward()
        return out

    return step, net


def _theirs(place: Place, joined: Joined, values: list[Any], net: Any) -> Callable[[], Any]:
    """Return the call of PyTorch's module, with our parameters."""
    torch = place.torch
    module = joined.theirs(torch, tuple(x.shape for x in values))
    state = [x for name, x in module.state_dict().items() if "num_batches" not in name]
    parameters = list(net.collect_params().values())
    for tensor, ours in zip(state, parameters, strict=True):
        tensor.copy_(torch.from_numpy(ours.data().astype("float32").asnumpy()))
    module = module.to(place.torch_device)
    tensors = [torch.from_numpy(x).to(place.torch_device) for x in values]
    if joined.precision == "bfloat16":
        module, tensors = module.bfloat16(), [x.bfloat16() for x in tensors]
    if values[0].ndim == 4 and parameters:  # images
        last = {"memory_format": torch.channels_last}
        module, tensors = module.to(**last), [x.contiguous(**last) for x in tensors]
    if not joined.backward:
        module.requires_grad_(False)
        return lambda: module(*tensors)
    learned = [*(x.requires_grad_() for x in tensors), *module.parameters()]

    def step() -> Any:
        out = module(*tensors)
        torch.autograd.grad(out, learned, torch.ones_like(out))
        return out

    return step


def _row(place: Place, note: Note, *, joined: Joined) -> Iterator[None]:
    """Check that both compute the same, and time them."""
    random = np.random.default_rng(12)
    shapes = place.pick(joined.large, joined.small)
    values = [random.standard_normal(shape, np.float32) for shape in shapes]
    with our_precision(joined.precision):
        ours, net = _ours(place, joined, values)
        for _ in range(_FIRST_CALLS):
            got = ours()
        contenders, differ = {"ours": Contender(ours, place.timer())}, ""
        try:
            precision_of(place.torch, joined.precision, place.torch_device)
            theirs = _theirs(place, joined, values, net)
            want = theirs()
            if not joined.random:
                differ = difference_from(note, joined.precision, got, want)
            contenders["torch eager"] = Contender(theirs, place.torch_timer())
        except Refused as error:
            note("torch", str(error))
        yield
        time_both(place, note, contenders)
    assert not differ, differ


def add_joined(table: Table) -> None:
    """Add a row for each network."""
    for joined in JOINED:
        table.add(joined.name, 40, functools.partial(_row, joined=joined))
