"""The score command on a tiny network in place of the model zoo's: what it measures and prints."""

import weakref
from typing import Any

import pytest

from gluonish.core.context import cpu
from gluonish.core.errors import ArgumentError
from gluonish.gluon import nn
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.tools import score
from gluonish.tools.cli import make_parser


def tiny_network(name: str, classes: int) -> HybridBlock:
    if name == "vgg19":
        raise ArgumentError("Conv2D: expected memory, got none")
    net = nn.HybridSequential()
    net.add(nn.Conv2D(2, 32, strides=32), nn.Flatten(), nn.Dense(classes))
    return net


@pytest.fixture(autouse=True)
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(score, "get_model", tiny_network)


def run(*options: str) -> int:
    arguments = make_parser().parse_args(["score", "--seconds", "0.001", *options])
    status: int = arguments.run(arguments)
    return status


def rows_of(text: str) -> list[list[str]]:
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if "batch size" in line)
    return [line.split() for line in lines[start:]]


@pytest.mark.parametrize(
    ("dtype", "mode"),
    [
        ("float32", "inference"),
        ("float32", "training"),
        ("bfloat16", "inference"),
        pytest.param("bfloat16", "training", marks=pytest.mark.slow),  # by NumPy, without AVX-512
    ],
)
def test_every_cell_has_a_rate(mode: str, dtype: str, capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--mode", mode, "--dtype", dtype, "--networks", "alexnet,resnet-50")
    assert run(*options, "--batch-sizes", "1,3") == 0
    said = capsys.readouterr().out
    assert f"images/s, {mode}, {dtype}, cpu(0)" in said
    header, *rows = rows_of(said)
    assert header == ["batch", "size", "alexnet", "resnet-50"]
    assert [row[0] for row in rows] == ["1", "3"]
    assert all(float(rate) > 0 for row in rows for rate in row[1:])


def test_networks_and_batch_sizes_of_the_documentation_are_the_default() -> None:
    arguments: Any = make_parser().parse_args(["score"])
    assert arguments.networks == "alexnet,vgg16,inception-bn,inception-v3,resnet-50,resnet-152"
    assert arguments.batch_sizes == "1,2,4,8,16,32"


def test_error_in_one_cell_leaves_the_others(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--networks", "vgg19,alexnet", "--batch-sizes", "2") == 1
    said = capsys.readouterr().out
    row = rows_of(said)[1]
    assert row[:2] == ["2", "error"]
    assert float(row[2]) > 0
    assert "vgg19, batch 2: ArgumentError: Conv2D: expected memory, got none" in said


def test_memory_is_a_second_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--networks", "alexnet", "--batch-sizes", "1", "--memory") == 0
    said = capsys.readouterr().out
    table = said[said.index("peak resident memory") :]
    assert rows_of(table)[1][0] == "1"


def test_a_cell_holds_nothing_of_the_one_before(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[weakref.ref[HybridBlock]] = []

    def watched(name: str, classes: int) -> HybridBlock:
        assert not [net for net in made if net() is not None]
        net = tiny_network(name, classes)
        made.append(weakref.ref(net))
        return net

    monkeypatch.setattr(score, "get_model", watched)
    options = ("--mode", "training", "--networks", "alexnet,resnet-50", "--batch-sizes", "1,2")
    assert run(*options) == 0
    assert len(made) == 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ("--networks", "alexnet,nonsense"),
            "--networks: expected names of `gluonish zoo list`, got 'nonsense'",
        ),
        (("--batch-sizes", "1,0"), "--batch-sizes: expected positive integers, got '1,0'"),
        (("--batch-sizes", "x"), "--batch-sizes: expected positive integers, got 'x'"),
        (("--ctx", "cpu:0,cpu:1"), "--ctx: expected one device"),
        (("--seconds", "nan"), "--seconds: expected a positive number, got nan"),
        (("--seconds", "0"), "--seconds: expected a positive number, got 0"),
    ],
)
def test_bad_option_is_refused(options: tuple[str, ...], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        run(*options)


def test_inception_v3_takes_larger_images(monkeypatch: pytest.MonkeyPatch) -> None:
    shapes: list[tuple[int, ...]] = []

    class Spy(nn.HybridSequential):
        def forward(self, x: Any, *args: Any) -> Any:
            shapes.append(x.shape)
            return super().forward(x, *args)

    def spied(name: str, classes: int) -> HybridBlock:
        net = Spy()
        net.add(tiny_network(name, classes))
        return net

    monkeypatch.setattr(score, "get_model", spied)
    assert not score.measure("inception-v3", 1, "inference", "float32", cpu(), 0.001).error
    assert not score.measure("alexnet", 1, "inference", "float32", cpu(), 0.001).error
    assert set(shapes) == {(1, 3, 299, 299), (1, 3, 224, 224)}
