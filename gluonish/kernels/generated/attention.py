"""Attention and its gradient on CPUs in tiles, by `attention_code` and `attention_gradient_code`.

Arrays may have any strides, but contiguous rows. Sums do not depend on the number of threads,
unless fewer samples and shared heads than threads make a gradient share its keys among these.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from ctypes import addressof, c_int64
from functools import lru_cache
from struct import pack, unpack
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.config import MXNET_USE_FUSION
from gluonish.core.dtype import BFLOAT16, BOOL, FLOAT16, FLOAT32, INT32, INT64
from gluonish.core.spec import Shape, Spec
from gluonish.kernels import openmp
from gluonish.kernels.compiler import CompiledKernel, available
from gluonish.kernels.generated.attention_amx import supports_amx
from gluonish.kernels.generated.attention_code import PARAMS, forward_kernel
from gluonish.kernels.generated.attention_gradient_code import PARAMS as BACKWARD_PARAMS
from gluonish.kernels.generated.attention_gradient_code import backward_kernel
from gluonish.kernels.generated.attention_panels import LOG2_E, Variant, panel_width, tile_size
from gluonish.ops.attention.scaled_dot_product import (
    ATTENTION,
    ATTENTION_BACKWARD,
    Reach,
    by_heads,
    check_lengths,
    optional_inputs,
    output_by_heads,
    scale_of,
    shape_by_heads,
)
from gluonish.ops.kernel import Array, BackEnd, Bound, FastKernel, Key, RefusedError, address
from gluonish.ops.nn.dropout import drops
from gluonish.ops.registry import Attrs
from gluonish.ops.support.philox import store_key, stored_key

_KINDS = {FLOAT32: "float32", FLOAT16: "float16", BFLOAT16: "bfloat16"}
_MASKS = {**_KINDS, BOOL: "bool"}
_LENGTHS = (INT32, INT64, FLOAT32)
_ANY = 1 << 30  # more keys than there are
_MAX_WIDTH = 512  # of keys and values: a tile's panels are on the stack
_SMALL = 1 << 18  # multiplications up to which one thread is used
_FEWEST_KEYS = 256  # of a thread's share
_SHORT, _LONG = 1 << 10, 1 << 20  # scores of a head; see `is_faster`


def _bits(value: float) -> int:
    """Return the bits of a float32 as an integer."""
    made: int = unpack("i", pack("f", value))[0]
    return made


def _signed(value: int) -> int:
    """Return the int64 with the bits of a uint64."""
    return value - (1 << 64) if value >= 1 << 63 else value


class _Layout(NamedTuple):
    """The shape, strides in bytes, and dtype of an array."""

    shape: Shape
    strides: Shape
    dtype: np.dtype[Any]

    def transpose(self, axes: Sequence[int]) -> "_Layout":
        """Return the layout with axes in another order."""
        shape, strides = (tuple(x[i] for i in axes) for x in self[:2])
        return self._replace(shape=shape, strides=strides)

    def swapaxes(self, i: int, j: int) -> "_Layout":
        """Return the layout with two axes exchanged."""
        order = list(range(len(self.shape)))
        order[i], order[j] = order[j], order[i]
        return self.transpose(order)

    def with_heads(self) -> "_Layout":
        """Return the layout of the same array as (N, H, T, C); without heads, H is 1.

        Raises:
            RefusedError: The rows are not contiguous, or several axes before the heads are not one.
        """
        shape, strides = self.shape, self.strides
        if strides[-1] != self.dtype.itemsize and shape[-1] > 1:
            raise RefusedError("attention: expected contiguous rows, got strided ones")
        if len(shape) == 3:
            return self._replace(
                shape=(shape[0], 1, *shape[1:]), strides=(strides[0], strides[0], *strides[1:])
            )
        for i in range(len(shape) - 4):
            if strides[i] != shape[i + 1] * strides[i + 1]:
                raise RefusedError("attention: expected samples along one axis, got several axes")
        samples = math.prod(shape[:-3])
        return self._replace(shape=(samples, *shape[-3:]), strides=(strides[-4], *strides[-3:]))

    def is_contiguous(self) -> bool:
        """Whether the elements are in order, without gaps."""
        step = self.dtype.itemsize
        for extent, stride in zip(self.shape[::-1], self.strides[::-1], strict=True):
            if extent > 1 and stride != step:
                return False
            step *= extent
        return True

    def steps(self, name: str) -> dict[str, int]:
        """Return the params of the steps between samples, heads and rows."""
        return dict(zip((f"{name}_n", f"{name}_h", f"{name}_t"), self.strides[:3], strict=True))


def _layout(array: Array) -> _Layout:
    return _Layout(array.shape, array.strides, array.dtype)


def _mask_steps(mask: _Layout, scores: Shape) -> dict[str, int]:
    """Return the params of the steps of a mask that broadcasts to scores (..., T, S)."""
    missing = len(scores) - len(mask.shape)
    shape, strides = (*(1,) * missing, *mask.shape), (*(0,) * missing, *mask.strides)
    steps = [0 if n == 1 else step for n, step in zip(shape, strides, strict=True)]
    if len(steps) == 3:
        steps.insert(1, 0)
    return dict(zip(("mask_n", "mask_h", "mask_t", "mask_s"), steps, strict=True))


def _common(q: _Layout, k: _Layout, v: _Layout, attrs: Attrs) -> dict[str, int]:
    """Return the params that both kernels have, without addresses."""
    samples, heads, queries, width = q.shape
    keys = k.shape[2]
    reach = Reach.of(causal=attrs["causal"], window=attrs["window"])
    before, after = (_ANY if x is None else x for x in reach)
    return {
        "batch": samples,
        "heads": heads,
        "group": heads // k.shape[1],
        "queries": queries,
        "keys": keys,
        "width": width,
        "value_width": v.shape[3],
        "shift": keys - queries,
        "left": before,
        "right": after,
        "scale": _bits(scale_of(attrs["scale"], width) * LOG2_E),
        "cap": _bits((attrs["softcap"] or 0.0) * LOG2_E),
        "p": _bits(attrs["dropout"]),
        "factor": _bits(1 / (1 - attrs["dropout"])),
        **q.steps("q"),
        **k.steps("k"),
        **v.steps("v"),
    }


def _variant(
    inputs: Sequence[_Layout], attrs: Attrs, q: _Layout, k: _Layout, v: _Layout
) -> Variant:
    """Return the variant for inputs; `dropout` is set as if weights were dropped.

    Args:
        q: Layout of the queries by heads; `k` and `v` are those of keys and values.

    Raises:
        RefusedError: The lengths are not contiguous.
    """
    mask, lengths = optional_inputs(inputs[3:], attrs)
    if lengths is not None and not lengths.is_contiguous():
        raise RefusedError("attention: expected contiguous lengths, got strided ones")
    dropout = "" if not attrs["dropout"] else "any" if k.shape[2] % 4 else "aligned"
    kind = _KINDS[q.dtype]
    scale = scale_of(attrs["scale"], q.shape[3])
    return Variant(
        kind=kind,
        mask="" if mask is None else _MASKS[mask.dtype],
        lengths="" if lengths is None else lengths.dtype.name,
        pairs=lengths is not None and len(lengths.shape) > 1,
        capped=attrs["softcap"] is not None,
        dropout=dropout,
        amx=kind == "bfloat16" and supports_amx(q.shape[3], v.shape[3], scale),
    )


class _Launch:
    """A kernel with its params, for arrays of given layouts.

    Args:
        names: Names of the params in order, separated by spaces.
        params: Their values, without addresses; others are zero.
        steps: Number of steps.
        work: Multiplications.
    """

    __slots__ = ("_indices", "_kernel", "_params", "_steps", "_work")

    def __init__(
        self, kernel: CompiledKernel, names: str, params: Mapping[str, int], steps: int, work: int
    ) -> None:
        order = names.split()
        self._indices = {name: i for i, name in enumerate(order)}
        self._params = [params.get(name, 0) for name in order]
        self._kernel = kernel
        self._steps = steps
        self._work = work

    def run(self, values: Mapping[str, int]) -> None:
        """Run the kernel with other values of some params."""
        params = (c_int64 * len(self._params))(*self._params)
        for name, value in values.items():
            params[self._indices[name]] = value
        if self._work <= _SMALL:
            self._kernel.run_alone(self._steps, addressof(params))
        else:
            self._kernel.run_at(self._steps, addressof(params), 0)


class _Plan:
    """Base class of the plans; operands are the operator's outputs and inputs in their order.

    Each variant's kernel is compiled at its first use: calls in training and others differ in
    dropout.
    """

    def run(self, *arrays: Array, key: Key | None = None) -> None:
        """Run on outputs and inputs that have the plan's layouts."""
        raise NotImplementedError

    def packing(self, constant: Collection[int]) -> None:
        """Return None: nothing can be packed."""

    def attach(
        self,
        operands: Sequence[int],
        arrays: Sequence[Any],
        movable: Collection[int],
        packing: None = None,
    ) -> "_Attached":
        """Bind the plan to memory; see `gluonish.ops.kernel.Plan`."""
        return _Attached(self, operands)


