"""Generated kernels against the operators' own, over the whole table of expressions."""

import threading
from collections.abc import Iterator, Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gluonish.core.config import MXNET_FUSION_VERBOSE, MXNET_USE_FUSION
from gluonish.core.spec import Spec
from gluonish.kernels.generated import support
from gluonish.kernels.generated.expressions import RULES, supports
from gluonish.kernels.generated.numpy_expressions import NUMPY_RULES
from gluonish.kernels.generated.pointwise import plan_pointwise
from gluonish.ops.fused.pointwise import (
    FUSED_POINTWISE,
    FUSED_POINTWISE_MANY,
    FUSED_POINTWISE_RANDOM,
    Instruction,
    Program,
)
from gluonish.ops.kernel import BackEnd, RefusedError
from gluonish.ops.registry import find_operator
from tests.ops.operator_runs import Call, calls_of

KEY = (77, 123456789)
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
# Units of round-off between two ways to compute an elementary function, per dtype.
TOLERANCE = {"float64": 2e-14, "float32": 5e-6, "float16": 2e-3, "bfloat16": 1.6e-2}
_AT_A_TIME = 16  # operators in one kernel: it compiles quicker than a kernel for each


def step(name: str, *inputs: int, **attrs: Any) -> Instruction:
    op = find_operator(name)
    runtime = {"train": attrs.pop("train")} if "train" in attrs else {}
    if op.variadic is not None:
        attrs[op.variadic] = len(inputs)
    return Instruction(op, inputs, {**op.schema.parse(name, attrs), **runtime})


def reference(program: Program, inputs: Sequence[Any], key: Any = KEY) -> list[Any]:
    specs = program.specs([Spec(x.shape, x.dtype) for x in inputs])
    outputs = tuple(np.empty(specs[i].shape, specs[i].dtype) for i in program.outputs)
    with np.errstate(all="ignore"):
        FUSED_POINTWISE_RANDOM.kernel(
            np, outputs, *inputs, num_args=len(inputs), program=program, key=key
        )
    return list(outputs)


def generated(program: Program, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
    plan_pointwise(outputs, inputs, program).plan.run(*outputs, *inputs, key=KEY)


def close(got: Any, wanted: Any) -> None:
    """Equal whole numbers; floats within round-off, and the same infinities and NaN."""
    tolerance = TOLERANCE.get(wanted.dtype.name, 0.0)
    np.testing.assert_allclose(
        got.astype(np.float64),
        wanted.astype(np.float64),
        rtol=tolerance,
        atol=tolerance * 1e-2,
    )


def supported_calls() -> dict[tuple[str, tuple[int, ...]], list[Call]]:
    """Return one call for each operator, set of attributes and dtype, by dtype and shape."""
    found: dict[tuple[str, tuple[int, ...]], list[Call]] = {}
    seen = set()
    for name in RULES:
        for call in calls_of(name):
            attrs = {k: v for k, v in call.runtime.items() if k != "key"}
            specs = [Spec(x.shape, x.dtype) for x in call.inputs]
            key = (name, str(specs[0].dtype), str(attrs.get("act_type")), attrs.get("dtype"))
            if key in seen or not supports(call.op, attrs, specs) or name == "Dropout":
                continue
            seen.add(key)
            shape = call.op.infer(*specs, **call.attrs)[0].shape
            kind = str(specs[0].dtype)
            found.setdefault((kind, shape), []).append(call._replace(runtime=attrs))
    return found


CALLS = supported_calls()


def batches() -> Iterator[Any]:
    for (kind, shape), calls in CALLS.items():
        if kind in ("uint8", "int8", "int64"):  # as int32
            continue
        for i in range(0, len(calls), _AT_A_TIME):
            part = calls[i : i + _AT_A_TIME]
            yield pytest.param(part, id=f"{kind}-{'x'.join(map(str, shape))}-{i}")


@pytest.mark.parametrize("calls", list(batches()))
def test_every_operator_gives_what_its_own_kernel_gives(calls: list[Call]) -> None:
    inputs: list[Any] = [x for call in calls for x in call.inputs]
    instructions, outputs = [], []
    count = len(inputs)
    place = 0
    for call in calls:
        reads = tuple(range(place, place + len(call.inputs)))
        place += len(call.inputs)
        instructions.append(Instruction(call.op, reads, call.runtime))
        outputs.append(count)
        count += call.op.num_outputs(call.runtime)
    program = Program(len(inputs), instructions, outputs)
    wanted = reference(program, inputs)
    got = [np.empty_like(y) for y in wanted]
    generated(program, inputs, got)
    for call, a, b in zip(calls, got, wanted, strict=True):
        try:
            close(a, b)
        except AssertionError as error:
            raise AssertionError(f"{call.op.name} {call.runtime}: {error}") from None


def test_the_table_is_covered() -> None:
    covered = {call.op.name for calls in CALLS.values() for call in calls} | set(NUMPY_RULES)
    assert set(RULES) - covered == {"Dropout"}, sorted(set(RULES) - covered)  # which is below


@pytest.mark.parametrize("scalar", [1.0, 2.0, 3.0, -1.0])
def test_small_powers(scalar: float) -> None:
    x = np.array([0.5, -3, 0, np.inf, np.nan], np.float32)
    program = Program(1, [step("_power_scalar", 0, scalar=scalar)], [1])
    out = np.empty_like(x)
    generated(program, [x], [out])
    close(out, reference(program, [x])[0])


def test_powers_with_a_logarithm_are_left_alone() -> None:
    op = find_operator("_power_scalar")
    assert not supports(op, {"scalar": 0.5}, [Spec((4,), np.dtype(np.float32))])


def test_infinities_and_nan_go_through_as_in_the_operators() -> None:
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-42, 3e38, -3e38], np.float32)
    names = "relu sigmoid tanh exp log sqrt abs sign floor square softsign _softplus mish"
    instructions = [step(name, 0) for name in names.split()]
    instructions += [step("clip", 0, a_min=-1, a_max=1), step("LeakyReLU", 0, act_type="elu")]
    instructions += [step("_maximum_scalar", 0, scalar=0.0), step("_greater_scalar", 0, scalar=0)]
    instructions[-3] = step("hard_sigmoid", 0)
    program = Program(1, instructions, range(1, len(instructions) + 1))
    wanted = reference(program, [x])
    got = [np.empty_like(x) for _ in wanted]
    generated(program, [x], got)
    for a, b in zip(got, wanted, strict=True):
        close(a, b)


