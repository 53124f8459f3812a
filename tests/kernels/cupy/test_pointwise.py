"""Programs of operators on single elements on a GPU, over the whole table of expressions."""

from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from gluonish.core.config import GLUONISH_CUDA_VECTORS, MXNET_FUSION_VERBOSE, MXNET_USE_FUSION
from gluonish.core.spec import Spec
from gluonish.kernels.cupy import pointwise
from gluonish.kernels.cupy.pointwise_source import divisor
from gluonish.kernels.cupy.random_numbers import StoredKey
from gluonish.ops.fused.pointwise import (
    FUSED_POINTWISE,
    FUSED_POINTWISE_MANY,
    FUSED_POINTWISE_RANDOM,
    Instruction,
    Program,
)
from gluonish.ops.kernel import RefusedError
from gluonish.ops.registry import find_operator
from tests.kernels.cupy.nvrtc import compile_source
from tests.kernels.cupy.one_device import COMPILED, OneDevice
from tests.kernels.generated.test_pointwise import (
    BFLOAT16,
    KEY,
    RELU_OF_SUM,
    batches,
    close,
    last,
    layouts,
    reference,
    step,
)
from tests.ops.operator_runs import Call

pytestmark = COMPILED


def on_device(
    device: OneDevice, program: Program, inputs: Sequence[Any], outputs: Sequence[Any]
) -> list[Any]:
    """Run a program; the outputs get the layouts of NumPy's."""
    specs = [Spec(x.shape, x.dtype) for x in inputs]
    attrs = {"num_args": len(inputs), "program": program}
    fast = FUSED_POINTWISE_RANDOM.select_fast("gpu", specs, attrs)
    assert fast is not None
    assert fast.name == "cupy.fused_pointwise"
    before = device.launches
    found = [placed(device, x) for x in outputs]
    given = [placed(device, x) for x in inputs]
    fast.kernel(device.cupy, tuple(found), *given, **attrs, key=KEY)
    if all(is_dense(x) for x in (*inputs, *outputs)):
        assert device.launches == before + 1
    return [x._raw.copy() for x in found]


def is_dense(array: Any) -> bool:
    return any(array.transpose(axes).flags.c_contiguous for axes in orders(array.ndim))


def orders(ndim: int) -> list[Any]:
    axes = tuple(range(ndim))
    return [axes, axes[::-1], *([(0, *axes[2:], 1)] if ndim > 2 else [])]


def placed(device: OneDevice, array: Any) -> Any:
    """Upload an array as it lies; one with gaps gets them, too."""
    for axes in orders(array.ndim):
        if array.transpose(axes).flags.c_contiguous:
            made = device.upload(array.transpose(axes).copy())
            return made.transpose(tuple(int(i) for i in np.argsort(axes)))
    doubled = device.upload(np.repeat(array, 2, axis=-1))
    return doubled[..., ::2]


@pytest.mark.parametrize("calls", list(batches()))
def test_every_operator_gives_what_its_own_kernel_gives(
    device: OneDevice, calls: list[Call]
) -> None:
    inputs: list[Any] = [x for call in calls for x in call.inputs]
    instructions, outputs = [], []
    count, place = len(inputs), 0
    for call in calls:
        reads = tuple(range(place, place + len(call.inputs)))
        place += len(call.inputs)
        instructions.append(Instruction(call.op, reads, call.runtime))
        outputs.append(count)
        count += call.op.num_outputs(call.runtime)
    program = Program(len(inputs), instructions, outputs)
    wanted = reference(program, inputs)
    got = on_device(device, program, inputs, wanted)
    for call, a, b in zip(calls, got, wanted, strict=True):
        try:
            close(a, b)
        except AssertionError as error:
            raise AssertionError(f"{call.op.name} {call.runtime}: {error}") from None


def test_infinities_and_nan_go_through_as_in_the_operators(device: OneDevice) -> None:
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 3e38, -3e38], np.float32)
    names = "relu sigmoid tanh exp log sqrt abs sign floor square softsign _softplus mish"
    instructions = [step(name, 0) for name in names.split()]
    instructions += [step("clip", 0, a_min=-1, a_max=1), step("LeakyReLU", 0, act_type="elu")]
    instructions += [step("_maximum_scalar", 0, scalar=0.0), step("_greater_scalar", 0, scalar=0)]
    program = Program(1, instructions, range(1, len(instructions) + 1))
    wanted = reference(program, [x])
    for a, b in zip(on_device(device, program, [x], wanted), wanted, strict=True):
        close(a, b)


