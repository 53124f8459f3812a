"""The figures of a CPU's memory move with what the process does."""

import gc
import sys
from pathlib import Path

import pytest

from gluonish import autograd, gluon, nd
from gluonish.core import cpu_memory
from gluonish.core.context import cpu

SIZE = 10_000_000  # bytes

glibc = pytest.mark.skipif(cpu_memory._counter() is None, reason="the C library tells no counts")


@glibc
def test_used_and_held_follow_an_array() -> None:
    nd.zeros((SIZE,), dtype="uint8").wait_to_read()  # what is made once is there then
    before = cpu().memory_info()
    x = nd.zeros((SIZE,), dtype="uint8")
    x.wait_to_read()
    during = cpu().memory_info()
    assert 0.9 * SIZE < during.used - before.used < 1.2 * SIZE
    del x
    nd.waitall()
    after = cpu().memory_info()
    assert during.used - after.used > 0.9 * SIZE
    assert after.reserved == after.used + after.held


@glibc
def test_used_follows_parameters_gradients_states_and_memory_of_graphs() -> None:
    def train() -> tuple[gluon.Trainer, gluon.Block]:
        net = gluon.nn.Dense(1000, in_units=2500)  # of SIZE bytes
        net.initialize()
        net.hybridize(static_alloc=True)
        trainer = gluon.Trainer(net.collect_params(), "sgd", {"momentum": 0.9})
        with autograd.record():
            loss = net(nd.ones((2, 2500)))
        loss.backward()
        trainer.step(1)
        nd.waitall()
        return trainer, net

    train()  # what is made once is there then
    gc.collect()
    before = cpu().memory_info().used
    made = train()
    during = cpu().memory_info().used
    assert during - before > 2.9 * SIZE  # values, gradients, momentum
    del made
    gc.collect()
    nd.waitall()
    assert during - cpu().memory_info().used > 2.5 * SIZE


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_figures_of_the_machine() -> None:
    info = cpu().memory_info()
    assert 0 < info.free <= info.total
    assert 0 < info.peak <= info.total
    assert cpu(3).memory_info().total == info.total


def test_control_groups_bound_what_is_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in (("max", "50000000"), ("current", "30000000"), ("stat", "active_file 5000")):
        (tmp_path / f"memory.{name}").write_text(f"{text}\n")
    (tmp_path / "own").write_text("0::/\n")
    monkeypatch.setattr(cpu_memory, "ROOT", tmp_path)
    monkeypatch.setattr(cpu_memory, "OWN", tmp_path / "own")
    info = cpu().memory_info()
    assert (info.free, info.total) == (20_005_000, 50_000_000)
    assert cpu_memory.cached_limit() == 50_000_000 // 8


def test_without_counts_what_is_resident_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu_memory, "_counter", lambda: None)
    info = cpu().memory_info()
    assert info.held == 0
    if sys.platform.startswith("linux"):
        assert 0 < info.used <= info.peak


def test_without_files_of_the_kernel_the_rest_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    known = cpu_memory._kibibytes
    monkeypatch.setattr(
        cpu_memory, "_kibibytes", lambda path, name, missing: known("/nowhere", name, missing)
    )
    info = cpu().memory_info()
    assert info.free == info.total > 0
    assert info.peak == 0
