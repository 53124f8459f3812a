import pytest

from gluonish.core.config import (
    MXNET_EXEC_MATCH_RANGE,
    MXNET_GPU_MEM_POOL_ROUND_LINEAR_CUTOFF,
    MXNET_GPU_MEM_POOL_TYPE,
    NNVM_EXEC_MATCH_RANGE,
)
from gluonish.core.errors import ConfigError


@pytest.mark.parametrize(
    ("older", "newer", "value"), [("", "", 16), ("3", "", 3), ("", "5", 5), ("3", "5", 5)]
)
def test_the_newer_name_of_the_match_range_wins(
    monkeypatch: pytest.MonkeyPatch, older: str, newer: str, value: int
) -> None:
    monkeypatch.setenv("MXNET_EXEC_MATCH_RANGE", older)
    monkeypatch.setenv("NNVM_EXEC_MATCH_RANGE", newer)
    assert NNVM_EXEC_MATCH_RANGE.value == value


def test_a_bad_value_under_the_older_name_is_refused_by_that_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("NNVM_EXEC_MATCH_RANGE", raising=False)
    monkeypatch.setenv("MXNET_EXEC_MATCH_RANGE", "-1")
    with pytest.raises(ConfigError, match=r"MXNET_EXEC_MATCH_RANGE: expected an integer >= 0"):
        _ = NNVM_EXEC_MATCH_RANGE.value
    assert NNVM_EXEC_MATCH_RANGE.default_as_text == MXNET_EXEC_MATCH_RANGE.name


@pytest.mark.parametrize("kind", ["naive", "Pooled", "None"])
def test_an_unknown_kind_of_pool_is_refused_with_the_choices(
    monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setenv("MXNET_GPU_MEM_POOL_TYPE", kind)
    with pytest.raises(ConfigError, match="expected one of Naive, Round, Unpooled"):
        _ = MXNET_GPU_MEM_POOL_TYPE.value


@pytest.mark.parametrize("cutoff", ["19", "35"])
def test_a_cutoff_outside_its_range_is_refused(
    monkeypatch: pytest.MonkeyPatch, cutoff: str
) -> None:
    monkeypatch.setenv("MXNET_GPU_MEM_POOL_ROUND_LINEAR_CUTOFF", cutoff)
    with pytest.raises(ConfigError, match=r"an integer in 20\.\.34"):
        _ = MXNET_GPU_MEM_POOL_ROUND_LINEAR_CUTOFF.value
