"""What MPI is to read when it starts: no ports, and shared memory that is there."""

import importlib
from typing import Any

import pytest

from gluonish.core.errors import NotSupportedError

world: Any = importlib.import_module("gluonish.kvstore.distributed.world")


def started(monkeypatch: pytest.MonkeyPatch, free_mb: float, **variables: str) -> dict[str, str]:
    for name in ("PMI_SIZE", "MPI_LOCALNRANKS", "WORLD_SIZE", "OMPI_COMM_WORLD_SIZE"):
        monkeypatch.delenv(name, raising=False)
    for name, text in variables.items():
        monkeypatch.setenv(name, text)
    monkeypatch.setattr(world, "_free_shared_memory", lambda: int(free_mb * 2**20))
    found: dict[str, str] = world._environment_of_mpi()
    return found


def test_ranks_of_one_host_open_no_port(monkeypatch: pytest.MonkeyPatch) -> None:
    for variables in ({}, {"PMI_SIZE": "2", "MPI_LOCALNRANKS": "2"}):
        found = started(monkeypatch, 1000, **variables)
        assert found["UCX_TLS"] == "self,sm"
        assert found["FI_TCP_IFACE"] == "lo"


def test_ranks_of_several_hosts_choose_by_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    assert started(monkeypatch, 1000, PMI_SIZE="4", MPI_LOCALNRANKS="2") == {}


def test_a_small_dev_shm_is_left_to_mpi_and_a_full_one_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    job = {"PMI_SIZE": "2", "MPI_LOCALNRANKS": "2"}
    assert started(monkeypatch, 16, **job)["UCX_TLS"] == "self,sysv,cma"
    with pytest.raises(NotSupportedError, match=r"1\.5 MB of shared memory in /dev/shm.*got 1\.0"):
        started(monkeypatch, 1, **job)
    assert started(monkeypatch, 0)  # one process needs none
