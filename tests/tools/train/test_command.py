"""``gluonish train`` on the digits that ship, and on record files made here."""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gluonish.core.devices import cpu, num_gpus
from gluonish.core.errors import ArgumentError, GluonishError, MissingFileError
from gluonish.module.feed_forward import load_checkpoint
from gluonish.ndarray import load
from gluonish.recordio import IRHeader, MXIndexedRecordIO, pack_img
from gluonish.tools.train import add_parser

DIGITS = ("--dataset", "digits", "--disp-batches", "0")


def train(*options: str) -> int:
    parser = argparse.ArgumentParser()
    add_parser(parser.add_subparsers())
    arguments = parser.parse_args(["train", *options])
    status: int = arguments.run(arguments)
    return status


def history(prefix: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(Path(f"{prefix}-history.json").read_text())["history"]
    return found


def same(first: Path, second: Path, epoch: int) -> bool:
    """Whether two trainings came to the same parameters and states, bit for bit."""
    endings = (f"-{epoch:04d}.params", f"-{epoch:04d}.states", "-symbol.json")
    pairs = [(Path(f"{first}{end}"), Path(f"{second}{end}")) for end in endings]
    return all(a.read_bytes() == b.read_bytes() for a, b in pairs)


def test_digits_are_learnt_and_everything_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prefix = tmp_path / "net"
    assert train(*DIGITS, "--num-epochs", "8", "--model-prefix", str(prefix)) == 0
    entries = history(prefix)
    assert [entry["epoch"] for entry in entries] == list(range(1, 9))
    assert entries[-1]["validation"]["accuracy"] > 0.9
    assert entries[-1]["training"]["loss"] < entries[0]["training"]["loss"] / 2
    assert Path(f"{prefix}-curves.png").read_bytes().startswith(b"\x89PNG")
    said = capsys.readouterr().out
    assert "Epoch[7] Validation-accuracy=0.9" in said
    assert f'Saved checkpoint to "{prefix}-0008.params"' in said


def test_checkpoint_is_one_of_mx_model(tmp_path: Path) -> None:
    prefix = tmp_path / "net"
    train(*DIGITS, "--network", "resnet20", "--num-epochs", "1", "--model-prefix", str(prefix))
    symbol, arguments, states = load_checkpoint(str(prefix), 1)
    assert set(symbol.list_arguments()) == {"data", *arguments}
    assert set(symbol.list_auxiliary_states()) == set(states)
    bound = symbol.simple_bind(cpu(), data=(3, 1, 8, 8), grad_req="null")
    bound.copy_params_from(arguments, states)
    assert bound.forward(is_train=False)[0].shape == (3, 10)


def test_lines_come_every_so_many_batches(capsys: pytest.CaptureFixture[str]) -> None:
    train("--dataset", "digits", "--num-epochs", "1", "--disp-batches", "10")
    lines = [line for line in capsys.readouterr().out.splitlines() if "Batch [" in line]
    assert [line.split("\t")[0] for line in lines] == [
        "Epoch[0] Batch [0-10]",
        "Epoch[0] Batch [10-20]",
    ]
    assert all("samples/sec\taccuracy=" in line and "\tloss=" in line for line in lines)


@pytest.mark.parametrize(
    "options",
    [
        ("--network", "resnet20", "--optimizer", "adam", "--lr", "0.01"),
        ("--network", "mlp", "--workers", "1"),
        ("--imperative",),
        ("--ctx", "cpu:0,cpu:1"),
        ("--dtype", "bfloat16", "--warmup-epochs", "1"),
        ("--dtype", "float16"),
        ("--lr-step-epochs", "1,2", "--warmup-epochs", "2", "--warmup-strategy", "constant"),
    ],
    ids=["resnet-adam", "worker", "imperative", "two-devices", "bfloat16", "float16", "schedule"],
)
def test_resumed_training_is_the_uninterrupted_one(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    train(*DIGITS, *options, "--num-epochs", "3", "--model-prefix", str(whole))
    train(*DIGITS, *options, "--num-epochs", "1", "--model-prefix", str(parts))
    train(*DIGITS, *options, "--num-epochs", "3", "--model-prefix", str(parts), "--resume")
    assert same(whole, parts, 3)
    timing = {"seconds", "samples_per_second"}
    for expected, found in zip(history(whole), history(parts), strict=True):
        assert {name for name in expected if expected[name] != found[name]} <= timing


@pytest.mark.parametrize("ending", [".safetensors", ".npz"])
def test_a_prefix_says_the_format_of_the_parameters(ending: str, tmp_path: Path) -> None:
    prefix = f"{tmp_path / 'net'}{ending}"
    train(*DIGITS, "--num-epochs", "1", "--model-prefix", prefix)
    train(*DIGITS, "--num-epochs", "2", "--model-prefix", prefix, "--resume")
    train(*DIGITS, "--num-epochs", "2", "--model-prefix", str(tmp_path / "plain"))
    found, wanted = load(tmp_path / f"net-0002{ending}"), load(tmp_path / "plain-0002.params")
    assert isinstance(found, dict)
    assert isinstance(wanted, dict)
    assert {name: x.tolist() for name, x in found.items()} == {
        name: x.tolist() for name, x in wanted.items()
    }


def test_another_seed_gives_another_network(tmp_path: Path) -> None:
    for seed in ("0", "1"):
        prefix = str(tmp_path / seed)
        train(*DIGITS, "--num-epochs", "1", "--seed", seed, "--model-prefix", prefix)
    assert not same(tmp_path / "0", tmp_path / "1", 1)


@pytest.mark.parametrize("kv_store", ["local", "device"])
def test_several_devices_learn_the_same(tmp_path: Path, kv_store: str) -> None:
    options = (*DIGITS, "--num-epochs", "2", "--kv-store", kv_store, "--batch-size", "60")
    for name, ctx in (("one", "cpu:0"), ("two", "cpu:0,cpu:1")):
        train(*options, "--ctx", ctx, "--model-prefix", str(tmp_path / name))
    one, two = (load(str(tmp_path / f"{name}-0002.params")) for name in ("one", "two"))
    assert isinstance(one, dict)
    assert isinstance(two, dict)
    for name, values in one.items():
        np.testing.assert_allclose(two[name].asnumpy(), values.asnumpy(), rtol=1e-3, atol=1e-4)


def test_compressed_gradients_learn_otherwise(tmp_path: Path) -> None:
    options = (*DIGITS, "--num-epochs", "1", "--ctx", "cpu:0,cpu:1")
    train(*options, "--model-prefix", str(tmp_path / "plain"))
    train(*options, "--gc-type", "2bit", "--model-prefix", str(tmp_path / "compressed"))
    assert not same(tmp_path / "plain", tmp_path / "compressed", 1)


def test_learning_rate_warms_up_and_steps_down(tmp_path: Path) -> None:
    options = ("--lr", "0.1", "--lr-step-epochs", "3,4", "--lr-factor", "0.5")
    prefix = tmp_path / "net"
    train(
        *DIGITS,
        *options,
        "--warmup-epochs",
        "2",
        "--num-epochs",
        "5",
        "--model-prefix",
        str(prefix),
    )
    rates = [entry["lr"] for entry in history(prefix)]
    steps = 1438 // 64
    assert rates[0] == pytest.approx(0.1 * steps / (2 * steps))
    assert rates[1:] == pytest.approx([0.1, 0.1, 0.05, 0.025])


def test_metrics_that_are_asked_for_are_reported(tmp_path: Path) -> None:
    prefix = tmp_path / "net"
    asked = ("--top-k", "2,5", "--loss", "ce,nll_loss", "--num-epochs", "1")
    train(*DIGITS, *asked, "--model-prefix", str(prefix))
    found = history(prefix)[0]["validation"]
    assert found["top_k_accuracy_5"] >= found["top_k_accuracy_2"] >= found["accuracy"]
    assert found["cross-entropy"] == pytest.approx(found["loss"], rel=1e-4)
    assert found["nll-loss"] == pytest.approx(found["loss"], rel=1e-4)


def test_checkpoints_come_every_so_many_epochs_and_at_the_end(tmp_path: Path) -> None:
    prefix = tmp_path / "net"
    train(*DIGITS, "--num-epochs", "5", "--save-period", "2", "--model-prefix", str(prefix))
    names = sorted(path.name for path in tmp_path.glob("*.params"))
    assert names == ["net-0002.params", "net-0004.params", "net-0005.params"]


def test_events_for_tensorboard_are_written(tmp_path: Path) -> None:
    pytest.importorskip("tensorboardX", reason="the extra `tensorboard` is not installed")
    train(*DIGITS, "--num-epochs", "2", "--tensorboard", str(tmp_path / "logs"))
    for part in ("training", "validation"):
        (events,) = (tmp_path / "logs" / part).glob("events.out.tfevents.*")
        content = events.read_bytes()
        assert content.count(b"accuracy") == 2
        assert (b"samples_per_second" in content) == (part == "training")


@pytest.fixture
def trained(tmp_path: Path) -> Path:
    """The prefix of a training of two epochs."""
    prefix = tmp_path / "net"
    train(*DIGITS, "--num-epochs", "2", "--model-prefix", str(prefix))
    return prefix


def test_prefix_with_checkpoints_needs_a_word(trained: Path) -> None:
    with pytest.raises(ArgumentError, match="which has one of epoch 2; add --resume to go on"):
        train(*DIGITS, "--num-epochs", "3", "--model-prefix", str(trained))


def test_load_epoch_goes_back(trained: Path) -> None:
    before = Path(f"{trained}-0002.params").read_bytes()
    train(*DIGITS, "--num-epochs", "2", "--model-prefix", str(trained), "--load-epoch", "1")
    assert Path(f"{trained}-0002.params").read_bytes() == before


def test_load_epoch_takes_another_way(trained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--num-epochs", "2", "--lr", "0.001", "--load-epoch", "1")
    before = Path(f"{trained}-0002.params").read_bytes()
    train(*DIGITS, *options, "--model-prefix", str(trained))
    assert "--lr is now 0.001, and was 0.05" in capsys.readouterr().out
    assert Path(f"{trained}-0002.params").read_bytes() != before
    assert [entry["lr"] for entry in history(trained)] == [0.05, 0.001]


def test_load_epoch_takes_parameters_alone(
    trained: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for ending in (".json", ".states"):
        for epoch in (1, 2):
            Path(f"{trained}-{epoch:04d}{ending}").unlink()
    train(*DIGITS, "--num-epochs", "3", "--model-prefix", str(trained), "--load-epoch", "2")
    assert "starts from the parameters in" in capsys.readouterr().out
    (entry,) = history(trained)
    assert entry["epoch"] == 3


def test_load_epoch_that_is_not_there_is_refused(trained: Path) -> None:
    with pytest.raises(MissingFileError, match=r"net-0007\.params"):
        train(*DIGITS, "--model-prefix", str(trained), "--load-epoch", "7")


def test_finished_training_is_left_alone(trained: Path) -> None:
    before = Path(f"{trained}-0002.params").read_bytes()
    assert train(*DIGITS, "--num-epochs", "2", "--model-prefix", str(trained), "--resume") == 0
    assert Path(f"{trained}-0002.params").read_bytes() == before


def test_resume_without_checkpoints_begins(tmp_path: Path) -> None:
    prefix = tmp_path / "net"
    assert train(*DIGITS, "--num-epochs", "1", "--model-prefix", str(prefix), "--resume") == 0
    assert Path(f"{prefix}-0001.params").exists()


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """40 images of two classes, bright above or below."""
    path = tmp_path_factory.mktemp("records") / "x.rec"
    generator = np.random.default_rng(0)
    writer = MXIndexedRecordIO(str(path.with_suffix(".idx")), str(path), "w")
    for i in range(40):
        image = generator.integers(0, 80, (20, 20, 3), dtype=np.uint8)
        image[slice(0, 10) if i % 2 else slice(10, 20)] += 150
        writer.write_idx(i, pack_img(IRHeader(0, i % 2, i, 0), image, quality=95))
    writer.close()
    return path


def record_options(records: Path) -> list[str]:
    options = "--image-shape 3,16,16 --num-classes 2 --batch-size 8 --network lenet --lr 0.01"
    options += " --rgb-mean 128,128,128 --rgb-std 64,64,64 --random-crop 1 --random-mirror 1"
    options += " --data-nthreads 2 --lr-step-epochs 50"
    return [*options.split(), "--data-train", str(records), "--data-val", str(records)]


def test_record_files_are_learnt_and_resumed(tmp_path: Path, records: Path) -> None:
    options = record_options(records)
    for name, epochs in (("whole", "3"), ("parts", "1"), ("parts", "3")):
        prefix = str(tmp_path / name)
        train(*options, "--num-epochs", epochs, "--resume", "--model-prefix", prefix)
    assert same(tmp_path / "whole", tmp_path / "parts", 3)
    assert history(tmp_path / "whole")[-1]["validation"]["accuracy"] == 1


def test_fewer_images_of_a_data_set_make_an_epoch(tmp_path: Path) -> None:
    prefix = tmp_path / "net"
    rates = ("--lr", "0.1", "--warmup-epochs", "1", "--batch-size", "10", "--num-examples", "20")
    train(*DIGITS, *rates, "--num-epochs", "1", "--model-prefix", str(prefix))
    assert history(prefix)[0]["lr"] == pytest.approx(0.1)  # after two steps of warm-up


def test_examples_of_an_epoch_may_be_fewer(tmp_path: Path, records: Path) -> None:
    for name, options in (("all", ()), ("some", ("--num-examples", "16"))):
        prefix = str(tmp_path / name)
        rates = ("--lr-step-epochs", "", "--warmup-epochs", "2", "--num-epochs", "1")
        train(*record_options(records), *rates, *options, "--model-prefix", prefix)
    assert history(tmp_path / "all")[0]["lr"] == pytest.approx(0.01 * 5 / 10)
    assert history(tmp_path / "some")[0]["lr"] == pytest.approx(0.01 * 2 / 4)


def test_loading_alone_is_measured(records: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train(*record_options(records), "--test-io", "1") == 0
    assert "loading: " in capsys.readouterr().out


def test_benchmark_prints_a_speed(capsys: pytest.CaptureFixture[str]) -> None:
    options = "--benchmark 1 --network resnet20 --image-shape 3,16,16 --num-classes 10"
    assert train(*options.split(), "--batch-size", "8", "--num-examples", "32") == 0
    assert "Epoch[0] resnet20: " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("", "expected one of --dataset, --data-train and --benchmark 1, got none"),
        ("--dataset digits --benchmark 1", "got --dataset and --benchmark"),
        ("--dataset digits --max-random-h 3", "--max-random-h: .*got --dataset digits"),
        ("--dataset digits --data-val x.rec", "--data-val: .*got --dataset digits"),
        ("--dataset digits --num-classes 3", "--num-classes: expected data that it acts on"),
        ("--benchmark 1 --random-crop 1", "--random-crop: .*got --benchmark 1"),
        ("--data-train x.rec --workers 2", "--workers: .*got --data-train"),
        ("--dataset digits --gpus 0 --ctx cpu", "one of --gpus and --ctx, got both"),
        ("--dataset digits --resume", "--model-prefix with --resume"),
        ("--dataset digits --resume --load-epoch 1 --model-prefix x", "one of --resume and --load"),
        ("--dataset digits --num-epochs 0", "--num-epochs: expected at least 1, got 0"),
        ("--dataset digits --batch-size 0", "--batch-size: expected at least 1, got 0"),
        ("--dataset digits --batch-size 9999", "up to the 1438 images of an epoch, got 9999"),
        ("--dataset digits --batch-size 1 --ctx cpu:0,cpu:1", "more for each of 2 devices, got 1"),
        ("--dataset digits --ctx cpu:0,cpu:0", "devices once each"),
        ("--dataset digits --lr nan", "--lr: expected a positive number, got nan"),
        ("--dataset digits --lr-step-epochs 3,2", "increasing epochs"),
        ("--dataset digits --lr-step-epochs x", "numbers with commas, got 'x'"),
        ("--dataset digits --rgb-mean 1,2", "a number for each of 1 channels, got 1.0,2.0"),
        ("--dataset digits --rgb-std 0", "--rgb-std: expected positive numbers"),
        ("--dataset digits --loss mse", "expected ce, nll_loss or both, got 'mse'"),
        ("--dataset digits --optimizer adam --mom 0.9", "--mom: expected one of .*sgd.*got adam"),
        ("--benchmark 1 --model-prefix x", "--model-prefix: .*got --benchmark 1"),
        ("--dataset digits --test-io 1 --tensorboard x", "--tensorboard: expected a training"),
        ("--dataset digits --gc-type 2bit", "--gc-type: expected several devices"),
        ("--dataset digits --gc-threshold 1", "--gc-type 2bit with it"),
        ("--dataset digits --warmup-strategy linear", "--warmup-epochs of 1 or more with it"),
        ("--dataset digits --network lenet", "16x16 pixels or more, got 8x8"),
        ("--dataset digits --network resnet7", "--network resnet7: expected one of"),
        ("--dataset digits --optimizer sdg", "sdg"),
        ("--dataset digits --kv-store dist_async", "--kv-store: expected local.* got .dist_async"),
        ("--benchmark 1 --image-shape 3,4", "--image-shape: expected 3 positive numbers"),
        ("--data-train missing.rec", r"missing\.rec"),
    ],
)
def test_what_cannot_act_is_refused(options: str, message: str) -> None:
    with pytest.raises(GluonishError, match=message):
        train(*options.split(), "--disp-batches", "0")


@pytest.mark.skipif(num_gpus() > 0, reason="needs a machine without a GPU")
def test_gpus_that_are_not_there_are_refused() -> None:
    with pytest.raises(ArgumentError, match="the 0 GPUs that there are, got '0,1'; leave"):
        train(*DIGITS, "--gpus", "0,1")


def test_every_option_explains_itself() -> None:
    program = "import argparse\nfrom gluonish.tools.train import add_parser\n"
    program += "parser = argparse.ArgumentParser(prog='gluonish')\n"
    program += "add_parser(parser.add_subparsers())\nparser.parse_args()"
    result = subprocess.run(
        [sys.executable, "-c", program, "train", "--help"], capture_output=True, timeout=60
    )
    assert result.returncode == 0, result.stderr.decode()
    assert b"--max-random-shear-ratio" in result.stdout
