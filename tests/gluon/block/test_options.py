from typing import Any

import pytest

from gluonish.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError
from gluonish.core.mxnet_rules import follow_mxnet
from gluonish.gluon import nn
from gluonish.gluon.block.options import HybridOptions, checked_options

FLAGS = {
    "active": True,
    "static_alloc": False,
    "static_shape": False,
    "inline_limit": 2,
    "forward_bulk_size": None,
    "backward_bulk_size": None,
}


def _checked(backend: str | None = None, **changes: Any) -> HybridOptions:
    flags = {name: changes.pop(name, value) for name, value in FLAGS.items()}
    return checked_options("net.hybridize", flags, backend, changes)


def test_options_with_an_effect_are_kept() -> None:
    found = _checked(static_alloc=True, static_shape=True, forward_bulk_size=3, inline_limit=0)
    assert found == HybridOptions(True, 3, None, static_shape=True, inline_limit=0)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"static_shape": True}, ArgumentError, "expected static_alloc=True, which static_shape"),
        ({"static_alloc": "yes"}, ArgumentTypeError, "static_alloc True or False, got 'yes'"),
        ({"inline_limit": -1}, ArgumentError, "inline_limit of at least 0, got -1"),
        ({"inline_limit": None}, ArgumentTypeError, "inline_limit to be a whole number, got None"),
        ({"forward_bulk_size": 1.5}, ArgumentTypeError, "whole number, got 1.5"),
        ({"backward_bulk_size": -3}, ArgumentError, "backward_bulk_size of at least 0"),
        ({"backend": "TensorRT"}, NotSupportedError, "'MKLDNN' or 'ONEDNN', got 'TensorRT'"),
    ],
)
def test_an_option_that_makes_no_sense_is_refused(
    changes: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=rf"^net.hybridize: .*{message}"):
        _checked(**changes)


def test_unknown_options_change_nothing_as_in_mxnet(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("DEBUG", logger="gluonish"):
        assert _checked(fuse=True, static_alloc=True) == HybridOptions(True)
        _checked(fuse=True)
    (record,) = caplog.records
    assert "ignored fuse, expected static_alloc, static_shape" in record.getMessage()


def test_switching_off_asks_for_no_memory() -> None:
    assert _checked(active=False, static_shape=True) == HybridOptions()


def test_a_back_end_may_have_options() -> None:
    assert _checked("ONEDNN", verbose=1) == HybridOptions()


def test_a_misspelt_option_is_refused_except_under_the_name_mxnet() -> None:
    net = nn.Dense(1)
    with pytest.raises(TypeError, match=r"got 'static_allocs' \(nearest: 'static_alloc'"):
        net.hybridize(static_allocs=True)
    net.hybridize(an_option_of_a_back_end=1)
    before = follow_mxnet()
    try:
        net.hybridize(static_allocs=True)
    finally:
        follow_mxnet(before)
