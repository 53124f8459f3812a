import re
import subprocess
import sys
from pathlib import Path

import pytest

from gluonish.ops import registry
from gluonish.ops.registry import all_operators
from tests.ops import indexes


def test_names_and_aliases_are_found() -> None:
    names = registry.all_names()
    assert "broadcast_add" in names
    assert names["broadcast_plus"] is names["broadcast_add"]
    assert "no_such_operator" not in names
    assert len(set(names)) == len(names) > 900


def test_every_name_is_found_by_searching_for_it() -> None:
    """A reader who looks for an operator finds the line that registers it."""
    folder = Path(registry.__file__).parent
    paths = [path for path in folder.rglob("*.py") if path.name != "index.py"]
    words = set(re.findall(r"\w+", "\n".join(path.read_text("utf-8") for path in paths)))
    own = [op for op in all_operators() if Path(op.source[0]).is_relative_to(folder)]
    assert len(own) > 600
    assert [op.name for op in own if op.name not in words] == []


@pytest.mark.parametrize("path", indexes.INDEXES, ids=lambda path: path.parent.name)
def test_the_index_lists_what_its_modules_have(path: Path) -> None:
    said = "write it anew: python -m tests.ops.indexes"
    assert path.read_text("utf-8") == indexes.texts()[path], said


BRAND_NEW = """
from gluonish.ops.registry import Operator, register
register(Operator("brand_new", lambda data: (data,), None, None, doc="New."))
"""


def test_an_operator_that_the_index_does_not_list_is_found(tmp_path: Path) -> None:
    """A new module works before the index is written anew."""
    (tmp_path / "brand_new_module.py").write_text(BRAND_NEW)
    program = f"""
import gluonish.ops
gluonish.ops.__path__.append({str(tmp_path)!r})
from gluonish.ops.registry import all_operators, find_operator
print(find_operator("brand_new").name, any(op.name == "brand_new" for op in all_operators()))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("brand_new True\n", "")


def test_an_operator_loads_when_it_is_first_used() -> None:
    program = """
import sys
import gluonish as mx
assert "gluonish.ops.vision.roi_align" not in sys.modules
assert mx.nd.contrib.ROIAlign.__name__ == "ROIAlign"
assert "gluonish.ops.vision.roi_align" in sys.modules
assert "gluonish.kernels.generated.roi_align" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True)
