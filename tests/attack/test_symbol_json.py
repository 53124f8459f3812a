"""Hostile graph files: whatever they say, they are read or refused, soon and in bounds."""

import json
import random
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import gluonish.symbol as sym
from gluonish.core.errors import GluonishError
from gluonish.gluon.block.symbol_block import SymbolBlock
from gluonish.ops.registry import Operator, _operators

pytestmark = pytest.mark.slow

_LIMIT_S = 5.0
_LARGE_S = 30.0  # for files of megabytes
_MESSAGE = 20_000  # characters; a message may repeat an attribute of the file
_VALUES = (
    *("1000000000", "-1", "4294967296", "9" * 5000, "nan", "1e400", "None", "", "null", "\u0663"),
    *("(1000000000,1000000000)", "(" + "1," * 3000 + ")", "(" * 300, "(-1,-1)", "((1,2),(3,4))"),
    "(9223372036854775808,)",
)
# What an operator that asks for it may have, so that the attribute beside it is looked at.
_PLAUSIBLE = {"kernel": "(2,2)", "shape": "(2,3)", "p": "0.5", "axis": "0"}


class _LateError(Exception):
    pass


@contextmanager
def _limited(limit_s: float) -> Iterator[None]:
    def ring(_number: int, _frame: FrameType | None) -> None:
        raise _LateError

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, limit_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _outcome(attack: Callable[[], None], limit_s: float = _LIMIT_S) -> str:
    """Return ``ran`` or ``refused``, or what else happened."""
    try:
        with _limited(limit_s):
            attack()
    except GluonishError as error:
        return "refused" if len(str(error)) < _MESSAGE else "a message without end"
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:200]
    return "ran"


def _use(symbol: sym.Symbol, *shapes: tuple[int, ...]) -> None:
    """Do with a graph what needs no arrays."""
    names = symbol.list_inputs()
    for shape in shapes:
        with suppress(GluonishError):
            symbol.infer_shape(**dict.fromkeys(names, shape))
    with suppress(GluonishError):
        symbol.infer_type(**dict.fromkeys(names, "float32"))
    symbol.list_outputs()
    symbol.tojson()


def _file(*nodes: dict[str, Any], heads: Any = None) -> str:
    last = len(nodes) - 1
    return json.dumps({"nodes": nodes, "arg_nodes": [], "heads": heads or [[last, 0, 0]]})


def _node(op: str, name: str, *inputs: int, **more: Any) -> dict[str, Any]:
    return {"op": op, "name": name, "inputs": [[i, 0, 0] for i in inputs], **more}


def _with_attribute(op: Operator, attribute: str, value: str) -> None:
    needed = [key for key in op.schema.attributes if key not in op.schema.defaults]
    attrs = {key: _PLAUSIBLE.get(key, "1") for key in needed} | {attribute: value}
    for count in range(6):
        variables = [_node("null", f"v{i}") for i in range(count)]
        try:
            symbol = sym.load_json(
                _file(*variables, _node(op.name, "n", *range(count), attrs=attrs))
            )
        except GluonishError as error:
            if "inputs where" not in str(error) or count == 5:
                raise
        else:
            _use(symbol, (2, 3), (2, 3, 4, 4), (4,))
            return


def test_no_value_of_an_attribute_breaks_the_reader(
    record_property: Callable[[str, object], None],
) -> None:
    outcomes: Counter[str] = Counter()
    for name, op in sorted(_operators.items()):
        for attribute in op.schema.attributes:
            for value in _VALUES:
                found = _outcome(lambda: _with_attribute(op, attribute, value))  # noqa: B023  # called at once
                if found not in ("ran", "refused"):
                    found = f"{name} {attribute}={value[:40]}: {found}"
                outcomes[found] += 1
    tried, held = outcomes.total(), outcomes.pop("ran", 0) + outcomes.pop("refused", 0)
    record_property("attacks", f"{tried} tried, {held} held")
    print(f"attributes: {tried} tried, {held} held")  # noqa: T201
    assert not outcomes


def _nested(depth: int) -> dict[str, Any]:
    graph: dict[str, Any] = {"nodes": [_node("null", "x")], "arg_nodes": [0], "heads": [[0, 0, 0]]}
    for _ in range(depth):
        loop = _node("_foreach", "loop", 0, subgraphs=[graph])
        graph = {"nodes": [_node("null", "x"), loop], "arg_nodes": [0], "heads": [[1, 0, 0]]}
    return graph


