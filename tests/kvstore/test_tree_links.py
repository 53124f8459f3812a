"""Link matrices: of CPU devices, and from what nvidia-smi prints."""

from types import SimpleNamespace
from typing import Any

import pytest

from gluonish.core.context import cpu, gpu
from gluonish.core.errors import ArgumentError
from gluonish.kvstore import tree_search
from gluonish.kvstore.tree_search import links_between, parse_topology, uniform_links

TOPOLOGY = """\
\x1b[4m\tGPU0\tGPU1\tGPU2\tGPU3\tCPU Affinity\tNUMA Affinity\x1b[0m
GPU0\t X \tNV1\tNV1\tNV2\t0-31\t0
GPU1\tNV1\t X \tNV2\tPHB\t0-31\t0
GPU2\tNV1\tNV2\t X \tNV2\t0-31\t0
GPU3\tNV2\tPHB\tNV2\t X \t0-31\t0

Legend:
  X    = Self
  NV#  = Connection traversing a bonded set of # NVLinks
"""
BUSES = ["00000000:00:1B.0", "00000000:00:1C.0", "00000000:00:1D.0", "00000000:00:1E.0"]


def test_cpu_devices_have_one_link_each() -> None:
    assert links_between([cpu(0), cpu(1), cpu(2)]) == uniform_links(3)
    assert uniform_links(2) == ((0.0, 1.0), (1.0, 0.0))


def test_table_is_read() -> None:
    assert parse_topology(TOPOLOGY) == ((0, 1, 1, 2), (1, 0, 2, 0), (1, 2, 0, 2), (2, 0, 2, 0))


@pytest.mark.parametrize("text", ["", "No devices", "GPU0\t X"])
def test_what_is_no_table_is_refused(text: str) -> None:
    with pytest.raises(ArgumentError, match="parse_topology: expected the table"):
        parse_topology(text if text != "GPU0\t X" else "GPU0 X\nGPU1 NV1 X")


def fake_cupy(order: list[int], peers: set[tuple[int, int]]) -> Any:
    """CuPy with some of the machine's GPUs, in an order of its own."""
    device = lambda number: SimpleNamespace(pci_bus_id=BUSES[order[number]][4:])  # noqa: E731
    runtime = SimpleNamespace(deviceCanAccessPeer=lambda i, j: int((i, j) in peers))
    return SimpleNamespace(cuda=SimpleNamespace(Device=device, runtime=runtime))


def answer(*arguments: str) -> str:
    return TOPOLOGY if arguments[0] == "topo" else "\n".join(BUSES)


def test_gpus_are_found_by_their_address(monkeypatch: pytest.MonkeyPatch) -> None:
    cupy = fake_cupy([3, 0, 2], set())
    monkeypatch.setattr(tree_search, "device_of", lambda _: SimpleNamespace(xp=cupy))
    found = links_between([gpu(0), gpu(1), gpu(2)], answer)
    assert found == ((0, 2, 2), (2, 0, 1), (2, 1, 0))


def test_without_the_tool_peers_count(monkeypatch: pytest.MonkeyPatch) -> None:
    cupy = fake_cupy([0, 1, 2], {(0, 1), (1, 0)})
    monkeypatch.setattr(tree_search, "device_of", lambda _: SimpleNamespace(xp=cupy))
    silent = lambda *arguments: ""  # noqa: E731
    assert links_between([gpu(0), gpu(1), gpu(2)], silent) == ((0, 1, 0), (1, 0, 0), (0, 0, 0))
    assert links_between([gpu(0), gpu(2)], silent) == uniform_links(2)
