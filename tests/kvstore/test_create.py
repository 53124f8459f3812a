"""Stores by name."""

import importlib
from typing import Any

import pytest

from gluonish.core.errors import (
    ArgumentError,
    ArgumentTypeError,
    DeviceError,
    NotSupportedError,
)
from gluonish.kvstore import KVStoreBase, create

create_module: Any = importlib.import_module("gluonish.kvstore.create")


@pytest.mark.parametrize(
    "name", ["local", "local_update_cpu", "local_allreduce_cpu", "local_allreduce_device", "device"]
)
def test_type_is_the_name(name: str) -> None:
    assert create(name).type == name


def test_case_does_not_matter() -> None:
    assert create("LOCAL").type == "local"


@pytest.mark.parametrize("name", ["p3", "horovod", "byteps"])
def test_missing_store_names_another(name: str) -> None:
    with pytest.raises(NotSupportedError, match=f"'{name}'; use"):
        create(name)


def test_without_nccl_there_is_a_device_store_and_one_line_in_the_log(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def missing() -> Any:
        raise DeviceError("nccl: expected CuPy with NCCL, got none")

    monkeypatch.setattr(create_module, "find_nccl", missing)
    monkeypatch.setattr(create_module, "_logged", [])
    with caplog.at_level("WARNING", "gluonish"):
        assert [create("nccl").type, create("NCCL").type] == ["device", "device"]
    (record,) = caplog.records
    assert record.getMessage() == (
        "nccl: expected CuPy with NCCL, got none; 'nccl' stores are 'device' stores here"
    )


def test_unknown_store_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"device, local.*got 'locl'"):
        create("locl")


def test_name_must_be_text() -> None:
    with pytest.raises(ArgumentTypeError, match="name, got 3"):
        create(3)  # type: ignore[arg-type]


def test_registered_store_is_found() -> None:
    class Mine(KVStoreBase):
        pass

    try:
        assert KVStoreBase.register(Mine) is Mine
        made: Any = create("mine")
        assert isinstance(made, Mine)
        with pytest.raises(NotSupportedError, match="Mine: expected a store that defines rank"):
            _ = made.rank
    finally:
        del KVStoreBase.kv_registry["mine"]


def test_only_classes_are_registered() -> None:
    with pytest.raises(ArgumentTypeError, match="class, got 'x'"):
        KVStoreBase.register("x")  # type: ignore[type-var]
