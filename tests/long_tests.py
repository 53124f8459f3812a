"""Write long_tests.txt: the test functions that `pytest -m fast` leaves out, as they take long.

    pytest -m fast --junitxml=times.xml && python -m tests.long_tests times.xml

The list grows by what took longer than LIMIT_S; start from an empty file to have it measured anew.
"""

import sys
from pathlib import Path
from xml.etree import ElementTree

LIMIT_S = 0.4
PATH = Path(__file__).with_name("long_tests.txt")


def long_tests() -> set[str]:
    """Return the listed functions, as ``tests.folder.module::function``."""
    return set(PATH.read_text(encoding="utf-8").split())


def _slow(report: str) -> set[str]:
    """Return the functions of a report that took long."""
    return {
        f"{case.get('classname')}::{str(case.get('name')).partition('[')[0]}"
        for case in ElementTree.parse(report).iter("testcase")
        if float(case.get("time", 0)) > LIMIT_S
    }


if __name__ == "__main__":
    PATH.write_text("\n".join(sorted(long_tests() | _slow(sys.argv[1]))) + "\n", encoding="utf-8")
