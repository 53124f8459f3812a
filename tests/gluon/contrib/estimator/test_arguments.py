"""Arguments of an Estimator: what is not shown by its own tests."""

import pytest

import gluonish as mx
from gluonish.core.errors import ArgumentError
from gluonish.gluon.contrib.estimator import arguments


@pytest.mark.parametrize(("count", "context"), [(0, mx.cpu()), (1, mx.gpu(0)), (4, mx.gpu(0))])
def test_first_gpu_is_the_default_where_there_is_one(
    monkeypatch: pytest.MonkeyPatch, count: int, context: mx.Context
) -> None:
    monkeypatch.setattr(arguments, "gpu_count", lambda: count)
    assert arguments.check_context(None) == [context]
    assert arguments.check_context([]) == [context]


def test_devices_are_taken_as_a_list() -> None:
    both = [mx.cpu(0), mx.cpu(1)]
    assert arguments.check_context(mx.cpu(1)) == [mx.cpu(1)]
    assert arguments.check_context(both) == arguments.check_context(tuple(both)) == both


def test_zero_epochs_are_as_good_as_none() -> None:
    assert arguments.check_duration(0, 3) == (None, 3)
    with pytest.raises(ArgumentError, match="expected either epochs or batches, got epochs=0"):
        arguments.check_duration(0, None)
