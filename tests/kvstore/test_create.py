"""Stores by name."""

from typing import Any

import pytest

from gluonish.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError
from gluonish.kvstore import KVStoreBase, create


@pytest.mark.parametrize(
    "name", ["local", "local_update_cpu", "local_allreduce_cpu", "local_allreduce_device", "device"]
)
def test_type_is_the_name(name: str) -> None:
    assert create(name).type == name


def test_case_does_not_matter() -> None:
    assert create("LOCAL").type == "local"


@pytest.mark.parametrize("name", ["nccl", "dist_sync", "dist_async", "dist_device_sync", "horovod"])
def test_missing_store_names_another(name: str) -> None:
    with pytest.raises(NotSupportedError, match=f"'{name}'; use 'device'"):
        create(name)


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
