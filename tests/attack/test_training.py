"""Trainings that are killed at any moment and go on, and programs that end with work to do."""

import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

import gluonish.ndarray as nd
from gluonish.recordio import IRHeader, pack_img
from gluonish.recordio.index_file import new_record_pair
from tests.gluon.data.programs import ENVIRONMENT, run, start, wait_until_gone

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="it kills, and reads /proc"),
]

EPOCHS = 10
POINTS = 10  # kills in each of 10 tests
END_S = 90
DIGITS = ("--dataset", "digits", "--network", "mlp", "--num-examples", "320")
# Epochs of a few batches: much of the time goes into checkpoints, where a kill hurts most.
SETTINGS = {
    "sgd": [*DIGITS, "--lr-step-epochs", "4,8"],
    "adam": [*DIGITS, "--optimizer", "adam", "--lr", "0.01", "--warmup-epochs", "3"],
    "float16": [*DIGITS, "--dtype", "float16"],
    "workers": [*DIGITS, "--workers", "2"],
    "lenet": [
        *("--network", "lenet", "--image-shape", "3,16,16", "--num-classes", "4"),
        *("--batch-size", "8", "--random-crop", "1", "--random-mirror", "1"),
        *("--loss", "ce", "--top-k", "3", "--data-nthreads", "2"),
    ],
}


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some colour images for --data-train."""
    path = tmp_path_factory.mktemp("records") / "train.rec"
    generator = np.random.default_rng(0)
    with new_record_pair(path, path.with_suffix(".idx")) as pair:
        for number in range(32):
            image = generator.integers(0, 256, (20, 20, 3), dtype=np.uint8)
            pair.write(number, pack_img(IRHeader(0, number % 4, number, 0), image, quality=95))
    return path


def train(
    prefix: Path, setting: str, records: Path, program: Sequence[str] = ("-m", "gluonish")
) -> "subprocess.Popen[bytes]":
    data = [] if "--dataset" in SETTINGS[setting] else ["--data-train", str(records)]
    command = [sys.executable, *program, "train", *data, *SETTINGS[setting]]
    command += ["--num-epochs", str(EPOCHS), "--disp-batches", "0"]
    command += ["--resume", "--model-prefix", str(prefix)]
    return subprocess.Popen(
        command, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )


def children(pid: int) -> list[int]:
    return [int(p) for p in Path(f"/proc/{pid}/task/{pid}/children").read_text("utf-8").split()]


def finish(process: "subprocess.Popen[bytes]") -> str:
    said, _ = process.communicate(timeout=END_S)
    text = said.decode()
    assert process.returncode == 0, text
    assert "Traceback" not in text, text
    return text


def kill_somewhere(process: "subprocess.Popen[bytes]", draws: random.Random, whole_s: float) -> int:
    """Kill a training that may be starting, or has written its first checkpoint of this run.

    Args:
        process: The training.
        draws: Says when.
        whole_s: How long a training from the beginning takes.

    Returns:
        Its exit code.
    """
    assert process.stdout is not None
    after_s = draws.uniform(0, whole_s)
    if draws.random() < 0.75:
        for line in process.stdout:
            if line.startswith(b"Saved checkpoint"):
                break
        after_s = draws.uniform(0, whole_s / 4)
    reader = threading.Thread(target=process.stdout.read)  # or a full pipe would stop it
    reader.start()
    time.sleep(after_s)
    workers = children(process.pid) if process.poll() is None else []
    process.kill()
    code = process.wait(END_S)
    wait_until_gone(workers, END_S)
    reader.join(END_S)
    process.stdout.close()
    return code


def weights_and_states(prefix: Path, first: int = 1) -> dict[str, bytes]:
    """What checkpoints of a prefix hold, by the ending of the file's name."""
    epochs = range(first, EPOCHS + 1)
    endings = [f"-{epoch:04d}.{kind}" for epoch in epochs for kind in ("params", "states")]
    return {ending: Path(f"{prefix}{ending}").read_bytes() for ending in [*endings, "-symbol.json"]}


