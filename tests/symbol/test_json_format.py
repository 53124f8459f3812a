"""Graph files: MXNet's own come back byte for byte, and malformed ones are refused."""

import contextlib
import json
from pathlib import Path

import hypothesis
import hypothesis.strategies as st
import pytest

from gluonish.core.errors import FileFormatError
from gluonish.symbol.json_format import GraphData, NodeData, dump, parse
from tests.symbol.depth_first import depth_first

GOLDEN = Path(__file__).parents[1] / "golden"
SYMBOLS = sorted(
    path.name for path in GOLDEN.glob("*-symbol.json") if path.name != "legacy_080-symbol.json"
)
VARIABLE = {"op": "null", "name": "x", "inputs": []}
RELU = {"op": "relu", "name": "y", "inputs": [[0, 0, 0]]}


def counts_of(text: str):
    """Outputs of every node by name and operator, as the file's own row pointers tell them."""
    counts = {}

    def walk(graph):
        rows = graph["node_row_ptr"]
        for i, node in enumerate(graph["nodes"]):
            counts[node["op"], node["name"]] = rows[i + 1] - rows[i]
            for body in node.get("subgraphs", []):
                walk(body)

    walk(json.loads(text))
    return lambda node: counts[node.op, node.name]


def one(_: NodeData) -> int:
    return 1


def file_of(*nodes, heads=((0, 0, 0),), **others):
    content = {"nodes": list(nodes), "arg_nodes": [], "heads": [list(head) for head in heads]}
    return json.dumps({**content, **others})


@pytest.mark.parametrize("name", SYMBOLS)
def test_golden_file_is_written_back_byte_for_byte(name: str) -> None:
    text = (GOLDEN / name).read_bytes().decode()
    assert dump(parse(text), counts_of(text)) == text


@pytest.mark.parametrize("name", SYMBOLS)
def test_golden_file_is_in_depth_first_order(name: str) -> None:
    graph = parse((GOLDEN / name).read_bytes())
    assert depth_first(graph) == graph


def test_subgraphs_are_graphs() -> None:
    graph = parse((GOLDEN / "foreach-symbol.json").read_bytes())
    (body,) = graph.nodes[2].subgraphs
    assert [node.op for node in body.nodes] == ["null", "null", "elemwise_add", "elemwise_mul"]
    assert body.arg_nodes == (0, 1)


@pytest.mark.parametrize("count", [10, 11])
def test_lists_of_more_than_ten_take_a_line_each(count: int) -> None:
    graph = GraphData(
        tuple(NodeData("null", f"x{i}") for i in range(count)),
        tuple((i, 0, 0) for i in range(count)),
    )
    text = dump(graph, one)
    assert ('"heads": [[0, 0, 0], ' in text) == (count == 10)
    assert ('"heads": [\n    [0, 0, 0], \n' in text) == (count == 11)
    assert ('"arg_nodes": [0, 1, ' in text) == (count == 10)
    assert '"node_row_ptr": [\n    0, \n    1, \n' in text


def test_text_is_escaped_as_mxnet_does() -> None:
    graph = GraphData((NodeData("null", 'a"b\\c\n\t\ré\u0001/к'),), ((0, 0, 0),))
    text = dump(graph, one)
    assert '"name": "a\\"b\\\\c\\n\\t\\ré\u0001/к"' in text
    assert parse(text) == graph


def test_two_graph_attributes_take_a_line_each() -> None:
    attrs = {"mxnet_version": ("int", 10901), "is_np_shape": ("int", 1)}
    graph = GraphData((NodeData("null", "x"),), ((0, 0, 0),), attrs)
    assert dump(graph, one).endswith(
        '"attrs": {\n    "is_np_shape": ["int", 1], \n    "mxnet_version": ["int", 10901]\n  }\n}'
    )
    assert parse(dump(graph, one)).is_np_shape


def test_control_dependencies_survive() -> None:
    graph = parse(file_of(VARIABLE, {**VARIABLE, "name": "z", "control_deps": [0]}))
    assert graph.nodes[1].control_deps == (0,)
    assert parse(dump(graph, one)) == graph


def test_entries_of_two_numbers_have_version_zero() -> None:
    graph = parse(file_of(VARIABLE, {**RELU, "inputs": [[0, 0]]}, heads=[(1, 0)]))
    assert graph.nodes[1].inputs == ((0, 0, 0),)
    assert graph.heads == ((1, 0, 0),)


def test_missing_version_means_the_oldest() -> None:
    assert parse(file_of(VARIABLE)).mxnet_version == 800


