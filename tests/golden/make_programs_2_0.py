"""Write tests/programs_2_0/golden.json.gz: what each program there gives under MXNet 2.0.0b1.

Run with an interpreter of Python 3.8 that has mxnet 2.0.0b1 and numpy 1.21.6. Programs that fail
there, or whose answer depends on the seed, are refused. Arguments name files of programs, whose
answers alone are written anew.
"""

import gzip
import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def answers(area, seed):
    """Run a file of programs in a process of its own, and return the answers by name."""
    command = [sys.executable, "-W", "ignore", "-m", "tests.programs_2_0.runner", area]
    environment = {**os.environ, "PROGRAMS_SEED": str(seed), "OMP_NUM_THREADS": "1"}
    # MXNet may fail when the process ends, after all answers.
    done = subprocess.run(
        command, cwd=str(ROOT), env=environment, stdout=subprocess.PIPE, check=False
    )
    rows = list(map(json.loads, done.stdout.splitlines()))
    if not rows or "name" not in rows[-1]:
        raise SystemExit(f"{area}: the process ended in {rows[-1:]}")
    return {row["name"]: row["answer"] for row in rows if "name" in row}


def main():
    """Run all files of programs with two seeds, and write the answers."""
    sys.path.insert(0, str(ROOT))
    runner = importlib.import_module("tests.programs_2_0.runner")
    path = ROOT / "tests" / "programs_2_0" / "golden.json.gz"
    chosen = sys.argv[1:]
    golden = json.loads(gzip.decompress(path.read_bytes())) if chosen else {}
    for area in chosen or runner.areas():
        golden[area], others = answers(area, 7), answers(area, 8)
        if sorted(golden[area]) != sorted(runner.names_of(area)):
            raise SystemExit(f"{area}: programs are missing")
        for name, answer in golden[area].items():
            if "failed" in (answer if isinstance(answer, dict) else {}):
                raise SystemExit("{}.{}: {}".format(area, name, answer["message"]))
            changed = runner.differences(answer, others[name])
            if changed:
                raise SystemExit(f"{area}.{name}: other with another seed: {changed}")
    path.write_bytes(gzip.compress(json.dumps(golden, sort_keys=True).encode(), mtime=0))


if __name__ == "__main__":
    main()
