"""infer_shape_partial against MXNet's, over operators and what happens to be known."""

import json
from pathlib import Path

import pytest

import gluonish as mx

CASES = json.loads(
    (Path(__file__).parents[1] / "golden" / "partial_shapes.json").read_text(encoding="utf-8")
)


def _impossible(case):
    """Whether MXNet answers with what cannot be: Concat counts an input of which nothing is known
    as empty along dim, and Pad an unknown extent as -1.
    """
    shapes = list(case["given"].values())
    if case["op"] == "Concat":
        return None in shapes
    return case["op"] == "Pad" and shapes[0] is not None and 0 in shapes[0][2:]


def _graph(case):
    """Build the Symbol that the golden script built."""
    attrs = {k: tuple(v) if isinstance(v, list) else v for k, v in case["attrs"].items()}
    given = case["given"]
    inputs = [mx.sym.Variable(n) for n in given if n[0] != "z"]
    out = getattr(mx.sym, case["op"])(*inputs, name="op", **attrs)
    outs = [out[i] for i in range(case["outputs"])]
    if any(n[0] == "z" for n in given):
        outs = [mx.sym.elemwise_add(o, mx.sym.Variable(f"z{i}")) for i, o in enumerate(outs)]
    return mx.sym.Group(outs)


def _answer(case):
    graph = _graph(case)
    given = {n: tuple(s) for n, s in case["given"].items() if s is not None}
    arguments, outputs, _ = graph.infer_shape_partial(**given)
    said = dict(zip(graph.list_arguments(), arguments, strict=True))
    return [said[n] for n in case["given"]] + outputs


def _tells(ours, theirs):
    """Whether a shape tells all that MXNet's tells, and nothing else."""
    if not theirs:
        return True
    return len(ours) == len(theirs) and all(t in (0, o) for o, t in zip(ours, theirs, strict=True))


def _name(case):
    given = ",".join(f"{n}={s}" for n, s in case["given"].items())
    return f"{case['op']}-{case['attrs']}-{given}".replace(" ", "")


@pytest.mark.parametrize("op", sorted({case["op"] for case in CASES}))
def test_what_mxnet_infers_is_inferred(op):
    for case in CASES:
        if case["op"] == op and case["answer"] is not None and not _impossible(case):
            theirs = [*case["answer"]["arguments"].values(), *case["answer"]["outputs"]]
            ours = _answer(case)
            fits = all(map(_tells, ours, theirs))
            assert fits, f"{_name(case)}: expected {theirs}, got {ours}"


def _partial(symbol, **shapes):
    arguments, outputs, _ = symbol.infer_shape_partial(**shapes)
    return [*arguments, *outputs]


def _variables(*names):
    return [mx.sym.Variable(name) for name in names]


def test_a_product_keeps_the_extent_that_is_unknown():
    a, b = _variables("a", "b")
    assert _partial(mx.sym.dot(a, b), a=(0, 3, 4), b=(4, 5))[-1] == (0, 3, 5)


def test_an_unknown_extent_may_be_one_that_broadcasts():
    a, b = _variables("a", "b")
    assert _partial(mx.sym.broadcast_add(a, b), a=(0, 3), b=(2, 3))[-1] == (0, 3)


def test_of_unknown_data_a_dense_layer_knows_no_weight():
    (a,) = _variables("a")
    out = mx.sym.FullyConnected(a, num_hidden=3)
    assert _partial(out) == [(), (), (), ()]


def test_nothing_known_is_none_with_numpy_shapes():
    a, b = _variables("a", "b")
    with mx.util.np_shape(True):
        assert _partial(mx.sym.dot(a, b)) == [None, None, None]
        assert _partial(mx.sym.dot(a, b), a=(-1, 3), b=(3, 4))[-1] == (-1, 4)


def test_a_sum_tells_what_its_joined_parts_lack():
    a, b, d = _variables("a", "b", "d")
    out = mx.sym.elemwise_add(mx.sym.Concat(a, b, dim=1), d)
    arguments, outputs, _ = out.infer_shape(a=(0, 10), b=(0, 5), d=(2, 0))
    assert (arguments, outputs) == ([(2, 10), (2, 5), (2, 15)], [(2, 15)])


