"""Values from MXNet 1.9.1, found by running it."""

from typing import Any

import numpy as np
import pytest

import gluonish.ops.updates.update  # noqa: F401  # registers the operators
from gluonish.core.errors import OperatorError
from gluonish.ops.registry import find_operator
from tests.checking.values import run_operator

ONE = {"lr": 0.1, "wd": 0.01, "rescale_grad": 0.5}
MANY = {"lrs": (0.1,), "wds": (0.01,), "rescale_grad": 0.5, "clip_gradient": 2}


def weight() -> Any:
    return np.array([1, 2], np.float32)


def gradient() -> Any:
    return np.array([10, -0.5], np.float32)


def states() -> tuple[Any, Any]:
    return np.array([0.1, 0.2], np.float32), np.array([0.3, 0.4], np.float32)


def close(got: Any, want: list[float], rtol: float = 1e-5) -> None:
    np.testing.assert_allclose(np.asarray(got, np.float64), want, rtol=rtol)


@pytest.mark.parametrize(
    ("clip", "expected"), [(2, [0.799, 2.023]), (0, [0.999, 1.998]), (-1, [0.499, 2.023])]
)
def test_sgd_clips_the_scaled_gradient_unless_negative(clip: float, expected: list[float]) -> None:
    close(run_operator("sgd_update", weight(), gradient(), clip_gradient=clip, **ONE), expected)


def test_momentum_changes_its_state() -> None:
    mom, _ = states()
    new = run_operator(
        "sgd_mom_update", weight(), gradient(), mom, momentum=0.9, clip_gradient=2, **ONE
    )
    close(new, [0.889, 2.203])
    close(mom, [-0.111, 0.203])


@pytest.mark.parametrize(
    ("clip", "expected", "state"),
    [(2, [0.6991, 2.2057], [-0.111, 0.203]), (0, [1.0791, 2.1582], [0.089, 0.178])],
)
def test_nesterov(clip: float, expected: list[float], state: list[float]) -> None:
    mom, _ = states()
    new = run_operator(
        "nag_mom_update", weight(), gradient(), mom, momentum=0.9, clip_gradient=clip, **ONE
    )
    close(new, expected)
    close(mom, state)


@pytest.mark.parametrize(
    ("clip", "expected", "means", "variances"),
    [
        (2, [0.94737697, 1.9751654], [0.29, 0.157], [0.3037, 0.399652898]),
        (-1, [0.8962998, 1.9751654], [0.591, 0.157], [0.3247998, 0.399652898]),
    ],
)
def test_adam_clips_the_gradient_with_the_decay(
    clip: float, expected: list[float], means: list[float], variances: list[float]
) -> None:
    mean, var = states()
    new = run_operator("adam_update", weight(), gradient(), mean, var, clip_gradient=clip, **ONE)
    close(new, expected)
    close(mean, means)
    close(var, variances)


def half(x: Any) -> Any:
    return x.astype(np.float16)


def test_mixed_precision_trains_the_wide_weight() -> None:
    wide, _ = states()
    new = run_operator(
        "mp_sgd_update", half(weight()), half(gradient()), wide, clip_gradient=2, **ONE
    )
    assert new.dtype == np.float16
    close(new, [-0.1001, 0.2249], rtol=1e-3)
    close(wide, [-0.1001, 0.2248])


def test_mixed_precision_with_momentum() -> None:
    mom, wide = states()
    inputs = half(weight()), half(gradient()), mom, wide
    new = run_operator("mp_sgd_mom_update", *inputs, momentum=0.9, clip_gradient=2, **ONE)
    close(new, [0.1897, 0.6045], rtol=1e-3)
    close(mom, [-0.1103, 0.2046])
    close(wide, [0.1897, 0.6046])


def test_mixed_precision_nesterov() -> None:
    mom, wide = states()[0], weight()
    inputs = half(weight()), half(gradient()), mom, wide
    new = run_operator("mp_nag_mom_update", *inputs, momentum=0.9, clip_gradient=2, **ONE)
    close(wide, [0.6991, 2.2057])
    close(new, [0.6991, 2.2057], rtol=1e-3)


def test_several_weights_are_updated_with_rates_of_their_own() -> None:
    attrs = {"lrs": (0.1, 0.2), "wds": (0.01, 0.02), "rescale_grad": 0.5, "clip_gradient": 2}
    first, second = run_operator(
        "multi_sgd_update", weight(), gradient(), weight(), gradient(), num_weights=2, **attrs
    )
    close(first, [0.799, 2.023])
    close(second, [0.596, 2.042])


def test_several_weights_with_momentum() -> None:
    mom, _ = states()
    new = run_operator("multi_sgd_mom_update", weight(), gradient(), mom, momentum=0.9, **MANY)
    close(new, [0.889, 2.203])
    close(mom, [-0.111, 0.203])


def test_several_weights_in_mixed_precision() -> None:
    mom, wide = states()[0], weight()
    inputs = half(weight()), half(gradient()), mom, wide
    new = run_operator("multi_mp_sgd_mom_update", *inputs, momentum=0.9, **MANY)
    close(wide, [0.889, 2.203])
    close(new, [0.889, 2.203], rtol=1e-3)


def test_output_may_be_the_memory_of_the_weight() -> None:
    op = find_operator("sgd_mom_update")
    attrs = op.schema.parse(op.name, {**ONE, "momentum": 0.9, "clip_gradient": 2})
    w, (mom, _) = weight(), states()
    op.kernel(np, w, w, gradient(), mom, **attrs)
    close(w, [0.889, 2.203])


@pytest.mark.parametrize("name", ["sgd_update", "sgd_mom_update", "nag_mom_update", "adam_update"])
def test_weight_and_gradient_keep_their_values(name: str) -> None:
    op = find_operator(name)
    w, g = weight(), gradient()
    inputs = [w, g, *states()][: len(op.inputs)]
    run_operator(name, *inputs, clip_gradient=2, **ONE)
    assert (w == weight()).all()
    assert (g == gradient()).all()


def test_states_of_several_weights_are_what_the_kernel_overwrites() -> None:
    op = find_operator("multi_mp_sgd_mom_update")
    assert op.mutated_inputs({"num_args": 8}) == (2, 3, 6, 7)


def test_wrong_number_of_arrays_is_refused() -> None:
    with pytest.raises(OperatorError, match=r"2 arrays for each of 2 weights .* got 2"):
        run_operator(
            "multi_sgd_update", weight(), gradient(), lrs=(1, 1), wds=(0, 0), num_weights=2
        )


def test_gradient_of_another_shape_is_refused() -> None:
    with pytest.raises(OperatorError, match="arrays of the weight's shape"):
        run_operator("sgd_update", weight(), gradient()[:1], lr=1)
