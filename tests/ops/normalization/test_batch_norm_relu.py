import numpy as np

from gluonish.core.spec import PartialSpec
from gluonish.ops.normalization.batch_norm_relu import BATCH_NORM_RELU

FLOAT = np.dtype(np.float32)


def test_files_count_four_outputs_of_which_one_is_seen() -> None:
    attrs = BATCH_NORM_RELU.schema.parse("_contrib_BatchNormWithReLU", {})
    assert BATCH_NORM_RELU.num_outputs(attrs) == 4
    assert BATCH_NORM_RELU.num_visible(attrs) == 1


def test_parameters_follow_from_the_data() -> None:
    inputs = [PartialSpec((2, 5, 3), FLOAT), *[PartialSpec()] * 4]
    outputs = [PartialSpec()] * 4
    assert BATCH_NORM_RELU.complete is not None
    BATCH_NORM_RELU.complete(inputs, outputs, BATCH_NORM_RELU.schema.parse("x", {}))
    assert inputs[1:] == [PartialSpec((5,), FLOAT)] * 4
    assert outputs[0] == PartialSpec((2, 5, 3), FLOAT)
    assert outputs[3] == PartialSpec((4,), np.dtype(np.uint8))


def test_the_mask_has_a_bit_for_each_element_in_the_order_of_memory() -> None:
    data = np.random.default_rng(0).standard_normal((2, 3, 3, 5)).astype(FLOAT)
    ones = np.ones(5, FLOAT)
    attrs = BATCH_NORM_RELU.schema.parse("x", {"fix_gamma": False})
    inputs = (data.transpose(0, 3, 1, 2), ones, ones * 0, ones * 0, ones)
    out = np.empty_like(data).transpose(0, 3, 1, 2)
    outputs = (out, ones.copy(), ones.copy(), np.zeros(12, np.uint8))
    BATCH_NORM_RELU.kernel(np, outputs, *inputs, **attrs, train=True)
    bits = np.unpackbits(outputs[3], count=90, bitorder="little")
    np.testing.assert_array_equal(bits, (out.transpose(0, 2, 3, 1) > 0).ravel())
