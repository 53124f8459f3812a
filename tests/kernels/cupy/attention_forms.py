"""Attention as users of MXNet 1.x write it: a registry of forms, each one a HybridBlock's forward.

A form takes F, the projection (N, T, 3 units), the dtype of numbers that it makes, and arrays that
hide keys; it returns (N, T, units).
"""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np

import gluonish as mx
from gluonish import autograd, nd
from gluonish.contrib import amp
from gluonish.core.config import MXNET_DISABLED_GRAPH_PASSES

BATCH, HEADS, LENGTH, WIDTH = 3, 2, 6, 8
UNITS = HEADS * WIDTH

Forward = Callable[..., Any]


class Form(NamedTuple):
    """A form.

    Attributes:
        forward: ``forward(F, x, dtype, *arrays)``.
        arrays: The arrays; floats are cast to the dtype.
        inside: What hides keys in the attention that computes it: some of ``mask``, ``lengths`` and
            ``causal``, and ``rows`` if rows without keys are treated; None if none computes it.
        quiet: Which rows of the output have no gradient, as the fused form has another there.
        learned: Whether the arrays require a gradient.
        wide: Whether float16 has no such numbers.
        lost: Whether rows are NaN, so that the gradients are NaN, too, or not.
    """

    forward: Forward
    arrays: Sequence[Any] = ()
    inside: frozenset[str] | None = frozenset()
    quiet: Any = None
    learned: bool = False
    lost: bool = False
    wide: bool = False


FORMS: dict[str, Form] = {}


def _form(
    name: str,
    *arrays: Any,
    inside: str | None = "",
    quiet: Any = None,
    learned: bool = False,
    lost: bool = False,
    wide: bool = False,
) -> Callable[[Forward], Forward]:
    parts = None if inside is None else frozenset(inside.split())

    def register(forward: Forward) -> Forward:
        FORMS[name] = Form(forward, arrays, parts, quiet, learned, lost, wide)
        return forward

    return register


class Attend(mx.gluon.HybridBlock):
    """A form as a block."""

    def __init__(self, form: Form, dtype: str) -> None:
        super().__init__()
        self._form, self._dtype = form, dtype

    def hybrid_forward(self, F: Any, x: Any, *arrays: Any) -> Any:
        return self._form.forward(F, x, self._dtype, *arrays)


_RANDOM = np.random.default_rng(21)
_LENGTHS = np.float32([4, 6, 1])
_NONE = np.float32([4, 0, 6])  # an entry without keys
_SEEN = _RANDOM.random((BATCH, LENGTH, LENGTH)) < 0.7
_SEEN[..., 0] = True
_HOLES = _SEEN.astype(np.float32)
_EMPTY = _HOLES.copy()  # some rows without keys
_EMPTY[0, 2] = _EMPTY[1] = 0
_EMPTY_ROWS = _EMPTY.max(-1) == 0
_CAUSAL = np.tri(LENGTH, dtype=np.float32)


def _split(F: Any, x: Any) -> list[Any]:
    """Return queries, keys and values (N heads, T, width)."""
    shape = (0, 0, HEADS, -1)
    parts = [F.reshape(y, shape=shape) for y in F.split(x, num_outputs=3, axis=2)]
    return [F.reshape(F.transpose(y, axes=(0, 2, 1, 3)), shape=(-3, 0, 0)) for y in parts]


def _join(F: Any, y: Any) -> Any:
    y = F.reshape(y, shape=(-4, -1, HEADS, 0, 0))
    return F.reshape(F.transpose(y, axes=(0, 2, 1, 3)), shape=(0, 0, -3))


def _attend(F: Any, x: Any, weigh: Callable[[Any], Any]) -> Any:
    """Return attention with a function from scores (N heads, T, T) to weights."""
    q, k, v = _split(F, x)
    scores = F.batch_dot(q, k, transpose_b=True) / np.sqrt(WIDTH)
    return _join(F, F.batch_dot(weigh(scores), v))


