"""The table of environment variables: each has a check, and does what its line says."""

import pytest

from gluonish.core.config import Flag, all_flags
from gluonish.tools.env import flag_table
from gluonish.tools.env_checks import CHECKS, NotHereError

ALL = all_flags()


@pytest.mark.parametrize("flag", ALL, ids=lambda flag: flag.name)
def test_variable_acts(flag: Flag[object]) -> None:
    assert flag.name in CHECKS, f"{flag.name}: no check observes it"
    try:
        seen = CHECKS[flag.name]()
    except NotHereError as error:
        pytest.skip(f"{flag.name}: {error}")
    assert len(seen) >= 10


def test_checks_are_of_variables_in_the_table() -> None:
    assert set(CHECKS) <= {flag.name for flag in ALL}


@pytest.mark.parametrize("flag", ALL, ids=lambda flag: flag.name)
def test_the_table_says_which_variables_have_no_effect(flag: Flag[object]) -> None:
    (line,) = [line for line in flag_table(ALL).splitlines() if line.split()[0] == flag.name]
    assert ("Accepted without effect: " in line) is not flag.acts
