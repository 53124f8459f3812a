import subprocess
import sys
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from gluonish.core.config import MXNET_ENFORCE_DETERMINISM, MXNET_USE_FUSION
from gluonish.core.spec import Spec
from gluonish.kernels.generated import elementwise, support
from gluonish.kernels.generated.elementwise import (
    LARGE,
    SLOW,
    LargeKernel,
    WideReduction,
    compiled_at_once,
)
from gluonish.ndarray.ndarray import LIGHT_INLINE_SIZE
from gluonish.ops.registry import find_operator
from gluonish.ops.support.refusals import refusals

FLOAT = np.dtype(np.float32)
NARROW = (np.dtype(ml_dtypes.bfloat16), np.dtype(np.float16))
SIGMOID = find_operator("sigmoid")
X = np.random.default_rng(0).standard_normal(LARGE).astype(np.float32)


def warm(name: str) -> LargeKernel:
    """A kernel whose operator has been used a lot."""
    kernel = LargeKernel(find_operator(name))
    kernel._elements = 1 << 30
    return kernel


@pytest.mark.parametrize("name", SLOW)
def test_kernels_stand_behind_those_of_libraries(name: str) -> None:
    names = [fast.name for fast in find_operator(name).fast_kernels]
    behind = names[names.index(f"generated.{name}") :]
    assert not any(other.startswith("onednn.") for other in behind)


def test_small_arrays_are_not_taken() -> None:
    kernel = LargeKernel(SIGMOID)
    assert kernel.supports(Spec((LARGE,), FLOAT))
    assert not kernel.supports(Spec((LARGE - 1,), FLOAT))


def test_the_switch_turns_them_off() -> None:
    with MXNET_USE_FUSION.override(False):
        assert not LargeKernel(SIGMOID).supports(Spec((LARGE,), FLOAT))


def test_whole_numbers_are_not_taken() -> None:
    assert not LargeKernel(SIGMOID).supports(Spec((LARGE,), np.dtype(np.int32)))


def test_nothing_is_compiled_before_it_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elementwise, "_WORTH", 2 * LARGE)
    kernel = LargeKernel(SIGMOID)
    out = np.empty_like(X)
    for pays in (False, False, True):
        assert kernel.compiles == pays
        if not pays:
            kernel(np, out, X)


def test_what_was_compiled_before_changes_no_bits() -> None:
    kernel, first, later = LargeKernel(find_operator("tanh")), np.empty_like(X), np.empty_like(X)
    kernel(np, first, X)
    warm("tanh")(np, np.empty_like(X), X)
    LargeKernel(find_operator("tanh"))(np, later, X)
    np.testing.assert_array_equal(later, first)
    assert not np.array_equal(np.tanh(X.astype(np.float64)), first)  # there are bits to differ in


def test_special_functions_are_taken_of_small_arrays() -> None:
    small = Spec((300,), FLOAT)
    assert LargeKernel(find_operator("erf")).supports(small)
    gelu = LargeKernel(find_operator("LeakyReLU"))
    attrs = find_operator("LeakyReLU").schema.parse("LeakyReLU", {"act_type": "gelu"})
    assert gelu.supports(small, **attrs, train=False)
    assert not gelu.supports(small, **{**attrs, "act_type": "elu"}, train=False)
    activation = LargeKernel(find_operator("Activation"))
    assert activation.supports(small, act_type="softrelu")
    assert not activation.supports(small, act_type="relu")


@pytest.mark.parametrize("dtype", [FLOAT, np.dtype(ml_dtypes.bfloat16)])
@pytest.mark.parametrize("name", ["sigmoid", "sign"])
def test_results_are_those_of_the_operator(name: str, dtype: Any) -> None:
    x = X.astype(dtype)
    out, wanted = np.empty_like(x), np.empty_like(x)
    warm(name)(np, out, x)
    find_operator(name).kernel(np, wanted, x)
    tolerance = 1e-6 if dtype == FLOAT else 8e-3
    np.testing.assert_allclose(
        out.astype(np.float32), wanted.astype(np.float32), rtol=tolerance, atol=1e-7
    )


def with_special_values(x: np.ndarray) -> np.ndarray:
    x = x.copy()
    x[:8] = [np.nan, np.inf, -np.inf, 0.0, -0.0, 0.5, -1.5, 2.5]
    return x


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize(
    ("name", "attrs"),
    [
        *((name, {}) for name in ("broadcast_add", "elemwise_mul", "_maximum", "broadcast_lesser")),
        *((name, {}) for name in ("tanh", "sqrt", "relu", "negative", "floor")),
        *((name, {"scalar": 0.7}) for name in ("_plus_scalar", "_rdiv_scalar", "_greater_scalar")),
    ],
)
def test_16_bit_results_are_those_of_the_operator(
    name: str, attrs: dict[str, Any], dtype: Any
) -> None:
    op = find_operator(name)
    x, y = with_special_values(X).astype(dtype), with_special_values(X[::-1]).astype(dtype)
    given = (x, y)[: len(op.inputs)]
    kernel = warm(name)
    assert kernel.supports(*[Spec(v.shape, v.dtype) for v in given], **attrs)
    out, wanted = np.empty_like(x), np.empty_like(x)
    kernel(np, out, *given, **attrs)
    with np.errstate(all="ignore"):
        op.kernel(np, wanted, *given, **attrs)
    np.testing.assert_array_equal(out.astype(FLOAT), wanted.astype(FLOAT))


