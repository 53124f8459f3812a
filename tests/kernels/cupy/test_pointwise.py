"""Programs of operators on single elements on a GPU, over the whole table of expressions."""

from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from gluonish.core.config import MXNET_FUSION_VERBOSE, MXNET_USE_FUSION
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


def test_one_kernel_serves_other_shapes_and_numbers(
    device: OneDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    plain = device.cupy.RawModule

    def counted(*, code: str, options: tuple[str, ...]) -> Any:
        made.append(code)
        return plain(code=code, options=options)

    monkeypatch.setattr(device.cupy, "RawModule", counted)
    for shape, scalar in (((4, 5, 6), 2.0), ((3, 70, 2), 0.5)):
        x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
        row = x[:1, :, :1].copy()
        instructions = [step("_mul_scalar", 0, scalar=scalar), step("broadcast_sub", 2, 1)]
        (got,) = on_device(device, Program(2, instructions, [3]), [x, row], [x])
        np.testing.assert_array_equal(got, x * np.float32(scalar) - row)
    assert len(made) == 1


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


@pytest.mark.parametrize("calls", list(batches()))
def test_nvrtc_compiles_what_is_generated(calls: list[Call]) -> None:
    for call in calls:
        count = len(call.inputs)
        program = Program(count, [Instruction(call.op, tuple(range(count)), call.runtime)], [count])
        (out,) = reference(program, call.inputs)
        text = pointwise._new_plan([out], call.inputs, program).kernel.text
        compile_source(text, "sm_90", *pointwise._OPTIONS)


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
