"""Advice about names of PyTorch and Keras: it names what exists, and changes nothing else."""

import pickle
import re
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import pytest

import gluonish as mx
from gluonish.core import habit_tables
from gluonish.core.habits import keyword_advice, name_advice
from gluonish.gluon import nn

TABLES = {
    name: table
    for name, table in vars(habit_tables).items()
    if isinstance(table, dict) and not name.startswith("_")
}
_DOTTED = re.compile(
    r"(?<!\.)\b(?:mx\.)?((?:gluon|nd|np|npx|init|autograd|lr_scheduler|metric(?=\.[A-Z])|optimizer|"
    r"context|random)(?:\.[A-Za-z_]\w*)+)"
)


def texts() -> list[str]:
    found: list[str] = []
    for name, table in TABLES.items():
        if name != "KEYWORDS":
            found += table.values()
    return found


def resolve(path: str) -> Any:
    owner: Any = mx
    for name in path.split("."):
        owner = getattr(owner, name)
    return owner


@pytest.mark.parametrize(
    "path", sorted({path for text in texts() for path in _DOTTED.findall(text)})
)
def test_what_advice_names_exists(path: str) -> None:
    resolve(path)


@pytest.mark.parametrize(
    ("kind", "table", "pattern"),
    [
        (nn.Dense, habit_tables.BLOCK, r"\bnet\.(\w+)"),
        (mx.nd.NDArray, habit_tables.ARRAY, r"\bx\.(\w+)"),
        (mx.gluon.Trainer, habit_tables.TRAINER, r"\btrainer\.(\w+)"),
        (mx.gluon.Parameter, habit_tables.PARAMETER, r"\bparameter\.(\w+)"),
        (mx.metric.Accuracy, habit_tables.METRIC, r"\bmetric\.(\w+)"),
    ],
)
def test_methods_that_advice_names_exist(
    kind: type, table: Mapping[str, str], pattern: str
) -> None:
    named = {name for text in table.values() for name in re.findall(pattern, text)}
    # Attributes of instances, a method of containers, and one of the example's loops.
    known = {*dir(kind), "_children", "add", "lr_mult"}
    assert named - known == set()
    assert named & set(table) - {"type"} == set()


def test_a_habit_wins_over_spelling() -> None:
    assert keyword_advice("dim", ["axis", "keepdims"]) == "; its name here is axis"
    assert keyword_advice("axis", ["num_args", "dim"]) == "; its name here is dim"
    assert "nearest: 'keepdims'" in keyword_advice("kepdims", ["axis", "keepdims"])
    assert keyword_advice(5, ["axis"]) == ""


def test_a_name_of_the_module_wins_over_a_habit_of_spelling() -> None:
    assert "nn.Dense" in name_advice("Linear", ["Linearly"])
    assert "'Dense'" in name_advice("Dens", ["Dense", "_Dens"])


def test_attributes_stay_missing() -> None:
    for owner, name in ((mx.nd.ones(1), "numpy"), (nn.Dense(1), "parameters"), (nn, "Linear")):
        assert not hasattr(owner, name)
        assert getattr(owner, name, None) is None
        assert name not in dir(owner)


def test_a_program_may_use_the_names() -> None:
    class Net(nn.HybridBlock):
        def __init__(self) -> None:
            super().__init__()
            self.train = nn.Dense(2)
            self.layers = 3

        def eval(self) -> str:
            return "mine"

    net = Net()
    assert (net.eval(), net.layers, net.train._units) == ("mine", 3, 2)
    assert {"eval", "layers", "train"} <= set(dir(net))
    del net.layers
    with pytest.raises(AttributeError):
        _ = net.layers


def test_pickles_have_no_habits() -> None:
    assert "parameters" not in vars(pickle.loads(pickle.dumps(nn.Dense(2))))


def test_an_import_of_a_name_says_what_to_import() -> None:
    with pytest.raises(ImportError, match=r"cannot import name 'Linear'.*; use gluon\.nn\.Dense"):
        exec("from gluonish.gluon.nn import Linear")
    with pytest.raises(ImportError, match=r"cannot import name 'Sgd'.*'sgd'"):
        exec("from gluonish.optimizer import Sgd")


def test_python_appends_no_guess_of_its_own() -> None:
    program = "import gluonish as mx; mx.nd.ones(1).numpy"
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert ran.stderr.strip().endswith("; use x.asnumpy()")