def test_one_large_input_is_enough() -> None:
    kernel = LargeKernel(find_operator("broadcast_add"))
    for dtype, taken in ((NARROW[0], True), (FLOAT, True), (np.dtype(np.int16), False)):
        assert kernel.supports(Spec((LARGE,), dtype), Spec((1,), dtype)) == taken
        assert kernel.supports(Spec((1,), dtype), Spec((LARGE,), dtype)) == taken


@pytest.mark.parametrize("dtype", NARROW)
def test_casts_to_and_from_16_bits_are_those_of_the_operator(dtype: Any) -> None:
    kernel, x = warm("Cast"), with_special_values(X)
    assert kernel.supports(Spec(x.shape, FLOAT), dtype=dtype)
    narrow, wide = np.empty(x.shape, dtype), np.empty_like(x)
    kernel(np, narrow, x, dtype=dtype)
    np.testing.assert_array_equal(narrow.astype(FLOAT), x.astype(dtype).astype(FLOAT))
    kernel(np, wide, narrow, dtype=FLOAT)
    np.testing.assert_array_equal(wide, narrow.astype(FLOAT))


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("axis", [(0,), (1,), None])
@pytest.mark.parametrize("name", ["max", "min", "sum", "mean"])
def test_16_bit_reductions_are_those_of_the_operator(
    name: str, axis: tuple[int, ...] | None, dtype: Any
) -> None:
    op, kernel = find_operator(name), WideReduction(find_operator(name))
    x = X.reshape(-1, 64).astype(dtype)
    x[3, 5] = np.nan
    attrs: dict[str, Any] = {"axis": axis, "keepdims": False, "exclude": False}
    assert kernel.supports(Spec(x.shape, x.dtype), **attrs)
    assert not kernel.supports(Spec(x.shape, FLOAT), **attrs)
    out, wanted = (
        np.empty(op.infer(Spec(x.shape, x.dtype), **attrs)[0].shape, dtype) for _ in "ab"
    )
    kernel(np, out, x, **attrs)
    with np.errstate(all="ignore"):
        op.kernel(np, wanted, x, **attrs)
    np.testing.assert_array_equal(out.astype(FLOAT), wanted.astype(FLOAT))


def test_dropout_gets_the_key_of_the_call() -> None:
    op = find_operator("Dropout")
    kernel = warm("Dropout")
    for key in ((1, 2), (3, 4)):
        attrs = {**op.schema.parse("Dropout", {"p": 0.4}), "train": True, "key": key}
        assert kernel.supports(Spec(X.shape, FLOAT), **attrs)
        got, wanted = ((np.empty_like(X), np.empty_like(X)) for _ in range(2))
        kernel(np, got, X, **attrs)
        op.kernel(np, wanted, X, **attrs)
        np.testing.assert_array_equal(got, wanted)


def test_attributes_make_programs_of_their_own() -> None:
    kernel = warm("clip")
    out = np.empty_like(X)
    for bound in (0.5, 1.0):
        kernel(np, out, X, a_min=-bound, a_max=bound)
        np.testing.assert_array_equal(out, X.clip(-bound, bound))


def test_arrays_that_the_kernel_cannot_address_go_to_the_reference() -> None:
    values = np.linspace(-3, 3, LARGE + 24, dtype=np.float32)  # a size that no other test has:
    raw = np.zeros(values.nbytes + 1, np.uint8)  # there is no plan of it yet
    x = raw[1:].view(np.float32)
    x[...] = values
    out = np.empty_like(values)
    sign = find_operator("sign")
    fast = next(fast for fast in sign.fast_kernels if fast.name == "generated.sign")
    refused = refusals().get("sign", 0)
    with compiled_at_once():
        fast.kernel(np, out, x)
    assert refusals()["sign"] == refused + 1
    np.testing.assert_array_equal(out, np.sign(values))


def test_calls_ask_no_kernel_that_takes_large_arrays_only() -> None:
    # Such a call runs in its thread up to LIGHT_INLINE_SIZE elements.
    assert LARGE >= LIGHT_INLINE_SIZE
    for name, large_only in {"tanh": True, "max": True, "add_n": False, "sum": False}.items():
        op = find_operator(name)
        kernels = op.fast_kernels  # loaded now: what they take is not known before
        assert op.large_only is large_only
        assert op.large_only is all(fast.large_only for fast in kernels)


def test_within_a_scope_every_kernel_pays_at_once() -> None:
    assert not elementwise.pays(0)
    with compiled_at_once():
        with compiled_at_once():
            assert elementwise.pays(0)
        assert elementwise.pays(0)
    assert not elementwise.pays(0)


def test_the_first_call_has_the_bits_of_all_others_where_that_is_asked_for() -> None:
    if not support.enabled():
        pytest.skip("llvmlite is not there")
    op = find_operator("tanh")
    first, later = np.empty_like(X), np.empty_like(X)
    warm("tanh")(np, later, X)
    with MXNET_ENFORCE_DETERMINISM.override(True):
        LargeKernel(op)(np, first, X)
    np.testing.assert_array_equal(first, later)
    assert (LargeKernel(op).compiles, warm("tanh").compiles) == (False, True)
    with MXNET_ENFORCE_DETERMINISM.override(True):
        assert LargeKernel(op).compiles


def test_sums_that_overflow_give_infinity_without_a_warning() -> None:
    program = (
        "import gluonish as mx\n"
        "x = mx.nd.ones((512, 512), dtype='float16') * 1000\n"
        "print(x.sum().asscalar())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60
    )
    assert (done.stdout.strip(), done.stderr) == ("inf", "")
