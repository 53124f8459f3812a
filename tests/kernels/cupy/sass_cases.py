"""The kernels whose machine code is held to a table: all sources, programs, optimizer steps."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import ml_dtypes
import numpy as np

from gluonish.core.dtype import BFLOAT16, FLOAT32
from gluonish.core.spec import Spec
from gluonish.kernels.cupy import adafactor, copies, pointwise, pointwise_source
from gluonish.kernels.cupy.optimizer_source import OPTIONS, layout_of, source_of
from gluonish.kernels.cupy.source import KINDS, VECTOR_NBYTES, source_text
from gluonish.kernels.optimizer_formulas import FORMULAS, state_names
from gluonish.ops.fused.pointwise import Instruction, Program
from gluonish.ops.registry import find_operator
from gluonish.ops.updates.rules import ADAM, SGD_MOMENTUM, Rule
from tests.kernels.cupy.sass import Case, Count

DTYPES = tuple(map(np.dtype, (np.float16, ml_dtypes.bfloat16, np.float32, np.float64)))

_POINT = {"KERNEL": 1, "STRIDE": 1, "DILATE": 1, "PAD": 0}
_HALVING = {"KERNEL": 3, "STRIDE": 2, "PAD": 1}
_WINDOW = {"KERNEL": 3, "STRIDE": 1, "DILATE": 1, "PAD": 1}

_WIDEST = 0  # of VECTOR: as many elements as 16 bytes have
_SAME, _KIND, _SIDE = -1, -2, -3  # of FROM and TO: a plain copy, the dtype's kind; of SIDE

Macros = tuple[tuple[str, int], ...]


def _window(values: Mapping[str, int]) -> Macros:
    """Return the macros of a two-dimensional window."""
    flat = {"PAD": 0}
    return tuple(
        (f"{name}{axis}", value if axis else flat.get(name, 1))
        for name, value in values.items()
        for axis in range(3)
    )


def _loads(*elements: int) -> list[tuple[str, int]]:
    return [("LDG", count) for count in elements]


_STORE = [("STG", 1)]
# Rows that a warp holds in registers, of which the second ends within an access, and long ones.
_ROWS: dict[str, Macros] = {
    "held": (("LANES", 32), ("HELD", 3), ("FULL", 1)),
    "ragged": (("LANES", 32), ("HELD", 3), ("FULL", 0)),
    "long": (("LANES", 1024), ("THREADS", 1024)),
}
# For each file: macros, a name for them, and for each kernel how its passes count elements: kind
# of access, and how many values of the file's dtype are accessed for one element.
_BY_MACROS = tuple[Macros, str, dict[str, list[tuple[str, int]]]]
_FILES: dict[str, list[_BY_MACROS]] = {
    "all_finite": [((("MOST", 200), ("BLOCK", 1 << 14)), "", {"all_finite": _loads(1)})],
    "batch_norm": [
        (
            (("LAST", last), ("BOUNDS", bounds), ("VECTOR", vector)),
            f"LAST={last},BOUNDS={bounds}" + ",VECTOR=1" * vector,
            {
                **({} if bounds else {"statistics": _loads(1), "normalize": _STORE}),
                **({} if bounds or last else {"moving_statistics": []}),
                **({} if bounds else {"residual_sums": _STORE}),
                "gradient_sums": _loads(2),
                "data_gradient": _STORE,
            },
        )
        for last in (0, 1)
        for bounds in (0, 1, 2)
        for vector in ((_WIDEST, 1) if bounds < 2 else (_WIDEST,))
    ],
    "channel_padding": [
        (
            (("CHANNELS", 3),),
            "CHANNELS=3",
            {"pad_channels": _STORE, "pad_both_channels": _STORE, "cut_channels": _STORE},
        ),
    ],
    "copies": [
        *(
            (
                (
                    *(("FROM", _SAME), ("TO", _SAME), ("FAR", 0), ("RANK", 3)),
                    *(("VECTOR", vector), ("ADJACENT", adjacent), ("UNROLLED", 4)),
                ),
                f"ADJACENT={adjacent}" + f",VECTOR={vector}" * bool(vector),
                {"copy_elements": _STORE},
            )
            for adjacent, vector in ((1, _WIDEST), (1, 4), (1, 2), (1, 1), (0, _WIDEST))
        ),
        (
            (
                *(("FROM", _KIND), ("TO", 0), ("FAR", 0), ("RANK", 3)),
                *(("VECTOR", _WIDEST), ("ADJACENT", 1), ("UNROLLED", 4)),
            ),
            "to float32",
            {"copy_elements": _loads(1)},
        ),
    ],
    "transposes": [
        (
            (
                *(("FROM", _SAME), ("TO", _SAME), ("FAR", 0), ("RANK", 2), ("SIDE", _SIDE)),
                *(("IN_VECTOR", vector), ("OUT_VECTOR", vector)),
            ),
            f"IN_VECTOR={vector},OUT_VECTOR={vector}" if vector else "",
            {"transpose_tiles": _STORE},
        )
        for vector in (_WIDEST, 4, 2, 1)
    ],
    "gather": [
        (
            (
                *(("FROM", _SAME), ("TO", _SAME), ("VECTOR", vector), ("UNROLLED", 4)),
                *(("POSITION", 304), ("WRAP", 0)),
            ),
            f"VECTOR={vector}" * bool(vector),
            {"gather_rows": _STORE, "put_rows": _STORE},
        )
        for vector in (_WIDEST, 1)
    ],
    "scatter": [
        (
            (("VECTOR", vector), ("ROWS", 16)),
            f"VECTOR={vector}" * bool(vector),
            {"sum_segments": _loads(1), "finish_rows": []},
        )
        for vector in (_WIDEST, 1)
    ],
    "points": [
        ((("POSITION", 304), ("WRAP", 0), ("AXES", 2)), "", {"flatten_points": []}),
    ],
    "order": [
        (
            (("POSITION", 304), ("WRAP", 0), ("CHUNK", 4096)),
            "",
            {"sort_chunks": [], "merge_chunks": []},
        )
    ],
    "gelu": [((), "", {"gelu": _STORE, "gelu_backward": _STORE})],
    "philox": [
        ((), "", {"random_bits": [], "dropout_mask": _STORE, "dropout": [("STG", 2)]}),
    ],
    "pooling": [
        (
            (
                *(("POOL", pool), ("LAST", last), ("VECTOR", _WIDEST if last else 1)),
                *(("SMALL", 1), *_window(_HALVING)),
            ),
            f"POOL={pool},LAST={last}",
            {
                "pool": _STORE,
                "pool_backward": _STORE,
                "pool_whole": _loads(1),
                **({} if pool else {"first_maximum": _loads(9)}),
            },
        )
        for pool in (0, 1)
        for last in (0, 1)
    ],
    "softmax": [
        (
            (*macros, ("LOG", log)),
            f"{name},LOG={log}",
            # Passes of long rows have the lines of one loop, and cannot be told apart.
            {
                "softmax": [] if name == "long" else _loads(1),
                "softmax_backward": [] if name == "long" else _loads(2),
            },
        )
        for name, macros in _ROWS.items()
        for log in (0, 1)
    ],
    "layer_norm": [
        (
            macros,
            name,
            {
                "layer_norm": [] if name == "long" else _loads(3),
                "layer_norm_data": [] if name == "long" else _loads(3),
            },
        )
        for name, macros in _ROWS.items()
    ],
    "add_layer_norm": [
        (
            (*macros, ("DROPS", drops), ("TWO", drops), ("PLUS", drops)),
            f"{name},DROPS={drops}",
            {
                "add_layer_norm": [] if name == "long" else _loads(4),
                "add_layer_norm_data": [] if name == "long" else _loads(5 if drops else 3),
            },
        )
        for name, macros in _ROWS.items()
        for drops in (0, 1)
    ],
    "layer_norm_sums": [
        (
            (("TWO", two),),
            f"TWO={two}",
            {"layer_norm_sums": _loads(2 + two), **({} if two else {"layer_norm_chunks": []})},
        )
        for two in (0, 1)
    ],
    "cross_entropy": [
        (
            (("LANES", lanes), ("WIDE_LOSS", 1), ("LABEL", 0)),
            f"LANES={lanes}",
            {
                "log_softmax_pick": _loads(1),
                "log_softmax_pick_backward": _STORE,
                "log_softmax_pick_columns": [],
                "log_softmax_pick_columns_backward": [],
            },
        )
        for lanes in (32, 256)
    ],
    "windows": [
        (_window(values), name, {"gather": [], "scatter": []})
        for values, name in ((_POINT, "1x1"), (_WINDOW, "3x3"))
    ],
}


def _value(macro: str, value: int, dtype: np.dtype[Any]) -> int:
    """Return the value of a macro, where it stands for one that follows from the dtype."""
    if macro.endswith("VECTOR"):
        return min(value or VECTOR_NBYTES, VECTOR_NBYTES // dtype.itemsize)
    if macro == "SIDE":
        return copies._TILE[dtype.itemsize]
    meanings = {_SAME: copies._PLAIN + dtype.itemsize, _KIND: KINDS[dtype]}
    return meanings.get(value, value)


def _sources() -> Iterator[Case]:
    for name, variants in _FILES.items():
        for macros, macros_name, functions in variants:
            for dtype in DTYPES:
                given = tuple((key, _value(key, value, dtype)) for key, value in macros)
                text = source_text(name, dtype, False, given)
                for function, counts in functions.items():
                    key = ":".join(filter(None, (name, function, dtype.name, macros_name)))
                    made = tuple(Count(kind, n * dtype.itemsize) for kind, n in counts)
                    yield Case(key, text, function, made)


def _step(name: str, *inputs: int, **attrs: Any) -> Instruction:
    op = find_operator(name)
    runtime = {"train": attrs.pop("train")} if "train" in attrs else {}
    return Instruction(op, inputs, {**op.schema.parse(name, attrs), **runtime})


def _normalize(dtype: np.dtype[Any], *last: Instruction) -> list[Instruction]:
    """Return the arithmetic of BatchNorm on inputs 0 (data) to 3, and more instructions."""
    count = 4 if len(last) < 2 else 5
    wide = dtype if dtype == np.float64 else FLOAT32
    steps = [_step("Cast", 0, dtype=wide.name)] if wide != dtype else []
    at = count if steps else 0
    steps += [
        _step("broadcast_sub", at, 1),
        _step("broadcast_mul", count + len(steps), 2),
        _step("broadcast_add", count + len(steps) + 1, 3),
    ]
    if wide != dtype:
        steps.append(_step("Cast", count + len(steps) - 1, dtype=dtype.name))
    return [*steps, *last]


def _programs(dtype: np.dtype[Any]) -> Iterator[tuple[str, Program, list[Any]]]:
    """Yield a name, a program and its inputs."""
    wide = dtype if dtype == np.float64 else FLOAT32
    made = len(_normalize(dtype))
    for layout, shape in (("rows", (64, 56, 56, 64)), ("planes", (64, 64, 56, 56))):
        data = np.broadcast_to(np.zeros((), dtype), shape)
        channel = (64,) if layout == "rows" else (1, 64, 1, 1)
        vector = np.zeros(channel, wide)
        relu = _step("relu", 3 + made)
        yield (
            f"normalize_relu[{layout}]",
            Program(4, _normalize(dtype, relu), [4 + made]),
            [data, vector, vector, vector],
        )
        add, relu = _step("elemwise_add", 4 + made, 4), _step("relu", 5 + made)
        yield (
            f"normalize_add_relu[{layout}]",
            Program(5, _normalize(dtype, add, relu), [6 + made]),
            [data, vector, vector, vector, data],
        )
        bias = _step("broadcast_add", 0, 1)
        narrow = np.zeros(channel, dtype)
        yield f"bias_relu[{layout}]", Program(2, [bias, _step("relu", 2)], [3]), [data, narrow]
    flat = np.broadcast_to(np.zeros((), dtype), (1 << 22,))
    add = _step("elemwise_add", 0, 1)
    yield "add_relu", Program(2, [add, _step("relu", 2)], [3]), [flat] * 2
    yield (
        "relu_backward",
        Program(2, [_step("_activation_backward", 0, 1, act_type="relu")], [2]),
        [flat] * 2,
    )
    if dtype != np.float64:
        yield "gelu", Program(1, [_step("LeakyReLU", 0, act_type="gelu")], [1]), [flat]
    drop = _step("Dropout", 2, p=0.1, train=True)
    yield "relu_dropout", Program(1, [_step("relu", 0), drop._replace(inputs=(1,))], [2, 3]), [flat]
    drop = drop._replace(inputs=(0,))
    yield "dropout_add", Program(2, [drop, _step("elemwise_add", 2, 1)], [4, 3]), [flat] * 2
    keyed = _step("_dropout_keyed", 0, p=0.1)
    add = _step("elemwise_add", 2, 1)
    yield "dropout_keyed_add", Program(2, [keyed, add], [4, 3]), [flat] * 2
    again = _step("_dropout_factors", 1, p=0.1, shape=flat.shape, dtype=dtype.name)
    key = np.zeros(2, np.int64)
    yield "dropout_again", Program(2, [again, _step("elemwise_mul", 0, 2)], [3]), [flat, key]
    if dtype == FLOAT32:
        for target in ("float16", "bfloat16"):
            yield f"cast_{target}", Program(1, [_step("Cast", 0, dtype=target)], [1]), [flat]
    elif dtype != np.float64:
        yield "cast_float32", Program(1, [_step("Cast", 0, dtype="float32")], [1]), [flat]


def _pointwise() -> Iterator[Case]:
    for dtype in DTYPES:
        for name, program, inputs in _programs(dtype):
            text, nbytes = pointwise_text(program, inputs)
            key = f"pointwise:{name}:{dtype.name}"
            yield Case(key, text, "fused", (Count("STG", nbytes),), pointwise._OPTIONS)


def pointwise_text(program: Program, inputs: Sequence[Any]) -> tuple[str, int]:
    """Return the source for aligned contiguous outputs, and the bytes of an element of these."""
    specs = program.specs([Spec(x.shape, x.dtype) for x in inputs])
    outputs = [specs[value] for value in program.outputs]
    arrays = [_Dense(spec.shape, spec.dtype) for spec in outputs]
    given = [_Dense(x.shape, x.dtype) for x in inputs]
    text = pointwise._new_plan(arrays, given, program, 16).kernel.text
    keys = pointwise_source.key_values(program)
    stored = (specs[value] for value in program.outputs if value not in keys)
    return text, sum(spec.dtype.itemsize for spec in stored)


class _Flags:
    c_contiguous = True


class _Dense:
    """What a plan asks of a contiguous aligned array, without its memory."""

    flags = _Flags()

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self.shape = shape
        self.dtype = dtype
        self.ndim = len(shape)
        self.size = int(np.prod(shape))
        self.itemsize = dtype.itemsize


def _updates() -> Iterator[Case]:
    for rule in FORMULAS:
        for dtype in (FLOAT32, BFLOAT16):
            text = source_of(rule, dtype, False)
            key = f"optimizer:update[{rule.name}]:{dtype.name}"
            yield Case(key, text, "update", (Count("STG", _stored(rule, dtype)),), OPTIONS)
    for rule in (SGD_MOMENTUM, ADAM):
        text = source_of(rule, BFLOAT16, False, gated=True)
        key = f"optimizer:gated_update[{rule.name}]:{BFLOAT16.name}"
        yield Case(key, text, "update", (Count("STG", _stored(rule, BFLOAT16)),), OPTIONS)


def _adafactor() -> Iterator[Case]:
    for dtype in (FLOAT32, BFLOAT16):
        text = source_text("adafactor", dtype, False, adafactor.MACROS)
        stored = 4 if dtype == FLOAT32 else 4 + dtype.itemsize
        for name in ("means", "join", "lengths", "sizes", "update"):
            counts = (Count("STG", stored),) if name == "update" else ()
            yield Case(f"optimizer:{name}[adafactor]:{dtype.name}", text, name, counts, OPTIONS)


def _stored(rule: Rule, dtype: np.dtype[Any]) -> int:
    """Return the bytes that an update of one element stores."""
    states = FORMULAS[rule].states
    count = len(state_names(rule) if states is None else states)
    assert len(layout_of(rule, dtype, False).written) > count
    return 4 * (1 + count) + (0 if dtype == FLOAT32 else 2)


def cases() -> list[Case]:
    """Return all cases."""
    return [*_sources(), *_pointwise(), *_updates(), *_adafactor()]


def plain_names(kernels: Mapping[str, Mapping[str, Any]]) -> dict[str, float]:
    """Return instructions per element on sm_90 in bfloat16 by name: ``normalize_relu[rows]``.

    Of several macros, the name alone has the most, and ``name:macros`` its own.
    """
    found: dict[str, float] = {}
    for key, figures in kernels.items():
        _, name, dtype, *macros = key.split(":")
        count = figures.get("sm_90", {}).get("per_element")
        if dtype == BFLOAT16.name and count is not None:
            found[name] = max(count, found.get(name, 0.0))
            if macros:
                found[f"{name}:{macros[0]}"] = count
    return found
