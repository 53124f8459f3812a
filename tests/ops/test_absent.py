"""Every operator of MXNet 1.9.1 is here, or in the table of those that are not."""

import json
from pathlib import Path

import pytest

import gluonish as mx
from gluonish.core.errors import GluonishError, NotSupportedError
from gluonish.ops.absent import ABSENT
from gluonish.ops.registry import all_names, find_operator

# Names of all operators of 1.9.1 that are not gradients of others.
NAMES = json.loads(
    (Path(__file__).parents[1] / "golden" / "operator_names.json").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("name", NAMES)
def test_operator_is_registered_or_absent_with_a_reason(name: str) -> None:
    assert (name in all_names()) != (name in ABSENT)


@pytest.mark.parametrize("name", sorted(ABSENT))
def test_absent_operator_says_what_to_use(name: str) -> None:
    with pytest.raises(NotSupportedError, match=name):
        find_operator(name)
    with pytest.raises(NotImplementedError, match=name):
        getattr(mx.nd, name)(mx.nd.ones((1,)))


def test_file_with_an_absent_operator_is_refused_by_name() -> None:
    text = mx.sym.relu(mx.sym.var("x")).tojson().replace('"relu"', '"_contrib_dgl_adjacency"')
    with pytest.raises(GluonishError, match="_contrib_dgl_adjacency"):
        mx.sym.load_json(text)
