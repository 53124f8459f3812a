import os
import re

import pytest

from gluonish.core import config
from gluonish.core.config import Flag, LoadEnvironment, all_flags
from gluonish.core.config.kind import all_or_some
from gluonish.core.errors import ArgumentTypeError, ConfigError, GluonishError

ALL = all_flags()
BOOLEANS = [flag for flag in ALL if flag.kind == "bool"]
INTEGERS = [flag for flag in ALL if flag.kind == "int"]


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for flag in ALL:
        monkeypatch.delenv(flag.name, raising=False)


@pytest.mark.parametrize(
    ("name", "default"),
    [
        ("MXNET_ENGINE_TYPE", "ThreadedEnginePerDevice"),
        ("MXNET_CPU_WORKER_NTHREADS", 1),
        ("MXNET_CPU_PRIORITY_NTHREADS", 4),
        ("MXNET_EXEC_BULK_EXEC_INFERENCE", True),
        ("MXNET_EXEC_BULK_EXEC_TRAIN", True),
        ("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN", 15),
        ("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_FWD", 15),
        ("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD", 15),
        ("MXNET_EXEC_ENABLE_INPLACE", True),
        ("NNVM_EXEC_MATCH_RANGE", 16),
        ("MXNET_ELIMINATE_COMMON_EXPR", True),
        ("MXNET_MKLDNN_ENABLED", True),
        ("MXNET_MKLDNN_CACHE_NUM", 4096),
        ("MXNET_LIBRARY_PATH", ""),
        ("MXNET_OPTIMIZER_AGGREGATION_SIZE", 4),
        ("MXNET_UPDATE_ON_KVSTORE", True),
        ("MXNET_GLUON_REPO", "https://apache-mxnet.s3-accelerate.dualstack.amazonaws.com/"),
        ("DMLC_LOG_STACK_TRACE_DEPTH", 0),
    ],
)
def test_unset_variable_gives_the_default(name: str, default: object) -> None:
    flag = getattr(config, name)
    assert flag.value == default
    assert type(flag.value) is type(default)
    assert flag.source == "default"


@pytest.mark.parametrize("flag", ALL, ids=lambda flag: flag.name)
def test_constant_name_is_the_variable_name_and_is_exported(flag: Flag[object]) -> None:
    assert getattr(config, flag.name) is flag
    assert flag.name in config.__all__


@pytest.mark.parametrize("flag", ALL, ids=lambda flag: flag.name)
def test_doc_is_one_sentence_line(flag: Flag[object]) -> None:
    assert re.fullmatch(r"[A-Z].{10,110}\.", flag.doc)


@pytest.mark.parametrize("flag", ALL, ids=lambda flag: flag.name)
def test_value_as_text_reads_back(flag: Flag[object], monkeypatch: pytest.MonkeyPatch) -> None:
    value = flag.value
    monkeypatch.setenv(flag.name, flag.value_as_text)
    assert flag.value == value


def test_flags_come_in_declared_order() -> None:
    names = [flag.name for flag in ALL]
    assert names[0] == "MXNET_ENGINE_TYPE"
    effective = [flag.name for flag in ALL if flag.acts]
    assert names[: len(effective)] == effective
    assert effective[-1] == "MXNET_HOME"
    assert len(set(names)) == len(names)


def test_environment_is_read_at_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MXNET_CPU_WORKER_NTHREADS", "3")
    assert config.MXNET_CPU_WORKER_NTHREADS.value == 3
    assert config.MXNET_CPU_WORKER_NTHREADS.source == "environment"
    monkeypatch.setenv("MXNET_CPU_WORKER_NTHREADS", "5")
    assert config.MXNET_CPU_WORKER_NTHREADS.value == 5