class _Attached:
    """A plan bound to the indices of its operands among the arrays."""

    __slots__ = ("_operands", "_plan")

    def __init__(self, plan: _Plan, operands: Sequence[int]) -> None:
        self._plan = plan
        self._operands = tuple(operands)

    def run(self, arrays: Sequence[Any]) -> None:
        """Run on the arrays."""
        self._plan.run(*[arrays[i] for i in self._operands])

    def pack(self, arrays: Sequence[Any]) -> None:
        """Do nothing."""


def _optional_addresses(arrays: Sequence[Array], attrs: Attrs) -> dict[str, int]:
    """Return the params of the addresses of a mask and lengths."""
    given = zip(("mask_at", "lengths_at"), optional_inputs(arrays, attrs), strict=True)
    return {name: address(array) for name, array in given if array is not None}


class _ForwardPlan(_Plan):
    """The plan of attention."""

    def __init__(self, outputs: Sequence[_Layout], inputs: Sequence[_Layout], attrs: Attrs) -> None:
        out = output_by_heads(outputs[0], attrs).with_heads()
        q, k, v = (by_heads(x, attrs["layout"]).with_heads() for x in inputs[:3])
        params = _common(q, k, v, attrs) | out.steps("out")
        if attrs["use_mask"]:
            shape = by_heads(inputs[0], attrs["layout"]).shape
            params |= _mask_steps(inputs[3], (*shape[:-1], k.shape[2]))
        samples, heads, queries, _ = q.shape
        steps = samples * heads * -(-queries // tile_size())
        work = math.prod(q.shape) * k.shape[2]
        variant = _variant(inputs, attrs, q, k, v)
        self._attrs = attrs
        self._arguments = (PARAMS, params, steps, work)
        self._variants = (variant._replace(dropout=""), variant)
        self._launches: list[_Launch | None] = [None, None]

    def _launch(self, dropped: bool) -> _Launch:
        found = self._launches[dropped]
        if found is None:
            kernel = forward_kernel(self._variants[dropped])
            found = self._launches[dropped] = _Launch(kernel, *self._arguments)
        return found

    def run(self, *arrays: Array, key: Key | None = None) -> None:
        """Run on outputs and inputs that have the plan's layouts."""
        out, log_sum, drawn, q, k, v, *rest = arrays
        if self._attrs["use_length"]:
            check_lengths(rest[-1], self._attrs)
        values = {"out_at": address(out), "log_sum_at": address(log_sum), "q_at": address(q)}
        values |= {"k_at": address(k), "v_at": address(v)}
        values |= _optional_addresses(rest, self._attrs)
        attrs = self._attrs
        drop = {"p": attrs["dropout"], "mode": attrs["mode"], "train": attrs["train"]}
        dropped = key is not None and drops(drop)
        if key is None:
            drawn[...] = 0
        else:
            store_key(np, drawn, key)
            values |= {"seed": _signed(key[0]), "offset": _signed(key[1])}
        self._launch(dropped).run(values)


class _BackwardPlan(_Plan):
    """The plan of attention's gradient."""

    def __init__(self, outputs: Sequence[_Layout], inputs: Sequence[_Layout], attrs: Attrs) -> None:
        grad, q, k, v, out, _log_sum, _drawn, *rest = inputs
        layout = attrs["layout"]
        g, o = (output_by_heads(x, attrs).with_heads() for x in (grad, out))
        queries, keys, values = (by_heads(x, layout).with_heads() for x in (q, k, v))
        for x in outputs:
            by_heads(x, layout).with_heads()
        params = _common(queries, keys, values, attrs) | g.steps("grad") | o.steps("out")
        if attrs["use_mask"]:
            shape = by_heads(q, layout).shape
            params |= _mask_steps(rest[0], (*shape[:-1], keys.shape[2]))
        params["raw_scale"] = _bits(scale_of(attrs["scale"], queries.shape[3]))
        self._attrs = attrs
        self._params = params
        self._variant = _variant((q, k, v, *rest), attrs, queries, keys, values)
        self._jobs = queries.shape[0] * keys.shape[1]
        self._keys = keys.shape[2]
        self._work = 3 * math.prod(queries.shape) * self._keys
        self._launches: dict[int, _Launch] = {}

    def run(self, *arrays: Array, key: Key | None = None) -> None:
        """Run on outputs and inputs that have the plan's layouts."""
        of_queries, *others = (by_heads(x, self._attrs["layout"]) for x in arrays[:3])
        grad, q, k, v, out, log_sum, drawn, *rest = arrays[3:]
        shares = self._shares()
        direct = shares == 1 and of_queries.dtype == FLOAT32
        dq = of_queries[None] if direct else np.empty((shares, *of_queries.shape), np.float32)
        sums = [_sums_for(x) for x in others]
        values = {"dq_at": address(dq), "grad_at": address(grad), "q_at": address(q)}
        values |= {"k_at": address(k), "v_at": address(v), "out_at": address(out)}
        values |= {"log_sum_at": address(log_sum), "dq_share": dq.strides[0]}
        values |= _layout(dq[0]).with_heads().steps("dq")
        for name, array in zip(("dk", "dv"), sums, strict=True):
            values |= {f"{name}_at": address(array), **_layout(array).with_heads().steps(name)}
        values |= _optional_addresses(rest, self._attrs)
        if self._attrs["dropout"]:
            seed, offset = stored_key(np, drawn)
            values |= {"seed": _signed(seed), "offset": _signed(offset)}
        self._launch(shares).run(values)
        if not direct:
            of_queries[...] = dq[0] if shares == 1 else dq.sum(axis=0)
        for array, made in zip(others, sums, strict=True):
            if made is not array:
                array[...] = made[..., : array.shape[-1]]

    def _shares(self) -> int:
        """Return the number of threads that share the keys of a sample's head."""
        if self._work <= _SMALL or openmp.is_disabled():
            return 1
        threads = openmp.team().threads()
        shares: int = min(-(-threads // self._jobs), self._keys // _FEWEST_KEYS)
        return max(1, shares)

    def _launch(self, shares: int) -> _Launch:
        found = self._launches.get(shares)
        if found is None:
            params = {**self._params, "shares": shares, "share_keys": -(-self._keys // shares)}
            kernel = backward_kernel(self._variant)
            steps = self._jobs * shares
            found = _Launch(kernel, BACKWARD_PARAMS, params, steps, self._work)
            self._launches[shares] = found
        return found


def _sums_for(array: Array) -> Array:
    """Return the array, or float32 memory of its shape with rows of whole panels."""
    columns = -(-array.shape[-1] // panel_width()) * panel_width()
    if array.dtype == FLOAT32 and array.shape[-1] == columns:
        return array
    return np.empty((*array.shape[:-1], columns), np.float32)


def _supports(q: Spec, k: Spec, v: Spec, *others: Spec, **attrs: Any) -> bool:
    """Whether `ATTENTION` is supported for these inputs."""
    mask, lengths = optional_inputs(others, attrs)
    if mask is not None and (mask.dtype not in _MASKS or len(q.shape) > 4):
        return False
    if lengths is not None and (lengths.dtype not in _LENGTHS or len(q.shape) > 4):
        return False
    widest = max(x.shape[-1] for x in (q, v))
    is_full = all(x.size for x in (q, k, v))
    return MXNET_USE_FUSION.value and q.dtype in _KINDS and is_full and widest <= _MAX_WIDTH


def _supports_forward(q: Spec, k: Spec, v: Spec, *others: Spec, **attrs: Any) -> bool:
    """Whether `ATTENTION` is supported for these inputs, and not faster by the reference kernel.

    Of one query, tiles of queries waste most of their work: NumPy's products take an eighth of the
    time. They would copy keys in 16 bits, or that heads share.
    """
    by_products = len(q.shape) == 4 and q.dtype.itemsize == 4
    if by_products:
        queries, keys = (shape_by_heads(x.shape, attrs["layout"]) for x in (q, k))
        by_products = queries[2] == 1 and queries[1] == keys[1]
    by_products = by_products and not drops({"p": attrs["dropout"], **attrs})
    return not by_products and _supports(q, k, v, *others, **attrs)


def is_faster(q: Spec, k: Spec, v: Spec, gradient: bool) -> bool:
    """Whether to compute written-out attention on such queries, keys and values in tiles.

    Args:
        gradient: Whether a gradient may be required. It computes weights again, which takes longer
            than to read those of a short sequence (`benchmarks/cpu/attention.py`).
    """
    scores = q.shape[-2] * k.shape[-2]
    pays = not gradient or scores >= _LONG or scores <= _SHORT
    return pays and _supports(q, k, v, **ATTENTION.schema.defaults)


def _supports_backward(
    grad: Spec,
    q: Spec,
    k: Spec,
    v: Spec,
    out: Spec,
    log_sum: Spec,
    drawn: Spec,
    *rest: Spec,
    **a: Any,
) -> bool:
    """Whether `ATTENTION_BACKWARD` is supported for these inputs."""
    return _supports(q, k, v, *rest, **a)


def _plan_with(
    make: type[_ForwardPlan | _BackwardPlan],
    gaps: Collection[int],
) -> Any:
    """Return the function that plans a call, and keeps the plans of the last layouts.

    Args:
        gaps: Indices of inputs that must be contiguous.
    """

    @lru_cache(1024)
    def planned(layouts: tuple[_Layout, ...], outputs: int, attrs: tuple[Any, ...]) -> _Plan:
        return make(layouts[:outputs], layouts[outputs:], dict(attrs))

    def plan(outputs: Sequence[Array], inputs: Sequence[Array], attrs: Attrs) -> Bound:
        for i in gaps:
            if i < len(inputs) and not inputs[i].flags.c_contiguous:
                raise RefusedError("attention: expected contiguous logarithms, got strided ones")
        layouts = tuple(map(_layout, (*outputs, *inputs)))
        chosen = {name: value for name, value in attrs.items() if name != "key"}
        return Bound(planned(layouts, len(outputs), tuple(chosen.items())))

    return plan


KERNELS = (
    (
        ATTENTION,
        FastKernel(
            BackEnd.GENERATED,
            "attention",
            _supports_forward,
            plan=_plan_with(_ForwardPlan, ()),
            enabled=available,
            serial_limit=1 << 13,
            makes=(FLOAT32, INT64),
            reads_strides=lambda position, shape, strides: position < 3 and strides[-1] == 1,
            writes_strides=lambda position, shape, strides: position == 0 and strides[-1] == 1,
        ),
    ),
    (
        ATTENTION_BACKWARD,
        FastKernel(
            BackEnd.GENERATED,
            "attention_backward",
            _supports_backward,
            plan=_plan_with(_BackwardPlan, (5, 6)),
            enabled=available,
            serial_limit=1 << 13,
            reads_strides=lambda position, shape, strides: position < 5 and strides[-1] == 1,
            writes_strides=lambda position, shape, strides: strides[-1] == 1,
        ),
    ),
)
