import ast
import importlib
import json
import pkgutil
from pathlib import Path
from typing import Any

import pytest

import gluonish.ops
from gluonish.core.schema import REQUIRED
from gluonish.ops.registry import Operator, all_operators, find_operator
from gluonish.testing import check_operator
from tests.ops.cases import CASES

HERE = Path(__file__).resolve().parent
RECORDED: dict[str, dict[str, Any]] = json.loads(
    (HERE.parent / "golden" / "operators.json").read_text(encoding="utf-8")
)

for _module in pkgutil.iter_modules(gluonish.ops.__path__):
    importlib.import_module(f"gluonish.ops.{_module.name}")

OPERATORS = {op.name: op for op in all_operators() if op.infer.__module__.startswith("gluonish.")}

# Without a leading underscore and not MXNet 1.9's: functions that its later versions have.
OWN = {"log_sigmoid", "mish"}
# Not differentiable on purpose: they draw, create, update, repeat something for a gradient, or are
# a derivative of the last order.
NO_GRADIENT = (
    "_adamw_update",
    "_arange",
    "_batch_norm_apply",
    "_batch_norm_data_gradient",
    "_batch_norm_statistics",
    "_batch_norm_sums",
    "_eye",
    "_full",
    "_fused_pointwise",
    "_linspace",
    "_mp_",
    "_multi_",
    "_ones",
    "_random",
    "_shuffle",
    "_softmax_output_backward",
    "_trigamma",
    "_zeros",
    "adam_update",
    "lamb_",
    "mp_",
    "multi_",
    "nag_mom_update",
    "preloaded_",
    "rmsprop",
    "sgd_",
)
# Where the record does not say what the operator takes: a number of inputs that is an attribute in
# files, and _linspace, whose recorded attributes are those of _arange.
UNRECORDED = {"num_args"}
WRONG_RECORD = {"_linspace"}

names = pytest.mark.parametrize("name", sorted(OPERATORS))
recorded_names = pytest.mark.parametrize("name", sorted(RECORDED))


@pytest.mark.parametrize("name", sorted(CASES))
def test_operator_is_what_its_definition_says(name: str) -> None:
    case = CASES[name]
    check_operator(name, case.inputs, case.attrs, case.expected, **case.options)


@names
def test_operator_is_checked(name: str) -> None:
    """Operators of gradients only are checked at second order, with the one that uses them."""
    if name not in RECORDED and name.startswith("_"):
        pytest.skip("an operator that gradients are made of")
    beside = (path.read_text(encoding="utf-8") for path in HERE.glob("test_*.py"))
    covered = name in CASES or any(f'"{name}"' in text for text in beside)
    assert covered, f"{name} has no row in tests/ops/cases.py and no test of its own"


@names
def test_operator_has_a_doc(name: str) -> None:
    assert OPERATORS[name].doc.split("\n\n")[0].endswith((".", ":"))


@names
def test_operator_without_gradient_is_listed(name: str) -> None:
    if OPERATORS[name].gradient is None:
        assert name.startswith(NO_GRADIENT)


@names
def test_name_is_mxnets_or_marked_as_ours(name: str) -> None:
    assert name in RECORDED or name in OWN or name.startswith("_")


def _registered(name: str) -> Operator:
    return find_operator(name)


@recorded_names
def test_inputs_are_the_recorded_ones(name: str) -> None:
    op = _registered(name)
    if op.variadic is None:
        assert list(op.inputs) == [entry[0] for entry in RECORDED[name]["inputs"]]
    else:
        assert RECORDED[name]["inputs"][0][1] == "list"


@recorded_names
def test_attributes_are_the_recorded_ones_in_order(name: str) -> None:
    if name in WRONG_RECORD:
        pytest.skip("the record holds another operator's attributes")
    attributes = [a for a in _registered(name).schema.attributes if a not in UNRECORDED]
    assert attributes == [a for a in RECORDED[name]["params"] if a not in UNRECORDED]


@recorded_names
def test_defaults_are_the_recorded_ones(name: str) -> None:
    if name in WRONG_RECORD:
        pytest.skip("the record holds another operator's attributes")
    schema = _registered(name).schema
    for word, entry in RECORDED[name]["params"].items():
        attribute = schema.attributes[word]
        if entry.get("required"):
            assert attribute.default is REQUIRED, word
        elif "default" in entry:
            assert attribute.default == attribute.parse(ast.literal_eval(entry["default"])), word


@recorded_names
def test_aliases_are_the_recorded_ones(name: str) -> None:
    """Those of the NumPy front end may be missing: it has operators of its own."""
    ours, recorded = set(_registered(name).aliases), set(RECORDED[name]["aliases"])
    assert ours <= recorded
    assert {alias for alias in recorded - ours if not alias.startswith("_np")} == set()


@recorded_names
def test_output_counts_are_the_recorded_ones(name: str) -> None:
    op, entry = _registered(name), RECORDED[name]
    if callable(op.outputs) or callable(op.visible):
        pytest.skip("the number of outputs depends on attributes")
    assert op.visible == (entry["outputs"] or op.visible)
    # MXNet's Pooling counts a workspace of its CPU library, which nobody can read; it shows in
    # files only, and gluonish.symbol.files writes it there.
    workspaces = 1 if name == "Pooling" else 0
    assert op.outputs + workspaces == entry.get("outputs_with_hidden", op.visible)