def _over_heads(F: Any, mask: Any) -> Any:
    """Return a mask (N, T, T) as GluonNLP brings it to (N heads, T, T)."""
    mask = F.broadcast_axis(F.expand_dims(mask, axis=1), axis=1, size=HEADS)
    return F.reshape(mask, shape=(-3, 0, 0))


def _repeated(F: Any, mask: Any) -> Any:
    """Return the same by ``repeat``."""
    return F.repeat(mask, repeats=HEADS, axis=0)


def _keys(F: Any, x: Any, lengths: Any) -> Any:
    """Return which keys (N, T) are before the lengths, as 0 and 1."""
    steps = F.contrib.arange_like(x, axis=1)
    lengths = F.reshape(lengths, shape=(-1, 1))
    return F.broadcast_lesser(F.reshape(steps, shape=(1, -1)), lengths)


def _square(F: Any, keys: Any) -> Any:
    """Return a mask of keys for each query: (N, T, T)."""
    return F.broadcast_axis(F.expand_dims(keys, axis=1), axis=1, size=LENGTH)


def _causal(F: Any, x: Any) -> Any:
    """Return the mask of earlier keys (1, T, T), of places."""
    steps = F.contrib.arange_like(x, axis=1)
    mask = F.broadcast_lesser_equal(
        F.reshape(steps, shape=(1, -1)), F.reshape(steps, shape=(-1, 1))
    )
    return F.expand_dims(mask, axis=0)


def _selected(F: Any, mask: Any, dtype: str, fill: float = -1e4, times: bool = True) -> Any:
    """Return GluonNLP's masked softmax."""

    def weigh(scores: Any) -> Any:
        filled = F.where(mask, scores, fill * F.ones_like(scores))
        weights = F.softmax(filled, axis=-1)
        return F.broadcast_mul(weights, F.cast(mask, dtype)) if times else weights

    return weigh


@_form("no mask")
def _no_mask(F: Any, x: Any, dtype: str) -> Any:
    return _attend(F, x, lambda scores: F.softmax(scores))


@_form("GluonNLP, lengths", _LENGTHS, inside="lengths")
@_form("GluonNLP, lengths of 0", _NONE, inside="lengths")
@_form("GluonNLP, lengths between and beyond", np.float32([2.5, 9, 1]), inside="lengths")
def _gluonnlp(F: Any, x: Any, dtype: str, lengths: Any) -> Any:
    mask = _over_heads(F, _square(F, _keys(F, x, lengths)))
    return _attend(F, x, _selected(F, mask, dtype))


@_form("GluonNLP, lengths and no product", _LENGTHS, inside="lengths rows")
@_form("GluonNLP, lengths of 0 and no product", _NONE, inside="lengths rows")
def _gluonnlp_sum(F: Any, x: Any, dtype: str, lengths: Any) -> Any:
    mask = _repeated(F, _square(F, _keys(F, x, lengths)))
    return _attend(F, x, _selected(F, mask, dtype, fill=-3e4, times=False))


@_form("GluonNLP, decoder", _LENGTHS, inside="lengths causal")
@_form("GluonNLP, decoder, lengths of 0", _NONE, inside="lengths causal")
def _decoder(F: Any, x: Any, dtype: str, lengths: Any) -> Any:
    mask = F.broadcast_mul(_square(F, _keys(F, x, lengths)), _causal(F, x))
    return _attend(F, x, _selected(F, _over_heads(F, mask), dtype))


@_form("decoder without product", _NONE, inside="mask rows")
def _decoder_sum(F: Any, x: Any, dtype: str, lengths: Any) -> Any:
    mask = F.broadcast_mul(_square(F, _keys(F, x, lengths)), _causal(F, x))
    return _attend(F, x, _selected(F, _over_heads(F, mask), dtype, times=False))