_X = _node("null", "x")
_STRUCTURES: dict[str, str] = {
    "a node that reads itself": _file(_X, _node("relu", "y", 1)),
    "two nodes that read each other": _file(_node("relu", "y", 1), _node("relu", "z", 0)),
    "a node below the list": _file(_X, _node("relu", "y", -1)),
    "a node behind the list": _file(_X, _node("relu", "y", 1 << 31)),
    "a node of no integer": _file(_X, {**_node("relu", "y"), "inputs": [[0.5, 0, 0]]}),
    "a node that is true": _file(_X, {**_node("relu", "y"), "inputs": [[True, 0, 0]]}),
    "an output that is not there": _file(_X, _node("relu", "y", 0), heads=[[1, 4_000_000_000, 0]]),
    "a million heads": _file(_X, heads=[[0, 0, 0]] * 1_000_000),
    "a million variables of one name": _file(*[_X] * 100_000),
    "names of strange letters": _file(_node("null", "\ud800\u202e\0"), _node("relu", "\n", 0)),
    "lists in lists": "[" * 1_000_000,
    "objects in objects": '{"nodes":' * 1_000_000,
    "subgraphs in subgraphs": json.dumps(_nested(60)),
    "subgraphs beyond the limit": json.dumps(_nested(31)),
    "subgraphs of an operator without": _file(_X, _node("relu", "y", 0, subgraphs=[_nested(0)])),
    "an attribute that is a number": _file(_X, _node("relu", "y", 0, attrs={"a": 1})),
    "an attribute that is not a number": '{"nodes": NaN, "arg_nodes": [], "heads": []}',
    "a version of many digits": '{"nodes":[],"arg_nodes":[],"heads":[],"attrs":'
    '{"mxnet_version":["int",' + "9" * 4000 + "]}}",
    "an old Concat of a billion": json.dumps(
        {
            "nodes": [_X, _node("Concat", "c", 0, attr={"num_args": "1000000000"})],
            "arg_nodes": [0],
            "heads": [[1, 0]],
        }
    ),
    "no nodes": '{"nodes":[],"arg_nodes":[],"heads":[[0,0,0]]}',
    "no heads": _file(_X).replace("[[0, 0, 0]]", "[]"),
    "nothing": "",
}


@pytest.mark.parametrize("attack", _STRUCTURES)
def test_no_structure_breaks_the_reader(attack: str) -> None:
    found = _outcome(lambda: _use(sym.load_json(_STRUCTURES[attack]), (2, 3)), _LARGE_S)
    assert found in ("ran", "refused")


def _sample() -> str:
    x = sym.var("data", shape=(2, 3, 8, 8))
    y = sym.Convolution(x, kernel=(3, 3), num_filter=4, name="conv")
    y = sym.Activation(sym.BatchNorm(y, name="norm"), act_type="relu")
    y = sym.Concat(*sym.SliceChannel(y, num_outputs=2), dim=1)
    text: str = sym.Group([sym.softmax(sym.FullyConnected(y, num_hidden=3)), y]).tojson()
    return text


def _damaged(text: str, rng: random.Random) -> str:
    content = list(text)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(content))
        match rng.randrange(4):
            case 0:
                del content[at:]
            case 1:
                del content[at : at + rng.randint(1, 40)]
            case 2:
                content[at] = rng.choice('[]{}",:-0123456789eN\\u')
            case 3:
                other = rng.randrange(len(text))
                content[at:at] = text[other : other + rng.randint(1, 200)]
        if not content:
            break
    return "".join(content)


def test_no_damage_breaks_an_exported_model(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    text, rng = _sample(), random.Random(0)
    path = tmp_path / "net-symbol.json"
    outcomes: Counter[str] = Counter()

    def attack() -> None:
        path.write_text(_damaged(text, rng), "utf-8")
        _use(sym.load(str(path)), (2, 3, 8, 8))
        SymbolBlock.imports(str(path), ["data"]).collect_params()

    for _ in range(3000):
        outcomes[_outcome(attack)] += 1
    tried, held = outcomes.total(), outcomes.pop("ran", 0) + outcomes.pop("refused", 0)
    record_property("attacks", f"{tried} tried, {held} held")
    print(f"damage: {tried} tried, {held} held")  # noqa: T201
    assert not outcomes
