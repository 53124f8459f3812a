import importlib
from typing import Any

import pytest

from gluonish.tools.check.command import DIFFERENT, advice_on


@pytest.mark.parametrize(
    "name",
    [
        *("mxnet", "mxnet.nd.array", "mxnet.gluon.data.vision.transforms.ToTensor", "mxnet.mod"),
        *("mxnet.contrib.text.vocab.Vocabulary", "mxnet.nd.NDArray.asnumpy", "mxnet.npx.relu"),
        *("mxnet.metric.ndarray", "mxnet.gluon.data.vision.datasets.image", "numpy.float64"),
        *("mxnet.model_zoo.vision", "mxnet.nd.array.__name__", "numpy.bool", "numpy.random.rand"),
    ],
)
def test_nothing_is_said_of_what_is_there(name: str) -> None:
    assert advice_on(name) is None


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("mxnet.nd.arrayy", "mxnet.nd has no arrayy; did you mean mxnet.nd.array?"),
        ("mxnet.gluon.nowhere.Thing", "mxnet.gluon has no nowhere"),
        ("mxnet.nd.NDArray.asnumpyy", "mxnet.nd.NDArray has no asnumpyy; "),
        ("mxnet.nd._CachedOpThreadSafe", ""),
        ("gluonish.nd.arrayy", "gluonish.nd has no arrayy; did you mean gluonish.nd.array?"),
        ("mxnet.contrib.tensorrt.init_tensorrt_params", "runs on the GPU with cuDNN"),
        ("numpy.float", "--numpy1"),
    ],
)
def test_what_is_missing_is_said_with_what_to_do(name: str, said: str) -> None:
    advice = advice_on(name)
    assert advice is not None
    assert advice[0] == "missing"
    assert said in advice[1]


def test_what_differs_is_said_under_every_name() -> None:
    for name in ("mxnet.optimizer.Nadam", "mxnet.optimizer.optimizer.Nadam"):
        advice = advice_on(name)
        assert advice is not None
        assert advice[0] == "differs"


def test_nothing_is_said_of_stores_as_all_of_them_are_there() -> None:
    for name in ("kv.create", "kvstore.create", "kvstore.KVStore", "gluon.Trainer"):
        assert advice_on(f"mxnet.{name}") is None, name


@pytest.mark.parametrize("name", DIFFERENT)
def test_every_line_of_the_table_is_of_something_that_is_there(name: str) -> None:
    module, _, attribute = name.rpartition(".")
    owner: Any = importlib.import_module(f"gluonish.{module}")
    assert hasattr(owner, attribute)
    assert advice_on(f"mxnet.{name}") == ("differs", DIFFERENT[name])
