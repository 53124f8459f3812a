from pathlib import Path

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import FileFormatError, MissingFileError
from gluonish.model import BatchEndParam, load_checkpoint, load_params, save_checkpoint

GOLDEN = Path(__file__).parent / "golden"


def network():
    x = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc")
    return x, {"fc_weight": mx.nd.ones((2, 3)), "fc_bias": mx.nd.zeros(2)}


def test_a_checkpoint_comes_back(tmp_path: Path) -> None:
    symbol, arguments = network()
    prefix = str(tmp_path / "net")
    save_checkpoint(prefix, 12, symbol, arguments, {"mean": mx.nd.array([3])})
    loaded, found, auxiliary = load_checkpoint(prefix, 12)
    assert loaded.list_arguments() == symbol.list_arguments()
    assert list(found) == ["fc_weight", "fc_bias"]
    assert found["fc_weight"].asnumpy().tolist() == np.ones((2, 3)).tolist()
    assert auxiliary["mean"].asscalar() == 3


def test_names_in_the_file_tell_arguments_from_states(tmp_path: Path) -> None:
    prefix = str(tmp_path / "net")
    save_checkpoint(prefix, 1, None, {"a": mx.nd.ones(1)}, {"b": mx.nd.ones(1)})
    assert list(mx.nd.load(f"{prefix}-0001.params")) == ["arg:a", "aux:b"]
    assert not (tmp_path / "net-symbol.json").exists()


def test_a_checkpoint_of_mxnet_is_read() -> None:
    symbol, arguments, auxiliary = load_checkpoint(str(GOLDEN / "cnn"), 3)
    assert set(symbol.list_arguments()) - set(arguments) == {"data"}
    assert set(symbol.list_auxiliary_states()) == set(auxiliary)


def test_an_empty_file_is_warned_of(tmp_path: Path, caplog) -> None:
    prefix = str(tmp_path / "net")
    save_checkpoint(prefix, 1, None, {}, {})
    assert load_params(prefix, 1) == ({}, {})
    assert caplog.messages == [f"Params file '{prefix}-0001.params' is empty"]


@pytest.mark.parametrize("name", ["foo", "other:w", "arg:"])
def test_other_names_in_the_file_are_refused(tmp_path: Path, name: str) -> None:
    mx.nd.save(str(tmp_path / "net-0001.params"), {name: mx.nd.ones(1)})
    with pytest.raises(FileFormatError, match=r"expected names arg:\.\.\. and aux:\.\.\."):
        load_params(str(tmp_path / "net"), 1)


def test_arrays_without_names_are_refused(tmp_path: Path) -> None:
    mx.nd.save(str(tmp_path / "net-0001.params"), [mx.nd.ones(1)])
    with pytest.raises(FileFormatError, match="expected arrays with names"):
        load_params(str(tmp_path / "net"), 1)


def test_a_name_may_hold_a_colon(tmp_path: Path) -> None:
    prefix = str(tmp_path / "net")
    save_checkpoint(prefix, 1, None, {"a:b": mx.nd.ones(1)}, {})
    assert list(load_params(prefix, 1)[0]) == ["a:b"]


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(MissingFileError, match=r"net-symbol\.json"):
        load_checkpoint(str(tmp_path / "net"), 1)


def test_what_callbacks_get_has_the_names_of_mxnet() -> None:
    assert BatchEndParam._fields == ("epoch", "nbatch", "eval_metric", "locals")
    assert BatchEndParam.__name__ == "BatchEndParams"
