from pathlib import Path

import pytest

from gluonish.core.errors import ArgumentError, MissingFileError, NotSupportedError
from gluonish.mxnet_names.library import load


def test_a_compiled_library_is_refused_with_what_does_the_same(tmp_path: Path) -> None:
    path = tmp_path / "lib_ops.so"
    path.write_bytes(b"\x7fELF")
    with pytest.raises(NotSupportedError, match=r"got the compiled '.*lib_ops\.so'.*CustomOp"):
        load(str(path))


def test_another_file_or_none_is_named(tmp_path: Path) -> None:
    with pytest.raises(MissingFileError, match=r"got no file '/none/lib\.so'"):
        load("/none/lib.so", verbose=False)
    (tmp_path / "ops.txt").write_text("")
    with pytest.raises(ArgumentError, match=r"expected a library, got the file '.*ops\.txt'"):
        load(str(tmp_path / "ops.txt"))