@_form("GPT-2", inside="causal")
def _gpt2(F: Any, x: Any, dtype: str) -> Any:
    ones = F.ones_like(F.slice_axis(x, axis=2, begin=0, end=1))  # (N, T, 1)
    mask = F.broadcast_mul(_causal(F, x), ones)
    return _attend(F, x, _selected(F, _over_heads(F, mask), dtype))


@_form("causal, added", inside="causal")
def _causal_added(F: Any, x: Any, dtype: str) -> Any:
    mask = F.cast((1 - _causal(F, x)) * -3e4, dtype)
    return _attend(F, x, lambda scores: F.softmax(F.broadcast_add(scores, mask)))


@_form("causal, added as an array", (_CAUSAL - 1)[None] * 3e4, inside="mask rows")
@_form("holes, added", (_HOLES[:1] - 1) * 3e4, inside="mask rows")
@_form("bias, added", _RANDOM.standard_normal((1, LENGTH, LENGTH)), inside="mask rows")
@_form("endless, added", np.where(_SEEN, 0, -np.inf)[:1], inside="mask rows")
@_form("endless rows, added", np.where(_EMPTY, 0, -np.inf)[:1], inside="mask rows")
@_form(
    "learned bias, added",
    _RANDOM.standard_normal((1, LENGTH, LENGTH)),
    inside=None,
    learned=True,
)
def _added(F: Any, x: Any, dtype: str, mask: Any) -> Any:
    return _attend(F, x, lambda scores: F.softmax(F.broadcast_add(scores, mask)))


@_form("bias of heads, added", _RANDOM.standard_normal((6, LENGTH, LENGTH)), inside="mask rows")
def _added_whole(F: Any, x: Any, dtype: str, mask: Any) -> Any:
    return _attend(F, x, lambda scores: F.softmax(scores + mask))


def _four_axes(F: Any, mask: Any) -> Callable[[Any], Any]:
    """Return the softmax of scores and a mask added that broadcasts to (N, heads, T, T)."""

    def weigh(scores: Any) -> Any:
        scores = F.reshape(scores, shape=(-4, -1, HEADS, 0, 0))
        return F.reshape(F.softmax(F.broadcast_add(scores, mask)), shape=(-3, 0, 0))

    return weigh


_PADDED = np.array([[1, 1, 1, 1, 0, 0], [1] * 6, [1, 0, 0, 0, 0, 0]], np.float32)


@_form("BERT, keys as an array", _PADDED, inside="mask rows")
@_form("BERT, keys in the middle", _PADDED[:, ::-1], inside="mask rows")
@_form(
    "BERT, entries without keys",
    _PADDED * np.array([[1], [0], [1]], np.float32),
    inside="mask rows",
    quiet=np.bool_([[0] * 6, [1] * 6, [0] * 6]),
)
def _bert(F: Any, x: Any, dtype: str, keys: Any) -> Any:
    keys = F.expand_dims(F.expand_dims(keys, axis=1), axis=1)
    return _attend(F, x, _four_axes(F, (1 - keys) * -3e4))


@_form("BERT, lengths", _LENGTHS, inside="lengths rows")
@_form(
    "BERT, lengths of 0",
    _NONE,
    inside="lengths rows",
    quiet=np.repeat([[False], [True], [False]], 6, axis=1),
)
def _bert_lengths(F: Any, x: Any, dtype: str, lengths: Any) -> Any:
    keys = F.cast(_keys(F, x, lengths), dtype)
    keys = F.expand_dims(F.expand_dims(keys, axis=1), axis=1)
    return _attend(F, x, _four_axes(F, (1.0 - keys) * -3e4))


@_form("rows without keys, added", (_EMPTY - 1) * 3e4, inside="mask rows", quiet=_EMPTY_ROWS)
def _added_each(F: Any, x: Any, dtype: str, mask: Any) -> Any:
    return _attend(F, x, lambda scores: F.softmax(scores + _over_heads(F, mask)))


