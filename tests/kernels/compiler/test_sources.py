import sys
import zipfile
from pathlib import Path

import pytest

from gluonish.kernels.compiler import sources


@pytest.mark.parametrize("how", ["files", "zip", "compiled"])
def test_digests_follow_the_code(how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    digests, of_one = [], []
    for number, code in enumerate(("x = 1", "x = 1", "x = 2")):
        name, folder = f"made_{how}_{number}", tmp_path / str(number)
        package = folder / name
        package.mkdir(parents=True)
        (package / "__init__.py").write_text("", "utf-8")
        (package / "one.py").write_text(code, "utf-8")
        if how == "zip":
            with zipfile.ZipFile(folder / "all.zip", "w") as archive:
                for path in package.iterdir():
                    archive.write(path, f"{name}/{path.name}")
                    path.unlink()
            package.rmdir()
        if how == "compiled":
            for path in [*package.iterdir()]:
                _compile(path)
        monkeypatch.syspath_prepend(str(folder / "all.zip" if how == "zip" else folder))
        module = __import__(name)
        monkeypatch.delitem(sys.modules, name)
        monkeypatch.setitem(sys.modules, name, module)
        digests.append(sources.digests_of(module))
        of_one.append(sources.digest_of(f"{name}.one"))
    assert digests[0] != digests[2]
    assert len(digests[0]) >= 1
    assert of_one[0] != of_one[2]
    if how == "files":
        assert digests[0] == digests[1]
        assert of_one[0] == of_one[1]


def _compile(path: Path) -> None:
    import py_compile

    py_compile.compile(str(path), str(path.with_suffix(".pyc")), dfile="one.py", doraise=True)
    path.unlink()