def last(array: Any) -> Any:
    """The same values with the channels last in memory."""
    return np.ascontiguousarray(np.moveaxis(array, 1, -1)).transpose(0, 3, 1, 2)


def layouts(random: np.random.Generator, shape: tuple[int, ...]) -> list[Any]:
    plain = random.standard_normal(shape).astype(np.float32)
    return [plain, last(plain), plain[:, :, ::-1], np.repeat(plain, 2, axis=3)[..., ::2]]


@pytest.mark.parametrize("out", range(4))
@pytest.mark.parametrize("data", range(4))
def test_any_layouts_of_output_input_and_vectors(out: int, data: int) -> None:
    random = np.random.default_rng(1)
    x = layouts(random, (3, 5, 4, 6))[data]
    y = layouts(random, (3, 5, 4, 6))[out]
    channel, row = (random.standard_normal(s).astype(np.float32) for s in ((1, 5, 1, 1), (6,)))
    instructions = [step("broadcast_mul", 0, 1), step("broadcast_add", 3, 2), step("relu", 4)]
    program = Program(3, instructions, [5])
    generated(program, [x, channel, row], [y])
    np.testing.assert_array_equal(y, np.maximum(x * channel + row, 0))


def test_inputs_are_stretched_along_any_axes() -> None:
    random = np.random.default_rng(1)
    shapes = [(4, 3, 5), (1, 3, 1), (4, 1, 1), (5,), (1,), (1, 1, 5)]
    inputs = [random.standard_normal(s).astype(np.float32) for s in shapes]
    instructions = [step("broadcast_add", 0, 1)]
    instructions += [step("broadcast_mul", 4 + i, i) for i in range(2, 6)]
    program = Program(6, instructions, [10])
    out = np.empty((4, 3, 5), np.float32)
    generated(program, inputs, [out])
    a, *rest = inputs
    wanted = a + rest[0]
    for factor in rest[1:]:
        wanted = wanted * factor
    np.testing.assert_array_equal(out, wanted)


