"""Stands for compute-sanitizer in a rehearsal: runs the command, and prints the tool's last line.

python -m benchmarks.gpu_run.stand_in_sanitizer --tool memcheck --error-exitcode 9 COMMAND
"""

import subprocess
import sys

_OPTIONS = 4  # words before the command
_LINES = {
    "memcheck": "========= ERROR SUMMARY: 0 errors",
    "racecheck": "========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)",
}


def main(words: list[str]) -> int:
    """Run the command after the options."""
    status = subprocess.run(words[_OPTIONS:], check=False).returncode
    print(_LINES[words[1]], flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
