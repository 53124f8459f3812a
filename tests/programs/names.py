"""Which modules of this folder are programs."""

from pathlib import Path

HERE = Path(__file__).resolve().parent
NOT_PROGRAMS = {"flat", "inputs", "names", "test_bad_input", "test_programs"}


def program_names() -> list[str]:
    """Return the names of the modules here that have a ``run``."""
    return sorted(file.stem for file in HERE.glob("*.py") if file.stem not in NOT_PROGRAMS)
