"""Damaged files: each reader gives a value or refuses, in bounds, and says which file and where."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gluonish.ops.registry import all_operators
from tests.fuzz.damage import damaged_bytes, damaged_json
from tests.fuzz.readers import READERS, checked_call
from tests.fuzz.samples import files_of

list(all_operators())  # an unknown name loads all of them, which is not the file's memory

# The file is written anew for each example.
one_file = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.parametrize("name", READERS)
def test_a_whole_file_is_read(name: str, tmp_path: Path) -> None:
    reader = READERS[name]
    reader.prepare(tmp_path)
    for content in files_of(reader.kind):
        (tmp_path / reader.name).write_bytes(content)
        refusal = checked_call(reader, tmp_path / reader.name)
        # Valid, but of other networks, and no images with their labels.
        if name not in ("trainer states", "checkpoint's parameters", "MNISTIter", "image record"):
            assert refusal is None, refusal


@pytest.mark.parametrize("name", READERS)
@one_file
@given(data=st.data())
def test_a_damaged_file_is_read_or_refused(name: str, tmp_path: Path, data: st.DataObject) -> None:
    reader = READERS[name]
    path = tmp_path / reader.name
    if not path.parent.joinpath("ready").exists():
        reader.prepare(tmp_path)
        path.parent.joinpath("ready").touch()
    path.write_bytes(data.draw(damaged_bytes(files_of(reader.kind))))
    checked_call(reader, path)


@pytest.mark.parametrize(
    "name", ["symbol", "model structure", "checkpoint's symbol", "index of shards"]
)
@one_file
@given(data=st.data())
def test_json_of_other_values_is_read_or_refused(
    name: str, tmp_path: Path, data: st.DataObject
) -> None:
    reader = READERS[name]
    path = tmp_path / reader.name
    if not path.parent.joinpath("ready").exists():
        reader.prepare(tmp_path)
        path.parent.joinpath("ready").touch()
    path.write_bytes(data.draw(damaged_json(files_of(reader.kind))))
    checked_call(reader, path)
