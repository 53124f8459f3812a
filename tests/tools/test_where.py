import argparse
import re
from pathlib import Path

import pytest

import gluonish as mx
from gluonish.core.errors import ArgumentError
from gluonish.ops.registry import all_operators, find_operator
from gluonish.tools import where

ROOT = Path(where.__file__).resolve().parents[2]


def line_at(place: str) -> str:
    name, _, number = place.rpartition(":")
    return (ROOT / name).read_text("utf-8").splitlines()[int(number) - 1]


def entries(text: str) -> dict[str, str]:
    found = (re.fullmatch(r"  (\S.{12})\s(.*)", line) for line in text.splitlines())
    return {match[1].strip(): match[2].strip() for match in found if match}


def test_an_operator_is_found_with_all_that_belongs_to_it() -> None:
    text = where.describe("softmax")
    found = entries(text)
    assert found["aliases"] == "_npx_softmax"
    assert line_at(found["registered"]).startswith("SOFTMAX = ")
    assert line_at(found["kernel"]).startswith("def _kernel")
    assert line_at(found["gradient"]).startswith("def _gradient")
    kernels = re.findall(r"(\w+\.\w*softmax\w*) +(gluonish/kernels/\S+)", text)
    fast = find_operator("softmax").fast_kernels
    assert [name for name, _ in kernels] == [kernel.name for kernel in fast]
    assert "mx.nd.softmax" in text
    assert "mx.sym.softmax" in text
    assert "mx.npx.softmax" in text


def test_an_operator_of_a_table_is_found_at_its_row() -> None:
    assert "ADD = Row(" in line_at(entries(where.describe("broadcast_add"))["registered"])


@pytest.mark.parametrize("name", ["nd.softmax", "mx.nd.softmax", "gluonish.sym.softmax"])
def test_functions_that_were_made_from_an_operator_lead_to_it(name: str) -> None:
    assert where.describe(name) == where.describe("softmax")


def test_a_function_of_its_own_is_found() -> None:
    found = entries(where.describe("mx.np.argmax"))["defined"]
    assert line_at(found).startswith("def argmax(")


@pytest.mark.parametrize("name", ["sofmax", "mx.nd.sofmax", "nd", "__version__"])
def test_what_there_is_not_is_refused_with_the_nearest(name: str) -> None:
    message = re.escape(f"where: expected an operator, a function or a class, got {name!r}")
    with pytest.raises(ArgumentError, match=message) as caught:
        where.describe(name)
    assert ("softmax" in str(caught.value)) == ("sofmax" in name)


def test_every_operator_is_registered_somewhere_and_written_somewhere() -> None:
    for op in all_operators():
        file, number = op.source
        assert Path(file).is_relative_to(ROOT / "gluonish"), op.name
        assert 0 < number <= len(Path(file).read_text("utf-8").splitlines()), op.name
        for thing in (op.infer, op.kernel, *(fast.plan or fast.run for fast in op.fast_kernels)):
            assert (ROOT / where.location(thing).rpartition(":")[0]).is_file(), op.name


def test_faces_call_the_operator() -> None:
    functions = dict(where.public_functions(find_operator("_npi_add")))
    assert set(functions) == {"mx.np.add"}
    assert "def function(" in line_at(functions["mx.np.add"])
    assert mx.np.add(mx.np.ones(2), 1).sum() == 4


def test_the_command_prints_each_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert where.run(argparse.Namespace(names=["softmax", "dot"], json=False)) == 0
    text = capsys.readouterr().out
    assert text.startswith("softmax\n")
    assert "\n\ndot\n" in text


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("Dense", "class Dense("),
        ("Adam", "class Adam("),
        ("SoftmaxCrossEntropyLoss", "class SoftmaxCrossEntropyLoss("),
        ("ToTensor", "class ToTensor("),
        ("nn.BatchNorm", "class BatchNorm("),
    ],
)
def test_a_class_is_found_without_its_namespace(name: str, line: str) -> None:
    if "." in name:
        name = f"gluon.{name}"
    place = entries(where.describe(name))["defined"]
    file, _, number = place.rpartition(":")
    after = (ROOT / file).read_text("utf-8").splitlines()[int(number) - 1 :][:3]
    assert any(text.startswith(line) for text in after)


def test_names_near_an_unknown_class_are_told() -> None:
    with pytest.raises(ArgumentError, match=r"'Denze'.*'Dense'"):
        where.describe("Denze")