@pytest.mark.parametrize("out", range(4))
@pytest.mark.parametrize("data", range(4))
def test_any_layouts_of_output_input_and_vectors(device: OneDevice, out: int, data: int) -> None:
    random = np.random.default_rng(1)
    x = layouts(random, (3, 5, 4, 6))[data]
    y = layouts(random, (3, 5, 4, 6))[out]
    channel, row = (random.standard_normal(s).astype(np.float32) for s in ((1, 5, 1, 1), (6,)))
    instructions = [step("broadcast_mul", 0, 1), step("broadcast_add", 3, 2), step("relu", 4)]
    (got,) = on_device(device, Program(3, instructions, [5]), [x, channel, row], [y])
    np.testing.assert_array_equal(got, np.maximum(x * channel + row, 0))


@pytest.mark.parametrize("wide", [False, True])
def test_inputs_are_stretched_along_any_axes(
    device: OneDevice, monkeypatch: pytest.MonkeyPatch, wide: bool
) -> None:
    if wide:
        monkeypatch.setattr(pointwise, "_LIMIT_32", 1)
        monkeypatch.setattr(pointwise, "_plans", {})
    random = np.random.default_rng(1)
    shapes = [(4, 3, 5), (1, 3, 1), (4, 1, 1), (5,), (1,), (1, 1, 5)]
    inputs = [random.standard_normal(s).astype(np.float32) for s in shapes]
    instructions = [step("broadcast_add", 0, 1)]
    instructions += [step("broadcast_mul", 4 + i, i) for i in range(2, 6)]
    program = Program(6, instructions, [10])
    (out,) = on_device(device, program, inputs, [np.empty((4, 3, 5), np.float32)])
    np.testing.assert_array_equal(out, reference(program, inputs)[0])


def test_a_slope_per_channel_runs_along_axis_1(device: OneDevice) -> None:
    x = np.random.default_rng(0).standard_normal((2, 3, 4)).astype(np.float32)
    gamma = np.array([0.1, 0.2, 0.3], np.float32)
    program = Program(2, [step("LeakyReLU", 0, 1, act_type="prelu", train=True)], [2])
    (out,) = on_device(device, program, [x, gamma], [x])
    np.testing.assert_array_equal(out, np.where(x > 0, x, x * gamma[:, None]))


def test_an_output_may_lie_on_an_input(device: OneDevice) -> None:
    x = np.random.default_rng(0).standard_normal(5000).astype(np.float32)
    a, b = device.upload(x), device.upload(x)
    program = Program(2, [step("elemwise_mul", 0, 1), step("elemwise_add", 2, 0)], [3])
    pointwise._run(device.cupy, a, a, b, num_args=2, program=program)
    np.testing.assert_array_equal(a._raw, x * x + x)