@pytest.mark.parametrize("text", ["", "  "])
def test_empty_variable_means_the_default(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NNVM_EXEC_MATCH_RANGE", text)
    assert config.NNVM_EXEC_MATCH_RANGE.value == 16
    assert config.NNVM_EXEC_MATCH_RANGE.source == "default"


@pytest.mark.parametrize("flag", BOOLEANS, ids=lambda flag: flag.name)
@pytest.mark.parametrize(
    ("text", "expected"),
    [("0", False), ("1", True), ("false", False), ("true", True), ("False", False), (" 1 ", True)],
)
def test_boolean_texts(
    flag: Flag[object], text: str, expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(flag.name, text)
    assert flag.value is expected


@pytest.mark.parametrize("flag", BOOLEANS, ids=lambda flag: flag.name)
@pytest.mark.parametrize("text", ["yes", "2", "on", "-1"])
def test_unknown_boolean_is_refused(
    flag: Flag[object], text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(flag.name, text)
    with pytest.raises(ConfigError, match=f"^{flag.name}: expected one of 0, 1, .*got '{text}'$"):
        _ = flag.value


@pytest.mark.parametrize("flag", INTEGERS, ids=lambda flag: flag.name)
@pytest.mark.parametrize("text", ["x", "1.5", "1_0", "-2", "0x10", "\u0663", "9" * 19])
def test_bad_integer_is_refused(
    flag: Flag[object], text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(flag.name, text)
    with pytest.raises(ConfigError, match=f"^{flag.name}: expected an integer"):
        _ = flag.value


def test_range_is_named_when_a_value_lies_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MXNET_OPTIMIZER_AGGREGATION_SIZE", "60")
    assert config.MXNET_OPTIMIZER_AGGREGATION_SIZE.value == 60
    monkeypatch.setenv("MXNET_OPTIMIZER_AGGREGATION_SIZE", "61")
    message = "MXNET_OPTIMIZER_AGGREGATION_SIZE: expected an integer in 1..60, got '61'"
    with pytest.raises(ConfigError, match=re.escape(message)):
        _ = config.MXNET_OPTIMIZER_AGGREGATION_SIZE.value


def test_unknown_engine_is_refused_with_the_choices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MXNET_ENGINE_TYPE", "Naive")
    message = (
        "MXNET_ENGINE_TYPE: expected one of NaiveEngine, ThreadedEngine, ThreadedEnginePerDevice, "
        "got 'Naive'"
    )
    with pytest.raises(ConfigError, match=re.escape(message)):
        _ = config.MXNET_ENGINE_TYPE.value


def test_segment_sizes_follow_the_common_one_until_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN", "7")
    monkeypatch.setenv("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD", "9")
    assert config.MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_FWD.value == 7
    assert config.MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD.value == 9
    forward = config.MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_FWD
    assert forward.default_as_text == "MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN"


@pytest.mark.skipif(os.name == "nt", reason="the folder is another one on Windows")
def test_home_lies_in_the_users_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/someone")
    monkeypatch.delenv("MXNET_HOME", raising=False)
    assert config.MXNET_HOME.value == "/home/someone/.mxnet"
    assert config.MXNET_HOME.default_as_text == "~/.mxnet"


def test_home_is_expanded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/someone")
    monkeypatch.setenv("MXNET_HOME", "~/models")
    assert config.MXNET_HOME.value == "/home/someone/models"


def test_flag_has_no_truth_value() -> None:
    with pytest.raises(ArgumentTypeError, match=r"MXNET_MKLDNN_ENABLED\.value") as caught:
        bool(config.MXNET_MKLDNN_ENABLED)
    assert isinstance(caught.value, GluonishError)
    assert isinstance(caught.value, TypeError)


def test_override_wins_over_the_environment_and_ends_with_its_scope(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    flag = config.MXNET_CPU_WORKER_NTHREADS
    monkeypatch.setenv(flag.name, "3")
    with flag.override(8):
        assert (flag.value, flag.source) == (8, "override")
        with flag.override(2):
            assert flag.value == 2
        assert flag.value == 8
    assert (flag.value, flag.source) == (3, "environment")


def test_override_ends_when_the_scope_raises() -> None:
    flag = config.MXNET_MKLDNN_ENABLED
    with pytest.raises(KeyError), flag.override(False):
        raise KeyError("inside")
    assert flag.value is True


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("MXNET_ENGINE_TYPE", ""),
        ("MXNET_ENGINE_TYPE", "Fast"),
        ("MXNET_CPU_WORKER_NTHREADS", 0),
        ("MXNET_CPU_WORKER_NTHREADS", 1.5),
        ("MXNET_MKLDNN_ENABLED", 2),
    ],
)
def test_override_refuses_what_the_environment_may_not_hold(name: str, value: object) -> None:
    with pytest.raises(ConfigError, match=f"^{name}: expected"):
        getattr(config, name).override(value)


def test_repr_does_not_read_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MXNET_ENGINE_TYPE", "Naive")
    assert repr(config.MXNET_ENGINE_TYPE) == "Flag(MXNET_ENGINE_TYPE, choice)"


def test_load_environment_sets_variables_for_the_scope_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("GLUONISH_SOME", raising=False)
    with LoadEnvironment("GLUONISH_OTHER", GLUONISH_SOME="1"):
        assert os.environ["GLUONISH_SOME"] == "1"
    assert "GLUONISH_SOME" not in os.environ


@pytest.mark.parametrize("decided", ["GLUONISH_OTHER", "GLUONISH_SOME"])
def test_load_environment_leaves_what_the_user_decided(
    monkeypatch: pytest.MonkeyPatch, decided: str
) -> None:
    monkeypatch.setenv(decided, "mine")
    before = dict(os.environ)
    with LoadEnvironment("GLUONISH_OTHER", GLUONISH_SOME="1"):
        assert dict(os.environ) == before
    assert dict(os.environ) == before


def test_all_or_some_takes_switches_and_lists() -> None:
    kind = all_or_some("float32", "float64")
    assert [kind.parse(text) for text in ("0", "1", "float64", "float64, float32")] == [
        (),
        ("float32", "float64"),
        ("float64",),
        ("float64", "float32"),
    ]
    assert [kind.show(value) for value in ((), ("float64", "float32"), ("float64",))] == [
        "0",
        "1",
        "float64",
    ]
    with pytest.raises(ValueError, match="int7"):
        kind.parse("int7")