@_form("two masks added", (_HOLES - 1) * 2e4, (_CAUSAL - 1)[None] * 2e4, inside="mask rows")
def _added_twice(F: Any, x: Any, dtype: str, one: Any, other: Any) -> Any:
    def weigh(scores: Any) -> Any:
        return F.softmax(F.broadcast_add(scores + _over_heads(F, one), other))

    return _attend(F, x, weigh)


@_form("selected by an array", _HOLES, inside="mask rows")
@_form("selected by an array, rows without keys", _EMPTY, inside="mask rows")
def _selected_by_array(F: Any, x: Any, dtype: str, mask: Any) -> Any:
    return _attend(F, x, _selected(F, _over_heads(F, mask), dtype, times=False))


@_form("selected by an array, 1e18", _HOLES, inside="mask rows")
@_form("selected by an array, 1e18, rows without keys", _EMPTY, inside="mask rows", wide=True)
def _selected_far(F: Any, x: Any, dtype: str, mask: Any) -> Any:
    return _attend(F, x, _selected(F, _over_heads(F, mask), dtype, fill=-1e18, times=False))


@_form("BERT, lengths, 1e9", _LENGTHS, inside="lengths rows", wide=True)
@_form(
    "BERT, lengths of 0, 1e9",
    _NONE,
    inside="lengths rows",
    quiet=np.repeat([[False], [True], [False]], 6, axis=1),
    wide=True,
)
def _bert_far(F: Any, x: Any, dtype: str, lengths: Any) -> Any:
    keys = F.cast(_keys(F, x, lengths), dtype)
    keys = F.expand_dims(F.expand_dims(keys, axis=1), axis=1)
    return _attend(F, x, _four_axes(F, (1.0 - keys) * -1e9))


@_form("BERT, keys as an array, 1e9", _PADDED, inside="mask rows", wide=True)
@_form(
    "BERT, entries without keys, 1e9",
    _PADDED * np.array([[1], [0], [1]], np.float32),
    inside="mask rows",
    quiet=np.repeat([[False], [True], [False]], 6, axis=1),
    wide=True,
)
def _bert_array_far(F: Any, x: Any, dtype: str, keys: Any) -> Any:
    keys = F.expand_dims(F.expand_dims(keys, axis=1), axis=1)
    return _attend(F, x, _four_axes(F, (1 - keys) * -1e9))


@_form("selected by an array, and multiplied", _EMPTY, inside=None)
def _multiplied_by_array(F: Any, x: Any, dtype: str, mask: Any) -> Any:
    return _attend(F, x, _selected(F, _over_heads(F, mask), dtype))


@_form("selected and multiplied", _EMPTY, inside="mask rows")
def _selected_and_multiplied(F: Any, x: Any, dtype: str, mask: Any) -> Any:
    return _attend(F, x, _selected(F, _over_heads(F, mask > 0), dtype))


@_form("selected by an array, endless", _HOLES, inside="mask")
@_form("selected by an array, endless rows", _EMPTY, inside="mask", lost=True)
def _selected_endless(F: Any, x: Any, dtype: str, mask: Any) -> Any:
    fill = -float("inf")
    return _attend(F, x, _selected(F, _over_heads(F, mask), dtype, fill=fill, times=False))


@_form("hidden by an array", 1 - _HOLES, inside="mask rows")
def _hidden(F: Any, x: Any, dtype: str, mask: Any) -> Any:
    mask = _over_heads(F, mask)
    return _attend(
        F, x, lambda scores: F.softmax(F.where(mask, -2e4 * F.ones_like(scores), scores))
    )


@_form("softmax with lengths", _LENGTHS, inside="lengths")
@_form("softmax with lengths of 0", _NONE, inside="lengths")
def _with_lengths(F: Any, x: Any, dtype: str, lengths: Any) -> Any:
    def weigh(scores: Any) -> Any:
        zeros = F.reshape(F.zeros_like(F.contrib.arange_like(x, axis=1)), shape=(1, -1))
        rows = F.broadcast_add(F.cast(F.reshape(lengths, shape=(-1, 1)), dtype), zeros)
        rows = F.broadcast_axis(F.expand_dims(F.cast(rows, "int32"), axis=1), axis=1, size=HEADS)
        rows = F.reshape(rows, shape=(-1, 0), reverse=True)
        return F.softmax(scores, length=rows, use_length=True, axis=-1)

    return _attend(F, x, weigh)


