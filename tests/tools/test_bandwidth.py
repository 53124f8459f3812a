"""The bandwidth command: what it measures and prints."""

import argparse
import math
import subprocess
import sys

import pytest

from gluonish.core.context import cpu
from gluonish.core.errors import ArgumentError
from gluonish.tools import bandwidth
from gluonish.tools.bandwidth import measure, parameter_shapes

SHAPES = [(3, 4), (7,)]


def run(*options: str) -> int:
    parser = argparse.ArgumentParser()
    bandwidth.add_parser(parser.add_subparsers())
    arguments = parser.parse_args(["bandwidth", *options])
    status: int = arguments.run(arguments)
    return status


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bandwidth, "parameter_shapes", lambda *arguments: SHAPES)


def test_shapes_are_those_of_the_parameters_with_gradients() -> None:
    shapes = parameter_shapes("resnet", 18, 10, (3, 32, 32))
    assert len(shapes) == 20 + 2 * 20 + 2  # kernels, two of each normalization, the last layer
    assert (10, 512) in shapes


@pytest.mark.parametrize("kv_store", ["local", "device"])
@pytest.mark.parametrize("devices", [1, 2, 3])
def test_sums_are_exact_but_for_rounding(kv_store: str, devices: int) -> None:
    found = measure(
        SHAPES,
        [cpu(i) for i in range(devices)],
        kv_store,
        batches=2,
        optimizer=None,
        compression=None,
        checks=True,
    )
    assert len(found) == 2
    for batch in found:
        assert batch.seconds > 0
        nbytes = 4 * (12 + 7) * 2 * (devices - 1) / devices
        assert batch.gigabytes_per_s == pytest.approx(nbytes / batch.seconds / 1e9)
        assert batch.error < 1e-6


def test_compression_shows_as_an_error() -> None:
    contexts = [cpu(0), cpu(1)]
    (batch,) = measure(
        SHAPES, contexts, "device", batches=1, optimizer=None, compression="2bit", checks=True
    )
    assert batch.error > 0.1


def test_with_an_optimizer_there_is_no_sum_to_compare() -> None:
    contexts = [cpu(0), cpu(1)]
    (batch,) = measure(
        SHAPES, contexts, "device", batches=1, optimizer="sgd", compression=None, checks=True
    )
    assert math.isnan(batch.error)


def test_each_so_many_batches_are_printed(tiny: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--num-batches", "4", "--disp-batches", "2", "--cpus", "0,1,2") == 0
    first, *lines = capsys.readouterr().out.splitlines()
    assert first == "2 gradients, 0.0 MB, on cpu(0), cpu(1), cpu(2)"
    assert [line.split(":")[0] for line in lines] == ["batch 2", "batch 4", "average"]
    assert all(" GB/s per device, error " in line for line in lines)


def test_one_device_is_told_that_it_sends_nothing(
    tiny: None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("--num-batches", "1", "--cpus", "2") == 0
    first, second, *_ = capsys.readouterr().out.splitlines()
    assert first == "2 gradients, 0.0 MB, on cpu(2)"
    assert second == "one device sends nothing: --cpus takes a list of numbers, such as 0,1"


def test_results_need_not_be_compared(tiny: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--num-batches", "1", "--test-results", "0", "--kv-store", "local") == 0
    assert "error" not in capsys.readouterr().out


@pytest.mark.parametrize(
    "options", [("--cpus", "0;1"), ("--num-batches", "0"), ("--gc-type", "3bit")]
)
def test_wrong_options_are_refused(tiny: None, options: tuple[str, str]) -> None:
    with pytest.raises(ArgumentError, match="expected"):
        run(*options)


@pytest.mark.dist
@pytest.mark.parametrize(("kv_store", "told"), [("dist_sync", "error 0"), ("dist_async", "GB/s")])
def test_several_processes_are_measured(kv_store: str, told: str) -> None:
    words = ["--kvstore", kv_store, "-n", "2", "--cpus", "0", "--network", "squeezenet1.1"]
    done = subprocess.run(
        [sys.executable, "-m", "gluonish", "bandwidth", *words, "--num-batches", "1"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert [line.partition(":")[0] for line in done.stdout.splitlines()][1:] == [
        "batch 1",
        "average",
    ]
    assert told in done.stdout


def test_a_store_of_one_process_is_refused_for_several() -> None:
    with pytest.raises(ArgumentError, match="-n: expected --kv-store dist_sync or dist_async"):
        run("-n", "2", "--kv-store", "device")