@pytest.mark.parametrize("kind", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("layout", ["plain", "last", "rows"])
def test_dropout_drops_the_same_elements_as_its_operator(
    device: OneDevice, kind: str, layout: str
) -> None:
    dtype = BFLOAT16 if kind == "bfloat16" else np.dtype(kind)
    x = np.random.default_rng(0).standard_normal((2, 5, 17, 13)).astype(dtype)
    scale = np.full((1, 5, 1, 1), 2, dtype)
    first = step("broadcast_mul", 0, 1) if layout == "rows" else step("relu", 0)
    program = Program(2, [first, step("Dropout", 2, p=0.3, train=True)], [3, 4])
    outputs = [last(x) if layout == "last" else x] * 2
    found = on_device(device, program, [x, scale], outputs)
    for got, wanted in zip(found, reference(program, [x, scale]), strict=True):
        np.testing.assert_array_equal(got, wanted)


def test_numbers_are_divided_as_by_whole_division() -> None:
    random = np.random.default_rng(0)
    numbers = np.concatenate([random.integers(0, 2**31, 2000), [0, 1, 2, 2**31 - 1]])
    for by in [*range(1, 70), 12544, 2**16, 2**16 + 1, 2**30, 2**31 - 1]:
        factor, shift = divisor(by)
        assert factor < 2**32
        found = ((numbers * factor >> 32) + numbers) >> shift
        np.testing.assert_array_equal(found, numbers // by)


def test_one_kernel_serves_other_shapes_and_numbers(device: OneDevice, compiled: list[str]) -> None:
    for shape, scalar in (((4, 5, 6), 2.0), ((3, 70, 2), 0.5)):
        x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
        row = x[:1, :, :1].copy()
        instructions = [step("_mul_scalar", 0, scalar=scalar), step("broadcast_sub", 2, 1)]
        (got,) = on_device(device, Program(2, instructions, [3]), [x, row], [x])
        np.testing.assert_array_equal(got, x * np.float32(scalar) - row)
    assert len(compiled) == 1


def test_sixteen_bits_are_rounded_after_each_operator(device: OneDevice) -> None:
    x = np.random.default_rng(0).standard_normal(999).astype(ml_dtypes.bfloat16)
    program = Program(1, [step("exp", 0), step("_mul_scalar", 1, scalar=1.1)], [2])
    (got,) = on_device(device, program, [x], [x])
    np.testing.assert_array_equal(got, reference(program, [x])[0])


@pytest.mark.parametrize("shapes", [((3,), (4,)), ((0,), (0,))])
def test_outputs_without_one_common_shape_are_refused(device: OneDevice, shapes: Any) -> None:
    program = Program(1, [step("relu", 0), step("exp", 0)], [1, 2])
    outputs = tuple(device.upload(np.ones(s, np.float32)) for s in shapes)
    with pytest.raises(RefusedError, match="expected outputs of equal shape"):
        pointwise._run(device.cupy, outputs, device.normal(1), num_args=1, program=program)


def test_kernels_hang_on_the_fused_operators() -> None:
    x = Spec((64,), np.dtype(np.float32))
    known = Program(1, [step("relu", 0)], [1])
    unknown = Program(1, [step("gamma", 0)], [1])
    for op in (FUSED_POINTWISE, FUSED_POINTWISE_MANY, FUSED_POINTWISE_RANDOM):
        fast = op.select_fast("gpu", [x], {"num_args": 1, "program": known})
        assert fast is not None
        assert op.select_fast("gpu", [x], {"num_args": 1, "program": unknown}) is None
        with MXNET_USE_FUSION.override(False):
            assert op.select_fast("gpu", [x], {"num_args": 1, "program": known}) is None


def test_the_source_is_printed_on_request(
    device: OneDevice, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(pointwise, "_plans", {})
    x = np.ones((7, 9), np.float32)
    with MXNET_FUSION_VERBOSE.override(True):
        on_device(device, RELU_OF_SUM, [x, x[:1]], [x])
    printed = capsys.readouterr().err
    assert "%2 = broadcast_add(%0, %1); %3 = relu(%2); return %3" in printed
    assert "void fused(" in printed


@pytest.mark.parametrize("alignment", [1, 16])
@pytest.mark.parametrize("calls", list(batches()))
def test_nvrtc_compiles_what_is_generated(calls: list[Call], alignment: int) -> None:
    for call in calls:
        count = len(call.inputs)
        program = Program(count, [Instruction(call.op, tuple(range(count)), call.runtime)], [count])
        (out,) = reference(program, call.inputs)
        text = pointwise._new_plan([out], call.inputs, program, alignment).kernel.text
        compile_source(text, "sm_90", *pointwise._OPTIONS)


def both(
    device: OneDevice,
    monkeypatch: pytest.MonkeyPatch,
    program: Program,
    inputs: Sequence[Any],
    outputs: Sequence[Any],
) -> tuple[list[Any], list[Any], str]:
    """Run a program with and without vectors; return both results, and the first one's source."""
    plans: dict[Any, Any] = {}
    monkeypatch.setattr(pointwise, "_plans", plans)
    found = on_device(device, program, inputs, outputs)
    (plan,) = plans.values()
    with GLUONISH_CUDA_VECTORS.override(False):  # it acts on shapes that are known, too
        scattered = on_device(device, program, inputs, outputs)
    _, other = plans.values()
    assert "load_vector<" not in other.kernel.text
    return found, scattered, plan.kernel.text


def same_bits(found: Sequence[Any], wanted: Sequence[Any]) -> None:
    for a, b in zip(found, wanted, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a.view(np.uint8), b.view(np.uint8))


def normalized(dtype: np.dtype[Any], *shapes: Any) -> tuple[Program, list[Any]]:
    """Return BatchNorm's arithmetic with a sum and a relu behind it, and its inputs."""
    random = np.random.default_rng(3)
    wide = np.dtype(np.float64 if dtype == np.float64 else np.float32)
    dtypes = (dtype, wide, wide, wide, dtype)
    inputs = [
        random.standard_normal(shape).astype(kind)
        for shape, kind in zip(shapes, dtypes, strict=True)
    ]
    instructions = [step("Cast", 0, dtype=wide.name), step("broadcast_sub", 5, 1)]
    instructions += [step("broadcast_mul", 6, 2), step("broadcast_add", 7, 3)]
    instructions += [step("Cast", 8, dtype=dtype.name), step("elemwise_add", 9, 4)]
    instructions.append(step("relu", 10))
    outputs = [11, 6, 9] if dtype == np.float64 else [11]
    return Program(5, instructions, outputs), inputs


FLOATS = [np.dtype(np.float16), BFLOAT16, np.dtype(np.float32), np.dtype(np.float64)]


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize(
    "channel", [(16,), (1, 6, 1, 1), (5, 6, 1, 1), (5, 1, 1, 16), (1, 6, 1, 16), (1,), (4, 16)]
)
def test_vectors_have_the_bits_of_single_elements(
    device: OneDevice,
    monkeypatch: pytest.MonkeyPatch,
    channel: Any,
    dtype: np.dtype[Any],
    wide: bool,
) -> None:
    if wide:
        monkeypatch.setattr(pointwise, "_LIMIT_32", 1)
    shape = (5, 6, 4, 16)
    program, inputs = normalized(dtype, shape, channel, (1,), channel, shape)
    wanted = reference(program, inputs)
    found, scattered, text = both(device, monkeypatch, program, inputs, wanted)
    assert "load_vector<" in text
    same_bits(found, scattered)
    same_bits(found, wanted)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("size", [1, 2, 3, 7, 8, 9, 255, 2047, 2048, 2049, 4095, 33_001])
def test_what_is_left_of_the_last_vector_is_computed(
    device: OneDevice, monkeypatch: pytest.MonkeyPatch, size: int, dtype: np.dtype[Any]
) -> None:
    random = np.random.default_rng(size)
    x, y = random.standard_normal((2, size)).astype(dtype)
    instructions = [step("broadcast_mul", 0, 2), step("elemwise_add", 3, 1), step("relu", 4)]
    program = Program(3, instructions, [5, 3])
    inputs = [x, y, np.ones(1, dtype) / 3]
    found, scattered, text = both(device, monkeypatch, program, inputs, [x, x])
    assert ("load_vector<" in text) == (size >= min(8, 16 // dtype.itemsize))
    same_bits(found, scattered)
    same_bits(found, reference(program, inputs))


@pytest.mark.parametrize("columns", [8 * 67, 8 * 769, 8 * 3, 12, 10, 2, 9])
@pytest.mark.parametrize("rows", [1, 3, 40])
def test_rows_of_any_length_are_added(
    device: OneDevice, monkeypatch: pytest.MonkeyPatch, rows: int, columns: int
) -> None:
    random = np.random.default_rng(0)
    x = random.standard_normal((rows, columns)).astype(BFLOAT16)
    bias = random.standard_normal(columns).astype(BFLOAT16)
    program = Program(2, [step("broadcast_add", 0, 1), step("relu", 2)], [3])
    found, scattered, _ = both(device, monkeypatch, program, [x, bias], [x])
    same_bits(found, scattered)
    same_bits(found, reference(program, [x, bias]))


@pytest.mark.parametrize("start", [1, 2, 4, 8])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_views_at_other_addresses_get_shorter_vectors(
    device: OneDevice, monkeypatch: pytest.MonkeyPatch, start: int, dtype: np.dtype[Any]
) -> None:
    monkeypatch.setattr(pointwise, "_plans", {})
    memory = np.random.default_rng(0).standard_normal(4000).astype(dtype)
    a, b = device.upload(memory), device.upload(np.zeros(4000, dtype))
    program = Program(1, [step("_mul_scalar", 0, scalar=1.5)], [1])
    pointwise._run(device.cupy, b[:3001], a[start : start + 3001], num_args=1, program=program)
    (want,) = reference(program, [memory[start : start + 3001]])
    np.testing.assert_array_equal(b._raw[:3001], want)
    (plan,) = pointwise._plans.values()
    nbytes = min(16, start * dtype.itemsize)
    length = nbytes // dtype.itemsize
    assert ("load_vector<" in plan.kernel.text) == (length > 1)
    if length > 1:
        assert f"#define ITEMS {length}\n" in plan.kernel.text


@pytest.mark.parametrize("narrow", [np.float16, BFLOAT16], ids=str)
def test_arrays_of_several_dtypes_share_vectors(
    device: OneDevice, monkeypatch: pytest.MonkeyPatch, narrow: Any
) -> None:
    random = np.random.default_rng(0)
    x = random.standard_normal((30, 64)).astype(np.float32)
    flags, whole = x > 0, random.integers(-9, 9, x.shape).astype(np.int32)
    small = random.integers(-9, 9, x.shape).astype(np.int8)
    name = np.dtype(narrow).name
    instructions = [
        step("Cast", 0, dtype=name),
        step("where", 1, 4, 4),
        step("Cast", 2, dtype="float32"),
        step("elemwise_add", 6, 0),
        step("square", 3),
        step("_greater_scalar", 7, scalar=0.5),
        step("Cast", 2, dtype="int64"),
    ]
    program = Program(4, instructions, [4, 5, 7, 8, 9, 10])
    inputs = [x, flags, whole, small]
    wanted = reference(program, inputs)
    found, scattered, text = both(device, monkeypatch, program, inputs, wanted)
    assert "#define ITEMS 8" in text
    same_bits(found, scattered)
    same_bits(found, wanted)


@pytest.mark.parametrize("narrow", [np.float16, BFLOAT16], ids=str)
def test_a_rounding_that_a_store_does_again_changes_nothing(device: OneDevice, narrow: Any) -> None:
    every = np.arange(2**16, dtype=np.uint16).view(narrow)
    x, y = every, np.roll(every, 12345)
    relu, again = step("relu", 2), step("relu", 3)
    for outputs in ([4], [3], [2], [2, 4], [2, 3, 4], [5]):
        instructions = [step("elemwise_add", 0, 1), relu, again, step("elemwise_mul", 3, 2)]
        program = Program(2, instructions, outputs)
        wanted = reference(program, [x, y])
        for got, want in zip(on_device(device, program, [x, y], wanted), wanted, strict=True):
            known = ~np.isnan(want.astype(np.float32))
            np.testing.assert_array_equal(got.view(np.uint16)[known], want.view(np.uint16)[known])
            assert np.isnan(got.astype(np.float32)[~known]).all()


KINDS_OF_CAST = [*FLOATS, *map(np.dtype, (np.int32, np.int8, np.uint8, np.int64, np.bool_))]


@pytest.mark.parametrize("target", KINDS_OF_CAST, ids=str)
@pytest.mark.parametrize("source", KINDS_OF_CAST, ids=str)
def test_casts_have_the_bits_of_the_cpu(device: OneDevice, source: Any, target: Any) -> None:
    cast = find_operator("Cast")
    data = np.random.default_rng(0).integers(-100, 100, (3, 17)).astype(source)
    if source in FLOATS:
        data /= np.array(7, source)
    (found,) = device.run(cast, data, dtype=target.name)
    with np.errstate(all="ignore"):
        same_bits([found], [data.astype(target)])


def test_a_cast_is_one_launch_of_vectors(
    device: OneDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    plans: dict[Any, Any] = {}
    monkeypatch.setattr(pointwise, "_plans", plans)
    data = np.ones((4, 8), np.float32)
    assert device.launches_of(find_operator("Cast"), data, dtype="float16") == 1
    assert "#define ITEMS 8" in next(iter(plans.values())).kernel.text


def test_each_row_of_a_channel_first_network_has_its_number_loaded_once(
    device: OneDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    planes, row = (4, 6, 8, 8), (1, 6, 1, 1)
    program, inputs = normalized(BFLOAT16, planes, row, row, row, planes)
    found, scattered, text = both(device, monkeypatch, program, inputs, [inputs[0]])
    same_bits(found, scattered)
    assert " / " not in text[text.index("void fused(") :]
    assert "divided(v, " in text
    assert "divided(e, " not in text


@pytest.mark.parametrize("layout", ["plain", "last"])
def test_a_key_in_the_devices_memory_draws_the_same(device: OneDevice, layout: str) -> None:
    x = np.ones((2, 5, 17, 13), np.float32)
    outputs = [last(x) if layout == "last" else x] * 2
    program = Program(1, [step("relu", 0), step("Dropout", 1, p=0.3, train=True)], [2, 3])
    wanted = on_device(device, program, [x], outputs)
    stored = StoredKey(device.cupy)
    stored.set(device.cupy, (KEY[0], KEY[1] - 5))
    found = [placed(device, y) for y in outputs]
    attrs: Any = {"num_args": 1, "program": program, "key": (stored, 5)}
    pointwise._run(device.cupy, tuple(found), device.upload(x), **attrs)
    for got, want in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(got._raw, want)
