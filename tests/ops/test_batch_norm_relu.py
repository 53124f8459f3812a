import numpy as np

from gluonish.core.spec import PartialSpec
from gluonish.ops.batch_norm_relu import BATCH_NORM_RELU

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