@pytest.mark.parametrize(
    ("node", "attrs"),
    [
        ({"attr": {"a": "1"}}, {"a": "1"}),
        ({"param": {"a": "1", "b": "2"}, "attr": {"a": "3"}}, {"a": "3", "b": "2"}),
        ({"attr": {"a": "1"}, "attrs": {"b": "2"}}, {"b": "2"}),
        ({"attrs": {"b": "2"}, "attr": {"a": "1"}}, {"a": "1"}),
        ({"backward_source_id": -1}, {}),
    ],
)
def test_older_spellings_of_attributes_are_read(node, attrs) -> None:
    assert parse(file_of({**VARIABLE, **node})).nodes[0].attrs == attrs


def test_what_follows_the_graph_is_ignored_as_in_mxnet() -> None:
    assert parse("  " + file_of(VARIABLE) + " tail").nodes[0].name == "x"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected the JSON of a graph"),
        (b"\xff\xfe", "expected the JSON of a graph"),
        ("[" * 100_000, "expected the JSON of a graph"),
        ('{"nodes": ' + "9" * 5000, "expected the JSON of a graph"),
        ("[]", "expected an object, got list"),
        ("{}", "expected the key 'nodes'"),
        (file_of(VARIABLE, extra=1), "got 'extra'"),
        (file_of({**VARIABLE, "extra": 1}), "node 0: expected keys .*'extra'"),
        (file_of({"op": "null", "inputs": []}), "expected the key 'name'"),
        (file_of({**VARIABLE, "op": 3}), "op and name as text, got 3"),
        (file_of({**VARIABLE, "attrs": {"a": 1}}), r"node 0 \(x\): expected 'a' as text, got int"),
        (file_of({**VARIABLE, "attrs": None}), "attributes as an object, got nothing"),
        (file_of({**RELU, "inputs": [[0, 0, 0]]}), "node number below 0, got 0"),
        (file_of({**RELU, "inputs": [[1, 0, 0]]}, VARIABLE), "node number below 0, got 1"),
        (file_of(VARIABLE, {**RELU, "inputs": [[-1, 0, 0]]}), "32-bit numbers"),
        (file_of(VARIABLE, {**RELU, "inputs": [[0, 0, 0, 0]]}), r"\[node, output, version\]"),
        (file_of(VARIABLE, {**RELU, "inputs": [[0, True, 0]]}), "32-bit numbers"),
        (file_of(VARIABLE, {**RELU, "inputs": 3}), "inputs: expected a list, got int"),
        (file_of(VARIABLE, heads=[(5, 0, 0)]), "heads: expected a node number below 1, got 5"),
        (file_of(VARIABLE, arg_nodes=[7]), "arg_nodes: expected a node number below 1"),
        (file_of(VARIABLE, attrs=None), "an object at the key 'attrs', got nothing"),
        (file_of(VARIABLE, attrs={"a": 3}), r"\[type, value\] at the key 'a' of attrs, got int"),
        (
            file_of(VARIABLE, attrs={"mxnet_version": ["str", "x"]}),
            "key 'mxnet_version'.* got str",
        ),
        (file_of(VARIABLE, attrs={"mxnet_version": ["int", None]}), "key 'mxnet_version' .* None"),
        (file_of({**VARIABLE, "control_deps": [0]}), "control_deps: expected a node number"),
        (file_of({**VARIABLE, "subgraphs": [{}]}), "subgraph 0: expected the key 'nodes'"),
    ],
)
def test_malformed_files_are_refused(text: str | bytes, message: str) -> None:
    with pytest.raises(FileFormatError, match=f"net.json: .*{message}|net.json.*{message}"):
        parse(text, "net.json")


def test_subgraphs_deeper_than_the_bound_are_refused() -> None:
    body = json.loads(file_of(VARIABLE))
    for _ in range(40):
        body = json.loads(file_of({**VARIABLE, "subgraphs": [body]}))
    with pytest.raises(FileFormatError, match="subgraphs up to 32 deep"):
        parse(json.dumps(body))


@hypothesis.given(position=st.integers(0, 2800), value=st.sampled_from('{}[]",:0129-ntf\\'))
def test_a_changed_character_gives_a_graph_or_a_format_error(position: int, value: str) -> None:
    text = (GOLDEN / "attrs-symbol.json").read_text(encoding="utf-8")
    text = text[:position] + value + text[position + 1 :]
    with contextlib.suppress(FileFormatError):
        depth_first(parse(text))
