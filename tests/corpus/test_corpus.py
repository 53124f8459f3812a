"""Programs published for MXNet run here, unmodified, and give what they gave on MXNet 1.9.1.

golden/NAME.json holds what became of each case on MXNet, by ``python -m benchmarks.cpu corpus
--record``. The programs and what they need are installed from the package index on the first run,
so these tests are marked slow.
"""

import json

import pytest

from tests.corpus import environments, runner
from tests.corpus.catalogue import PROGRAMS, Program

pytestmark = [pytest.mark.slow, pytest.mark.timeout(5400)]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.cases)
def test_published_program_runs_as_on_mxnet(program: Program) -> None:
    expected = runner.golden(program.cases)
    found = runner.run(
        [str(environments.gluonish_python()), "-m", "gluonish", "run", "--numpy1"],
        program.cases,
        [environments.program_path(program)],
        list(expected),
    )
    assert [name for name, case in expected.items() if case.passed] != ["import"], (
        "MXNet itself runs none of the cases"
    )
    worse = runner.worse(expected, found)
    assert not worse, "\n".join(worse)


def test_every_program_has_golden_results() -> None:
    for program in PROGRAMS:
        names = {
            row["name"] for row in json.loads((runner.GOLDEN / f"{program.cases}.json").read_text())
        }
        assert "import" in names
        assert len(names) > 4, program.cases
