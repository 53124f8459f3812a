import pytest

from gluonish.tools.env_checks import CheckFailedError, process
from gluonish.tools.env_checks.process import run_program


def test_program_sees_its_variables_before_it_imports() -> None:
    source = "import gluonish_engine\nfrom gluonish.core.config import get_variable, is_set\n"
    source += "print(get_variable('GLUONISH_SOME'), is_set('GLUONISH_OTHER'), __name__)"
    assert run_program(source, GLUONISH_SOME="a b") == "a b False __main__\n"


def test_both_streams_are_returned() -> None:
    source = "import sys\nsys.stderr.write('one\\n')\nsys.stderr.flush()\nprint('two')"
    assert run_program(source) == "one\ntwo\n"


def test_a_program_that_fails_is_told_with_its_last_line() -> None:
    with pytest.raises(CheckFailedError, match=r"expected status 0, got 1: KeyError: 'lr'$"):
        run_program("raise KeyError('lr')")
    with pytest.raises(CheckFailedError, match=r"expected status 0, got 3: nothing$"):
        run_program("raise SystemExit(3)")


def test_a_program_that_hangs_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "_TIMEOUT_S", 0.3)
    with pytest.raises(CheckFailedError, match=r"expected an end within 0\.3 s"):
        run_program("import time\ntime.sleep(60)")