def test_a_slope_per_channel_runs_along_axis_1() -> None:
    x = np.random.default_rng(0).standard_normal((2, 3, 4)).astype(np.float32)
    gamma = np.array([0.1, 0.2, 0.3], np.float32)
    program = Program(2, [step("LeakyReLU", 0, 1, act_type="prelu", train=True)], [2])
    out = np.empty_like(x)
    generated(program, [x, gamma], [out])
    np.testing.assert_array_equal(out, np.where(x > 0, x, x * gamma[:, None]))


def test_an_output_may_lie_on_an_input() -> None:
    x = np.random.default_rng(0).standard_normal(5000).astype(np.float32)
    y = x.copy()
    program = Program(2, [step("elemwise_mul", 0, 1), step("elemwise_add", 2, 0)], [3])
    wanted = x * y + x
    generated(program, [x, y], [x])
    np.testing.assert_array_equal(x, wanted)


@pytest.mark.parametrize("kind", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("layout", ["plain", "last", "rows"])
def test_dropout_drops_the_same_elements_as_its_operator(kind: str, layout: str) -> None:
    dtype = BFLOAT16 if kind == "bfloat16" else np.dtype(kind)
    x = np.random.default_rng(0).standard_normal((2, 5, 17, 13)).astype(dtype)
    scale = np.full((1, 5, 1, 1), 2, dtype)
    first = step(
        "broadcast_mul" if layout == "rows" else "relu", *((0, 1)[: 1 + (layout == "rows")])
    )
    program = Program(2, [first, step("Dropout", 2, p=0.3, train=True)], [3, 4])
    outputs = [np.empty_like(x), np.empty_like(x)]
    if layout == "last":
        outputs = [last(y) for y in outputs]
    generated(program, [x, scale], outputs)
    for got, wanted in zip(outputs, reference(program, [x, scale]), strict=True):
        np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("attrs", [{"p": 0.0, "train": True}, {"p": 0.4, "train": False}])
def test_dropout_that_drops_nothing_passes_on(attrs: dict[str, Any]) -> None:
    x = np.arange(40, dtype=np.float32)
    program = Program(1, [step("Dropout", 0, **attrs)], [1, 2])
    outputs = [np.empty_like(x), np.empty_like(x)]
    generated(program, [x], outputs)
    np.testing.assert_array_equal(outputs[0], x)
    np.testing.assert_array_equal(outputs[1], np.ones_like(x))


def test_large_dropout_in_many_chunks_equals_its_operator() -> None:
    x = np.ones(100_003, np.float32)
    program = Program(1, [step("Dropout", 0, p=0.5, train=True)], [1, 2])
    outputs = [np.empty_like(x), np.empty_like(x)]
    generated(program, [x], outputs)
    np.testing.assert_array_equal(outputs[1], reference(program, [x])[1])


UNARY = ("relu", "sigmoid", "tanh", "square", "negative", "abs", "softsign", "exp")
BINARY = ("broadcast_add", "broadcast_sub", "broadcast_mul", "broadcast_maximum", "_greater")


@settings(max_examples=8)
@given(st.data())
def test_random_programs(data: st.DataObject) -> None:
    draw = data.draw
    shape = draw(st.tuples(*[st.integers(1, 4)] * draw(st.integers(1, 4))))
    dtype = draw(st.sampled_from([np.dtype(np.float32), np.dtype(np.float64), BFLOAT16]))
    random = np.random.default_rng(draw(st.integers(0, 9)))
    shapes = [shape] + [
        tuple(draw(st.sampled_from([1, n])) for n in shape) for _ in range(draw(st.integers(0, 2)))
    ]
    inputs = [random.uniform(-2, 2, s).astype(dtype) for s in shapes]
    instructions = [step("broadcast_add", 0, draw(st.integers(0, len(inputs) - 1)))]
    for number in range(len(inputs) + 1, len(inputs) + draw(st.integers(2, 6))):
        full = st.integers(len(inputs), number - 1)  # values of the full shape
        if draw(st.booleans()):
            instructions.append(step("tanh", draw(full)))  # keeps numbers small
        elif draw(st.booleans()):
            instructions.append(step(draw(st.sampled_from(UNARY)), draw(full)))
        else:
            other = draw(st.integers(0, number - 1))
            instructions.append(step(draw(st.sampled_from(BINARY[:4])), draw(full), other))
    count = len(inputs) + len(instructions)
    outputs = sorted({count - 1, draw(st.integers(len(inputs), count - 1))})
    program = Program(len(inputs), instructions, outputs)
    wanted = reference(program, inputs)
    got = [np.asfortranarray(np.empty_like(y)) for y in wanted]
    generated(program, inputs, got)
    for a, b in zip(got, wanted, strict=True):
        tolerance = 40 * TOLERANCE[dtype.name]
        np.testing.assert_allclose(
            a.astype(np.float64), b.astype(np.float64), rtol=tolerance, atol=tolerance
        )


RELU_OF_SUM = Program(2, [step("broadcast_add", 0, 1), step("relu", 2)], [3])


def test_several_threads_share_a_plan() -> None:
    arrays = [np.full(2000, i, np.float32) for i in range(4)]
    outputs = [np.zeros(2000, np.float32) for _ in arrays]
    plan = plan_pointwise(outputs[:1], [arrays[0], arrays[0]], RELU_OF_SUM).plan

    def work(i: int) -> None:
        for _ in range(100):
            plan.run(outputs[i], arrays[i], arrays[i])

    threads = [threading.Thread(target=work, args=(i,), daemon=True) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    for i, out in enumerate(outputs):
        assert (out == 2 * i).all()


def test_an_attached_plan_follows_arrays_that_move() -> None:
    a, b, out = (np.full(10, v, np.float32) for v in (1, 2, 0))
    bound = plan_pointwise([out], [a, b], RELU_OF_SUM)
    frame = [b, out, a]
    places = bound.order((1, 2, 0))
    attached = bound.plan.attach(places, frame, {0})
    attached.run(frame)
    assert (out == 3).all()
    frame[0] = np.full(10, 5, np.float32)
    attached.run(frame)
    assert (out == 6).all()


def test_equal_layouts_share_a_plan_and_other_strides_do_not() -> None:
    a = np.ones((4, 6), np.float32)
    first = plan_pointwise([a], [a, a], RELU_OF_SUM).plan
    assert plan_pointwise([a.copy()], [a, a], RELU_OF_SUM).plan is first
    assert plan_pointwise([a], [a, a.T.copy().T], RELU_OF_SUM).plan is not first


@pytest.mark.parametrize("shapes", [((3,), (4,)), ((0,), (0,))])
def test_outputs_without_one_common_shape_are_refused(shapes: Any) -> None:
    x = np.ones(1, np.float32)
    program = Program(1, [step("relu", 0), step("exp", 0)], [1, 2])
    with pytest.raises(RefusedError, match="expected outputs of equal shape"):
        plan_pointwise([np.ones(s, np.float32) for s in shapes], [x], program)


def test_arrays_off_their_alignment_go_to_the_reference_kernel() -> None:
    raw = np.zeros(41, np.uint8)
    x = raw[1:].view(np.float32)
    x[...] = np.arange(-5, 5)
    out = np.empty(10, np.float32)
    program = Program(1, [step("relu", 0)], [1])
    fast = next(f for f in FUSED_POINTWISE.fast_kernels if f.back_end is BackEnd.GENERATED)
    fast.kernel(np, out, x, num_args=1, program=program)
    np.testing.assert_array_equal(out, np.maximum(x, 0))


def test_kernels_hang_on_the_fused_operators() -> None:
    x = Spec((64,), np.dtype(np.float32))
    program = Program(1, [step("relu", 0)], [1])
    for op in (FUSED_POINTWISE, FUSED_POINTWISE_MANY, FUSED_POINTWISE_RANDOM):
        fast = op.select_fast("cpu", [x], {"num_args": 1, "program": program})
        assert fast is not None
        assert fast.name == "generated.fused_pointwise"


def test_the_switch_turns_the_kernels_off() -> None:
    with MXNET_USE_FUSION.override(False):
        assert not support.enabled()


def test_programs_that_cannot_be_written_are_not_taken() -> None:
    x = Spec((64,), np.dtype(np.float32))
    program = Program(1, [step("gamma", 0)], [1])
    attrs = {"num_args": 1, "program": program}
    assert FUSED_POINTWISE.select_fast("cpu", [x], attrs) is None


def test_the_source_is_printed_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    a = np.ones((7, 9), np.float32)
    with MXNET_FUSION_VERBOSE.override(True):
        plan_pointwise([a], [a, np.ones((1, 9), np.float32)], RELU_OF_SUM)
    printed = capsys.readouterr().err
    assert "%2 = broadcast_add(%0, %1); %3 = relu(%2); return %3" in printed
    assert "def body(begin, end, params):" in printed
