"""``python -m benchmarks.gpu_run.modes``: the tests of devices on the double of CuPy, in each mode.

The double's race detector watches all of them. Everything takes hours; ``--seed 7`` takes the mode
and the part of the tests that the number chooses, about two minutes on two cores, which is what CI
does with another number every day. The largest networks are left to the whole.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

_ROOT = Path(__file__).parents[2]
_ZOO = "tests/gpu/test_zoo.py"
_SHARE, _SHARE_OF_ZOO = 0.35, 0.025  # of a day
# Networks whose tests take one to four minutes each.
_LARGE = "densenet or inception or resnet101 or resnet110 or resnet152"
MODES: tuple[dict[str, str], ...] = (
    {},
    {"MXNET_ENABLE_CUDA_GRAPHS": "0"},
    {"MXNET_GPU_WORKER_NSTREAMS": "2"},
    {"MXNET_ENGINE_TYPE": "NaiveEngine"},
    {"GLUONISH_CUDA_VECTORS": "0"},
    {"MXNET_ENGINE_TYPE": "ThreadedEngine", "MXNET_GPU_WORKER_NSTREAMS": "2"},
)


def _pytest(mode: dict[str, str], *arguments: str) -> int:
    """Run tests in a mode, and return the exit status."""
    command = [sys.executable, "-m", "pytest", "-q", "-m", "gpu"]
    command += ["-p", "benchmarks.gpu_run.pytest_on_double", *arguments]
    print(*(f"{name}={value}" for name, value in mode.items()), *command[1:], flush=True)
    return subprocess.run(command, cwd=_ROOT, env={**os.environ, **mode}, check=False).returncode


def main() -> int:
    """Run what the command line says, and return 1 if anything failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, help="a mode and a part of the tests")
    seed = parser.parse_args().seed
    if seed is None:
        return max(_pytest(mode, "tests/gpu") for mode in MODES)
    mode, chosen = MODES[seed % len(MODES)], ("--gpu-seed", str(seed), "--gpu-share")
    rest = _pytest(mode, *chosen, str(_SHARE), "tests/gpu", f"--ignore={_ZOO}")
    return max(rest, _pytest(mode, *chosen, str(_SHARE_OF_ZOO), "-k", f"not ({_LARGE})", _ZOO))


if __name__ == "__main__":
    raise SystemExit(main())
