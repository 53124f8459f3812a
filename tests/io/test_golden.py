"""Every program of `io_calls` gives what it gave in MXNet 1.9.1."""

import gzip
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import gluonish.contrib.io as contrib_io
from gluonish import gluon, io, nd
from tests.golden import io_calls

EXPECTED: dict[str, Any] = json.loads(
    gzip.decompress((Path(io_calls.__file__).parent / "io.json.gz").read_bytes())
)
MX = SimpleNamespace(io=io, nd=nd, gluon=gluon, contrib=SimpleNamespace(io=contrib_io))


def test_every_program_has_an_expectation() -> None:
    assert set(EXPECTED) == set(io_calls.PROGRAMS)


@pytest.mark.parametrize("name", list(io_calls.PROGRAMS))
def test_program_gives_what_it_gave_in_mxnet(name: str, tmp_path: Path) -> None:
    io_calls.write_files(tmp_path)
    found = io_calls.PROGRAMS[name](MX, tmp_path)
    # As text, because numbers that are none differ from themselves.
    assert json.dumps(found) == json.dumps(EXPECTED[name])
