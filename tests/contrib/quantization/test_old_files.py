"""Graphs of fused layers that MXNet 1.4 to 1.6 wrote: they name relu in attributes of their own."""

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import FileFormatError

GOLDEN = Path(__file__).parents[2] / "golden" / "fused.json.gz"
EXPECTED = json.loads(gzip.decompress(GOLDEN.read_bytes()))
CASES = [(version, name) for version in EXPECTED for name in EXPECTED[version]]
DATA = np.random.RandomState(5).randn(2, 4, 8, 8).astype("float32")


def output(symbol: Any, arrays: dict[str, Any]) -> Any:
    """Return what a graph computes of `DATA`."""
    every = {name: mx.nd.array(x, dtype=dtype) for name, (dtype, x) in arrays.items()}
    every["data"] = mx.nd.array(DATA)
    args = {name: every[name] for name in symbol.list_arguments()}
    states = {name: every[name] for name in symbol.list_auxiliary_states()}
    return symbol.bind(mx.cpu(), args, aux_states=states, grad_req="null").forward()[0].asnumpy()


@pytest.mark.parametrize(("version", "name"), CASES)
def test_graph_gives_what_it_gave_there(version: str, name: str) -> None:
    case = EXPECTED[version][name]
    found = output(mx.sym.load_json(case["symbol"]), case["arrays"])
    expected = np.array(EXPECTED[version][name.split()[0]]["output"])
    # Those in bytes were not run there: they are held against the floating graph.
    np.testing.assert_allclose(found, expected, atol=0.03 if " " in name else 1e-5)


@pytest.mark.parametrize(("version", "name"), CASES)
def test_graph_is_saved_as_mxnet_1_9_writes_it(version: str, name: str) -> None:
    case = EXPECTED[version][name]
    text = mx.sym.load_json(case["symbol"]).tojson()
    assert "with_relu" not in text
    assert "with_postsum_relu" not in text
    flags = ("with_act", "with_postsum_act", "with_eltwise")
    old = (*flags, "with_relu", "with_postsum_relu")
    assert sum(map(text.count, flags)) == sum(map(case["symbol"].count, old))
    again = output(mx.sym.load_json(text), case["arrays"])
    np.testing.assert_array_equal(again, output(mx.sym.load_json(case["symbol"]), case["arrays"]))


def test_attributes_inside_loops_are_renamed_too() -> None:
    case = EXPECTED["1.5.1"]["dense"]
    inner = json.loads(case["symbol"])
    outer = json.loads(mx.sym.contrib.foreach(lambda x, s: (x, s), mx.sym.var("x"), [])[0].tojson())
    loop = next(node for node in outer["nodes"] if node["op"] == "_foreach")
    weights = [node["name"] for node in inner["nodes"] if node["op"] == "null"]
    loop["subgraphs"] = [inner]
    places = list(range(len(weights)))
    loop["attrs"] |= {"num_args": str(1 + len(weights)), "in_data_locs": "(0,)"}
    loop["attrs"]["remain_locs"] = str(tuple(places[1:]))
    loop["inputs"] = [[i, 0, 0] for i in places]
    nodes = [{"op": "null", "name": name, "inputs": []} for name in weights]
    text = json.dumps(
        {
            "nodes": [*nodes, loop],
            "arg_nodes": places,
            "heads": [[len(nodes), 0, 0]],
            "attrs": {"mxnet_version": ["int", 10501]},
        }
    )
    assert "with_relu" not in mx.sym.load_json(text).tojson()


def test_a_file_of_1_9_with_the_old_name_is_refused() -> None:
    content = json.loads(EXPECTED["1.5.1"]["dense"]["symbol"])
    content["attrs"] = {"mxnet_version": ["int", 10901]}
    with pytest.raises(FileFormatError, match="with_relu"):
        mx.sym.load_json(json.dumps(content))