def test_a_convolution_of_stride_1_tells_its_data():
    a, c = _variables("a", "c")
    out = mx.sym.Convolution(a, kernel=(3, 3), num_filter=21, pad=(1, 1)) + c
    assert out.infer_shape(a=(0, 10, 0, 0), c=(5, 21, 32, 32))[0][0] == (5, 10, 32, 32)


@pytest.mark.parametrize(
    ("codes", "source", "given", "result"),
    [
        ((0, -1), (2, 4, 5), (2, 0, 5), (2, 20)),
        ((-1,), (2, 4, 5), (2, 4, 0), (40,)),
        ((-2,), (2, 4, 5), (0, 4, 5), (2, 4, 5)),
        ((0, -3), (2, 4, 5), (2, 4, 0), (2, 20)),
        ((-3, 0), (2, 4, 5), (0, 4, 5), (8, 5)),
        ((-4, 1, 2, -2), (2, 4, 5), (2, 0, 5), (1, 2, 4, 5)),
        ((0, -4, 2, -1, 0), (2, 4, 5), (2, 0, 5), (2, 2, 2, 5)),
    ],
)
def test_a_reshape_tells_the_one_extent_that_its_source_lacks(codes, source, given, result):
    a, c = _variables("a", "c")
    out = mx.sym.elemwise_add(mx.sym.Reshape(a, shape=codes), c)
    assert out.infer_shape(a=given, c=result)[0][0] == source


@pytest.mark.parametrize("unknown", [-1, 0])
def test_ones_take_the_shape_that_their_reader_wants(unknown):
    out = mx.sym.ones((2, 3)) + mx.sym.transpose(mx.sym.ones((unknown, unknown)))
    assert (out.bind(mx.cpu(), {}).forward()[0].asnumpy() == 2).all()
    assert out.infer_shape()[1] == [(2, 3)]


@pytest.mark.parametrize(
    ("extent", "attrs", "expected"),
    [
        (7, {"start": 0}, [0, 1, 2, 3, 4, 5, 6]),
        (8, {"start": 3, "step": 2, "repeat": 2}, [3, 3, 5, 5, 7, 7, 9, 9]),
    ],
)
def test_arange_is_as_long_as_its_reader_wants(extent, attrs, expected):
    out = mx.sym.arange(stop=None, infer_range=True, **attrs) + mx.sym.Variable("x")
    bound = out.bind(mx.cpu(), {"x": mx.nd.zeros(extent)})
    assert bound.forward()[0].asnumpy().tolist() == expected


@pytest.mark.parametrize(
    ("compute", "shape"),
    [
        (lambda F, x: x + F.where(x > 0, F.zeros((0, 3)), F.zeros((0, 3))), (2, 3)),
        (lambda F, x: F.concat(x, F.zeros((0, 3)), dim=1), (2, 6)),
        (lambda F, x: F.where(x > 0, F.zeros((0, 3)), x), (2, 3)),
        (lambda F, x: F.stack(x, F.zeros((0, 0))), (2, 2, 3)),
        (lambda F, x: F.transpose(F.zeros((0, 0))) + x, (2, 3)),
    ],
)
def test_unknown_extents_are_found_when_a_hybridized_block_runs(compute, shape):
    class Net(mx.gluon.HybridBlock):
        def hybrid_forward(self, F, x):
            return compute(F, x)

    net = Net()
    net.hybridize()
    assert net(mx.nd.ones((2, 3))).shape == shape
    assert net(mx.nd.ones((4, 3))).shape[-2:] == (4, shape[-1])


@pytest.mark.parametrize("method", ["infer_shape", "infer_shape_partial", "infer_type"])
def test_a_name_that_is_no_argument_is_refused(method):
    with pytest.raises(mx.MXNetError, match="Keyword argument name zz not found"):
        getattr(mx.sym.Variable("x") + 1, method)(zz="float32" if method[6] == "t" else (1,))