@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("setting", SETTINGS)
def test_killed_training_comes_to_every_weight_of_one_that_was_not(
    setting: str,
    seed: int,
    tmp_path: Path,
    records: Path,
    record_property: Callable[[str, object], None],
) -> None:
    draws = random.Random(f"{setting} {seed}")
    start_s = time.monotonic()
    finish(train(tmp_path / "whole", setting, records))
    whole_s = time.monotonic() - start_s
    expected = weights_and_states(tmp_path / "whole")
    prefixes = [tmp_path / "killed-0"]
    kills = 0
    while kills < POINTS:
        code = kill_somewhere(train(prefixes[-1], setting, records), draws, whole_s)
        kills += code == -signal.SIGKILL
        if code != -signal.SIGKILL:  # it was at its end before
            assert code == 0
            prefixes.append(tmp_path / f"killed-{len(prefixes)}")
    for prefix in prefixes:
        finish(train(prefix, setting, records))
        found = weights_and_states(prefix)
        assert [name for name in expected if found[name] != expected[name]] == []
    assert not list(tmp_path.glob(".*.tmp"))
    record_property("kills", kills)
    record_property("trainings", len(prefixes))


# Ends itself, as kill -9 does, before it opens, renames or removes the file of a number, counted
# from the one that a name belongs to; says how many there were if it comes to its end.
SELF_KILLER = """
import os, runpy, signal, sys

begin, at, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3]
sys.argv[1:4] = []
count = None

def watch(event, arguments):
    global count
    if event not in ("open", "os.rename", "os.remove") or folder not in str(arguments[0]):
        return
    if event == "open" and not arguments[2] & (os.O_WRONLY | os.O_RDWR):
        return
    if count is None and begin in str(arguments[0]):
        count = 0
    if count is not None:
        count += 1
        if count == at:
            os.kill(os.getpid(), signal.SIGKILL)

sys.addaudithook(watch)
try:
    runpy.run_module("gluonish", run_name="__main__")
finally:
    print("files", count)
"""


@pytest.mark.timeout(900)
@pytest.mark.parametrize("setting", ["adam", "float16"])
def test_training_killed_between_any_two_files_of_a_checkpoint_goes_on_bit_for_bit(
    setting: str, tmp_path: Path, records: Path, record_property: Callable[[str, object], None]
) -> None:
    def killed(prefix: Path, at: int) -> "subprocess.Popen[bytes]":
        # The last two checkpoints, and what follows them.
        begin = f"-{EPOCHS - 1:04d}.params"
        program = ("-c", SELF_KILLER, begin, str(at), str(prefix.parent))
        return train(prefix, setting, records, program)

    whole, kept = tmp_path / "whole", tmp_path / "kept"
    for folder in (whole, kept):
        folder.mkdir()
    count = int(finish(killed(whole / "net", 0)).rpartition("files ")[2])
    expected = weights_and_states(whole / "net", EPOCHS - 1)
    for path in whole.iterdir():  # what is there before: the checkpoint that all go on from
        if f"-{EPOCHS - 2:04d}" in path.name or "symbol" in path.name:
            shutil.copy(path, kept)
    for at in range(1, count + 1):
        folder = tmp_path / f"killed-{at}"
        shutil.copytree(kept, folder)
        process = killed(folder / "net", at)
        said, _ = process.communicate(timeout=END_S)
        assert process.returncode == -signal.SIGKILL, said
        assert "goes on after epoch" in finish(train(folder / "net", setting, records))
        found = weights_and_states(folder / "net", EPOCHS - 1)
        assert [name for name in expected if found[name] != expected[name]] == [], at
        assert not list(folder.glob(".*.tmp"))
        shutil.rmtree(folder)
    record_property("kills", count)


