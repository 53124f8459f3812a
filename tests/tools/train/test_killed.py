"""A training that is killed again and again comes to the result of one that never was."""

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

PROGRAM = """
import argparse, sys
from gluonish.tools.train import add_parser
parser = argparse.ArgumentParser()
add_parser(parser.add_subparsers())
arguments = parser.parse_args(sys.argv[1:])
sys.exit(arguments.run(arguments))
"""
EPOCHS = 12
TIMEOUT_S = 120
KILLS = 3


def start(prefix: Path, network: str) -> "subprocess.Popen[bytes]":
    options = ["--dataset", "digits", "--network", network, "--num-epochs", str(EPOCHS)]
    options += ["--lr-step-epochs", "4,8", "--disp-batches", "0"]
    options += ["--resume", "--model-prefix", str(prefix)]
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, "train", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def finish(process: "subprocess.Popen[bytes]") -> str:
    said, _ = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 0, said.decode()
    return said.decode()


def kill_in_the_middle(process: "subprocess.Popen[bytes]", generator: random.Random) -> None:
    """Kill a training some time after its first or second checkpoint of this run."""
    assert process.stdout is not None
    left = generator.randint(1, 2)
    for line in process.stdout:
        left -= line.startswith(b"Saved checkpoint")
        if not left:
            break
    time.sleep(generator.uniform(0, 0.06))
    process.kill()
    process.stdout.read()
    process.stdout.close()
    process.wait(TIMEOUT_S)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_killed_training_comes_to_the_same_result(tmp_path: Path) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    generator = random.Random(1)
    finish(start(whole, "mlp"))
    for _ in range(KILLS):
        process = start(killed, "mlp")
        kill_in_the_middle(process, generator)
        assert process.returncode == -signal.SIGKILL
    assert "goes on after epoch" in finish(start(killed, "mlp"))
    for ending in (f"-{EPOCHS:04d}.params", f"-{EPOCHS:04d}.states", "-symbol.json"):
        first, second = (Path(f"{prefix}{ending}").read_bytes() for prefix in (whole, killed))
        assert first == second, ending
    assert not list(tmp_path.glob(".*.tmp"))