@_form(
    "softmax with lengths of rows", np.int32([range(6), [6] * 6, [1, 3, 0, 5, 6, 2]]),
    inside="mask rows",
)  # fmt: skip
def _with_lengths_of_rows(F: Any, x: Any, dtype: str, lengths: Any) -> Any:
    return _attend(
        F, x, lambda s: F.softmax(s, length=_repeated(F, lengths), use_length=True, axis=-1)
    )


@_form("SequenceMask of scores", _LENGTHS, inside="lengths rows")
@_form("SequenceMask of scores, lengths of 0", _NONE, inside="lengths rows")
def _sequence_mask(F: Any, x: Any, dtype: str, lengths: Any) -> Any:
    def weigh(scores: Any) -> Any:
        rows = F.repeat(F.repeat(lengths, repeats=HEADS, axis=0), repeats=LENGTH, axis=0)
        flat = F.SequenceMask(
            F.reshape(scores, shape=(-3, 0)), rows, use_sequence_length=True, value=-2e4, axis=1
        )
        return F.reshape(F.softmax(flat), shape=(-4, -1, LENGTH, 0))

    return _attend(F, x, weigh)


@_form("SequenceMask of ones", _LENGTHS, inside="lengths")
@_form("SequenceMask of ones, lengths of 0", _NONE, inside="lengths")
def _mask_of_ones(F: Any, x: Any, dtype: str, lengths: Any) -> Any:
    ones = F.ones_like(F.reshape(F.slice_axis(x, axis=2, begin=0, end=1), shape=(0, -3)))
    keys = F.SequenceMask(ones, lengths, use_sequence_length=True, axis=1)
    return _attend(F, x, _selected(F, _over_heads(F, _square(F, keys)), dtype))


def _interleaved(F: Any, x: Any, weigh: Callable[[Any], Any]) -> Any:
    x = F.transpose(x, axes=(1, 0, 2))
    scores = F.contrib.interleaved_matmul_selfatt_qk(x, heads=HEADS)
    y = F.contrib.interleaved_matmul_selfatt_valatt(x, weigh(scores), heads=HEADS)
    return F.transpose(y, axes=(1, 0, 2))


@_form("interleaved, lengths", _LENGTHS, inside="lengths")
@_form("interleaved, lengths of 0", _NONE, inside="lengths")
def _interleaved_lengths(F: Any, x: Any, dtype: str, lengths: Any) -> Any:
    def weigh(scores: Any) -> Any:
        rows = F.broadcast_axis(F.reshape(lengths, shape=(-1, 1)), axis=1, size=LENGTH)
        rows = F.broadcast_axis(F.expand_dims(rows, axis=1), axis=1, size=HEADS)
        rows = F.reshape(rows, shape=(-3, 0))
        return F.softmax(scores, length=rows, use_length=True, axis=-1)

    return _interleaved(F, x, weigh)


@_form("interleaved, selected", _HOLES, inside="mask rows")
def _interleaved_selected(F: Any, x: Any, dtype: str, mask: Any) -> Any:
    return _interleaved(F, x, _selected(F, _over_heads(F, mask), dtype, times=False))


@_form("interleaved, two arrays, lengths", _LENGTHS, inside="lengths")
def _encdec(F: Any, x: Any, dtype: str, lengths: Any) -> Any:
    x = F.transpose(x, axes=(1, 0, 2))
    queries = F.slice_axis(x, axis=2, begin=0, end=UNITS)
    memory = F.slice_axis(x, axis=2, begin=UNITS, end=3 * UNITS)
    scores = F.contrib.interleaved_matmul_encdec_qk(queries, memory, heads=HEADS)
    mask = _over_heads(F, _square(F, _keys(F, F.transpose(x, axes=(1, 0, 2)), lengths)))
    weights = _selected(F, mask, dtype)(scores)
    y = F.contrib.interleaved_matmul_encdec_valatt(memory, weights, heads=HEADS)
    return F.transpose(y, axes=(1, 0, 2))