# Some hundred milliseconds of work that nobody has waited for, the last of it in `x`.
PENDING = """
import os, signal, sys, threading, time
import gluonish as mx
from gluonish import nd

a = nd.full((400, 400), 1 / 400)
nd.waitall()
x = nd.ones((400, 400))
for _ in range(200):
    x = nd.dot(a, x)
"""
ENDS: dict[str, tuple[str, int]] = {
    "normal": ("", 0),
    "sys.exit": ("sys.exit(3)", 3),
    "error": ("raise KeyError('told')", 1),
    "in a function's frame": ("def f(y):\n    sys.exit(len(y))\nf(x)", 400 % 256),
    "SIGTERM": ("os.kill(os.getpid(), signal.SIGTERM)", -signal.SIGTERM),
    "_exit": ("os._exit(4)", 4),
    "daemon thread still computes": (
        "def go():\n"
        "    y = x\n"
        "    while True:\n"
        "        y = nd.dot(a, y)\n"
        "        y.wait_to_read()\n"
        "threading.Thread(target=go, daemon=True).start()\ntime.sleep(0.1)",
        0,
    ),
    "a recorded graph": (
        "x.attach_grad()\nwith mx.autograd.record():\n    y = nd.dot(a, x).sum()\ny.backward()",
        0,
    ),
    "a failed operator": (
        "class Bad(mx.operator.CustomOp):\n"
        "    def forward(self, is_train, req, in_data, out_data, aux):\n"
        "        raise KeyError('hidden')\n"
        "@mx.operator.register('bad')\n"
        "class BadProp(mx.operator.CustomOpProp):\n"
        "    def create_operator(self, ctx, shapes, dtypes):\n"
        "        return Bad()\n"
        "y = nd.Custom(x, op_type='bad')",
        0,
    ),
    "a thread pool's loader": (
        "loader = mx.gluon.data.DataLoader(list(range(99)), 2, num_workers=2, thread_pool=True)\n"
        "batch = next(iter(loader))",
        0,
    ),
    "at exit": ("import atexit\natexit.register(lambda: nd.dot(a, x))", 0),
}


@pytest.mark.parametrize("end", ENDS)
def test_program_ends_quietly_while_work_is_pending(end: str) -> None:
    code_text, code = ENDS[end]
    done = run(PENDING + code_text, timeout_s=END_S)
    assert done.returncode == code
    lines = done.stderr.splitlines()
    assert lines == [] if code != 1 else lines[-1] == "KeyError: 'told'"
    assert done.stderr.count("Traceback") == (code == 1)


@pytest.mark.parametrize("end", [name for name in ENDS if name != "a failed operator"])
def test_file_that_was_saved_of_pending_work_is_whole(end: str, tmp_path: Path) -> None:
    code_text, code = ENDS[end]
    path = tmp_path / "made.params"
    saving = f"nd.save({str(path)!r}, {{'x': x, 'y': nd.dot(a, x)}})\n"
    done = run(PENDING + saving + code_text, timeout_s=END_S)
    assert done.returncode == code, done.stderr
    arrays = nd.load(str(path))
    for name in "xy":
        np.testing.assert_allclose(arrays[name].asnumpy(), np.ones((400, 400)), rtol=1e-3)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_file_of_a_program_that_a_signal_ends_is_an_old_one_or_a_new_one(
    number: signal.Signals, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    path = tmp_path / "made.params"
    saving = f"""
k = 0
while True:
    k += 1
    nd.save({str(path)!r}, {{'x': x * 0 + k, 'y': nd.dot(a, nd.full((400, 400), k))}})
    if k == 1:
        print("begun", flush=True)
"""
    draws = random.Random(int(number))
    for _ in range(10):
        process = start(PENDING + saving)
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        time.sleep(draws.uniform(0, 0.2))
        process.send_signal(number)
        _, errors = process.communicate(timeout=END_S)
        assert process.returncode == -number
        assert errors.count("Traceback") == (number == signal.SIGINT), errors
        x, y = (nd.load(str(path))[name].asnumpy() for name in "xy")
        assert x.min() == x.max() >= 1
        np.testing.assert_allclose(y, x, rtol=1e-3)
    record_property("signals", 10)
