from collections.abc import Callable

import numpy as np
import pytest

from gluonish.kernels.onednn import RefusedError
from gluonish.kernels.onednn.batch_norm import batch_norm_apply
from gluonish.ops.kernel import Array
from gluonish.ops.normalization.fold_batch_norm import BATCH_NORM_APPLY
from tests.kernels.onednn.planned import (
    LAYOUTS,
    Layout,
    blank,
    channels_last,
    check,
    contiguous,
    parsed,
    random,
    run,
)

Close = Callable[[Array, Array], None]

SHAPES = [(16, 5), (4, 3, 7), (2, 17, 5, 4), (2, 32, 5, 4), (2, 4, 3, 4, 2)]


def _inputs(shape: tuple[int, ...], dtype: object = np.float32, *, add: bool) -> list[Array]:
    channels = shape[1]
    vectors = [random(channels, seed=i) for i in range(1, 5)]
    vectors[3] = abs(vectors[3]) + np.float32(0.5)
    addend = [random(*shape, dtype=dtype, seed=7)] if add else []
    return [random(*shape, dtype=dtype) * 3 + 2, *vectors, *addend]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("add", "relu"), [(False, False), (False, True), (True, True)])
def test_it_equals_the_reference(
    shape: tuple[int, ...], layout: Layout, add: bool, relu: bool, close: Close
) -> None:
    attrs = parsed(BATCH_NORM_APPLY, fix_gamma=False, add=add, relu=relu)
    inputs = _inputs(shape, add=add)
    check(BATCH_NORM_APPLY, batch_norm_apply, inputs, attrs, close, layout)


def test_a_fixed_gamma_is_not_read(close: Close) -> None:
    inputs = _inputs((2, 3, 4, 4), add=False)
    attrs = parsed(BATCH_NORM_APPLY, fix_gamma=True)
    want = check(BATCH_NORM_APPLY, batch_norm_apply, inputs, attrs, close)
    assert len([slot for slot in want.slots if slot.offset < 0]) == 5


def test_data_and_addend_may_lie_differently(close: Close) -> None:
    inputs = _inputs((2, 32, 5, 4), add=True)
    attrs = parsed(BATCH_NORM_APPLY, fix_gamma=False, add=True, relu=True)
    given = [channels_last(inputs[0]), *inputs[1:5], contiguous(inputs[5])]
    (out,) = blank(BATCH_NORM_APPLY, given, channels_last, attrs)
    run(batch_norm_apply, [out], given, attrs)
    (want,) = blank(BATCH_NORM_APPLY, given, contiguous, attrs)
    BATCH_NORM_APPLY.kernel(np, want, *inputs, **attrs)
    close(out, want.astype(np.float64))


@pytest.mark.parametrize("out_layout", LAYOUTS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_no_layouts_make_the_library_step_from_element_to_element(
    layout: Layout, out_layout: Layout
) -> None:
    inputs = _inputs((2, 32, 5, 4), add=True)
    attrs = parsed(BATCH_NORM_APPLY, fix_gamma=False, add=True, relu=True)
    given = [layout(inputs[0]), *inputs[1:5], contiguous(inputs[5])]
    (out,) = blank(BATCH_NORM_APPLY, given, out_layout, attrs)
    made = run(batch_norm_apply, [out], given, attrs)
    assert not any(step.descriptor.implementation.startswith("ref") for step in made.steps)


def test_the_result_may_lie_on_the_addend(close: Close) -> None:
    inputs = _inputs((2, 16, 5, 4), add=True)
    attrs = parsed(BATCH_NORM_APPLY, fix_gamma=False, add=True, relu=True)
    (want,) = blank(BATCH_NORM_APPLY, inputs, contiguous, attrs)
    BATCH_NORM_APPLY.kernel(np, want, *inputs, **attrs)
    run(batch_norm_apply, [inputs[5]], inputs, attrs)
    close(inputs[5], want.astype(np.float64))


def test_wide_statistics_are_refused() -> None:
    inputs = _inputs((2, 3, 4, 4), add=False)
    inputs[3] = inputs[3].astype(np.float64)
    attrs = parsed(BATCH_NORM_APPLY, fix_gamma=False)
    with pytest.raises(RefusedError, match="batch_norm_apply: expected contiguous float32"):
        batch_norm_apply([np.empty_like(inputs[0])], inputs, attrs)