# Each form and a dtype of its arrays.
CASES = [(n, d) for n, f in FORMS.items() for d in ("float16", "bfloat16")[f.wide :]]


def _run(name: str, dtype: str, steps: int, *, amp_dtype: str | None) -> tuple[Any, list[Any]]:
    """Return the block, and outputs and gradients of the projection of some steps."""
    form = FORMS[name]
    net = Attend(form, dtype)
    net.hybridize(static_alloc=True, static_shape=True)
    random = np.random.default_rng(7)
    gpu, kind = mx.gpu(0), dtype
    drawn = random.standard_normal((BATCH, LENGTH, UNITS))
    if form.quiet is not None:
        drawn *= ~form.quiet[..., None]
    factors = nd.array(drawn, ctx=gpu).astype(dtype)
    found = []
    for _ in range(steps):
        x = nd.array(random.standard_normal((BATCH, LENGTH, 3 * UNITS)), ctx=gpu).astype(kind)
        arrays = [nd.array(a, ctx=gpu, dtype=a.dtype) for a in form.arrays]
        arrays = [a if a.dtype == np.int32 else a.astype(kind) for a in arrays]
        for a in (x, *(arrays if form.learned else ())):
            a.attach_grad()
        with autograd.record(), amp.autocast(amp_dtype) if amp_dtype else nullcontext():
            y = net(x, *arrays)
            loss = (y.astype(dtype) * factors).sum()
        loss.backward()
        made = (y, x.grad, *(a.grad for a in arrays if form.learned))
        found.append([a.astype("float32").asnumpy() for a in made])
    return net, found


def attention_in(net: Any) -> Any:
    """Return the names of the operators of the forward pass, and the attention's attributes."""
    (graph,) = net._graphs.values()
    (plan,) = graph._cached._plans.values()
    nodes = list(plan.forward.layout.instructions)
    found = [x for x in nodes if x.op.name == "scaled_dot_product_attention"]
    return nodes, found


def _equal(got: Any, want: Any, tolerance: float) -> None:
    for ours, theirs in zip(got, want, strict=True):
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(np.isnan(a), np.isnan(b))
            top = np.nanmax(np.abs(b), initial=1e-3)
            np.testing.assert_allclose(a, b, rtol=0, atol=tolerance * top)


def check_form(name: str, dtype: str, amp_dtype: str | None = None, steps: int = 4) -> None:
    """Assert that a form on ``gpu(0)`` is one attention, which computes what its operators do.

    Args:
        name: Name of the form.
        dtype: Dtype of its arrays.
        amp_dtype: Dtype of mixed precision; None without it.
        steps: Training steps.
    """
    net, got = _run(name, dtype, steps, amp_dtype=amp_dtype)
    nodes, found = attention_in(net)
    inside = FORMS[name].inside
    names = [x.op.name for x in nodes]
    if inside is None:
        assert not found
        assert "softmax" in names
    else:
        assert len(found) == 1, names
        attrs = found[0].attrs
        flags = {"mask": "use_mask", "lengths": "use_length", "causal": "causal"}
        hidden = {part for part, flag in flags.items() if attrs[flag]}
        assert hidden == inside - {"rows"}
        assert "softmax" not in names
    with MXNET_DISABLED_GRAPH_PASSES.override(frozenset({"fuse_attention"})):
        apart, want = _run(name, dtype, steps, amp_dtype=amp_dtype)
        assert not attention_in(apart)[1]
    if FORMS[name].lost:
        got, want = ([step[:1] for step in steps] for steps in (got, want))
    narrow = amp_dtype or dtype
    _equal(got, want, 0.03 if narrow == "bfloat16" else 0.01)
