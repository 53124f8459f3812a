"""The networks that ship inside the package onnx, with weights that the graph itself makes."""

from pathlib import Path

import numpy as np
import onnx
import pytest

import gluonish.ndarray as nd
from gluonish.onnx.importing import get_model_metadata, import_to_gluon

FOLDER = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
_QUICK = ("inception_v1", "resnet50", "shufflenet", "squeezenet")
_LONGER = ("bvlc_alexnet", "densenet121", "inception_v2", "vgg19", "zfnet512")


def _check(name: str) -> None:
    path = FOLDER / f"light_{name}.onnx"
    message = onnx.TensorProto.FromString((FOLDER / f"light_{name}_output_0.pb").read_bytes())
    expected = onnx.numpy_helper.to_array(message)
    ((_, shape),) = get_model_metadata(path)["input_tensor_data"]
    count = int(np.prod(shape))
    data = (np.arange(count).reshape(shape) / count).astype(np.float32)  # what the outputs are for
    found = import_to_gluon(path)(nd.array(data)).asnumpy()
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("name", _QUICK)
def test_a_network_gives_the_output_that_comes_with_it(name: str) -> None:
    _check(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", _LONGER)
def test_a_larger_network_gives_the_output_that_comes_with_it(name: str) -> None:
    _check(name)
