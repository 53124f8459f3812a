"""Ask MXNet 1.9.1 for shapes that follow from partly known ones, and write partial_shapes.json.

Run in this folder where MXNet is: ``python make_partial_shapes.py``. Each case is one operator on
variables a, b, ...; each output is added to a variable of its own, z0, z1, ..., so that what is
known of outputs can be
given, too. Extents are masked at random. A case holds the operator, its attributes, what was given
and what MXNet's infer_shape_partial answered for the variables; null where it refused.
"""

import json
import random

# operator, attributes, full shapes of its inputs, number of outputs
OPERATORS = [
    ("relu", {}, [(2, 3)], 1),
    ("elemwise_add", {}, [(2, 3), (2, 3)], 1),
    ("broadcast_add", {}, [(2, 1, 4), (2, 3, 4)], 1),
    ("broadcast_maximum", {}, [(2, 3), (2, 3)], 1),
    ("add_n", {}, [(2, 3), (2, 3), (2, 3)], 1),
    ("where", {}, [(2, 3), (2, 3), (2, 3)], 1),
    ("where", {}, [(2,), (2, 3), (2, 3)], 1),
    ("Concat", {"dim": 1}, [(2, 3), (2, 4)], 1),
    ("Concat", {"dim": 0}, [(2, 3), (5, 3), (1, 3)], 1),
    ("Concat", {"dim": -1}, [(2, 3, 4), (2, 3, 5)], 1),
    ("stack", {"axis": 1}, [(2, 3), (2, 3)], 1),
    ("SliceChannel", {"num_outputs": 2, "axis": 1}, [(2, 4, 3)], 2),
    ("SliceChannel", {"num_outputs": 2, "axis": 1, "squeeze_axis": True}, [(5, 2, 3)], 2),
    ("transpose", {"axes": (2, 0, 1)}, [(2, 3, 4)], 1),
    ("transpose", {}, [(2, 3, 4)], 1),
    ("SwapAxis", {"dim1": 0, "dim2": 2}, [(2, 3, 4)], 1),
    ("expand_dims", {"axis": 1}, [(2, 3)], 1),
    ("expand_dims", {"axis": -1}, [(2, 3)], 1),
    ("squeeze", {"axis": 1}, [(2, 1, 3)], 1),
    ("Flatten", {}, [(2, 3, 4)], 1),
    ("Reshape", {"shape": (0, -1)}, [(2, 4, 5)], 1),
    ("Reshape", {"shape": (-1,)}, [(2, 4, 5)], 1),
    ("Reshape", {"shape": (2, -1)}, [(2, 4, 5)], 1),
    ("Reshape", {"shape": (0, 0, 5)}, [(2, 4, 5)], 1),
    ("Reshape", {"shape": (-1, 0), "reverse": True}, [(2, 4, 5)], 1),
    ("Reshape", {"shape": (-2,)}, [(2, 4, 5)], 1),
    ("Reshape", {"shape": (0, -3)}, [(2, 4, 5)], 1),
    ("Reshape", {"shape": (-3, 0)}, [(2, 4, 5)], 1),
    ("Reshape", {"shape": (-4, 1, 2, -2)}, [(2, 4, 5)], 1),
    ("Reshape", {"shape": (0, -4, 2, -1, 0)}, [(2, 4, 5)], 1),
    ("reshape_like", {}, [(2, 6), (3, 4)], 1),
    ("slice", {"begin": (0, 1), "end": (2, 3)}, [(3, 4)], 1),
    ("slice", {"begin": (None, 1), "end": (None, None)}, [(3, 4, 2)], 1),
    ("slice_axis", {"axis": 0, "begin": 1, "end": 3}, [(4, 2)], 1),
    ("slice_axis", {"axis": 1, "begin": 1, "end": None}, [(4, 5)], 1),
    ("slice_like", {"axes": (0,)}, [(4, 5), (2, 3)], 1),
    ("slice_like", {}, [(4, 5), (2, 3)], 1),
    ("dot", {}, [(2, 3), (3, 4)], 1),
    ("dot", {}, [(2, 3, 4), (4, 5)], 1),
    ("dot", {"transpose_b": True}, [(2, 3), (4, 3)], 1),
    ("dot", {"transpose_a": True}, [(3, 2), (3, 4)], 1),
    ("batch_dot", {}, [(6, 2, 3), (6, 3, 4)], 1),
    ("batch_dot", {"transpose_b": True}, [(6, 2, 3), (6, 4, 3)], 1),
    ("FullyConnected", {"num_hidden": 7}, [(2, 3), (7, 3), (7,)], 1),
    ("FullyConnected", {"num_hidden": 7, "flatten": False}, [(2, 5, 3), (7, 3), (7,)], 1),
    (
        "Convolution",
        {"num_filter": 5, "kernel": (3, 3), "pad": (1, 1)},
        [(2, 4, 8, 8), (5, 4, 3, 3), (5,)],
        1,
    ),
    ("Pooling", {"kernel": (2, 2), "stride": (2, 2)}, [(2, 4, 8, 8)], 1),
    ("Pooling", {"kernel": (2, 2), "global_pool": True}, [(2, 4, 8, 8)], 1),
    ("Embedding", {"input_dim": 9, "output_dim": 4}, [(2, 3), (9, 4)], 1),
    ("take", {}, [(5, 4), (2, 3)], 1),
    ("pick", {"axis": 1}, [(2, 5, 3), (2, 3)], 1),
    ("pick", {"axis": 1, "keepdims": True}, [(2, 5, 3), (2, 1, 3)], 1),
    ("one_hot", {"depth": 6}, [(2, 3)], 1),
    ("sum", {"axis": 0}, [(2, 4, 5)], 1),
    ("mean", {"axis": (1, 2)}, [(2, 4, 5)], 1),
    ("max", {"axis": 1, "keepdims": True}, [(2, 4, 5)], 1),
    ("sum", {}, [(2, 4)], 1),
    ("sum", {"axis": 0, "exclude": True}, [(2, 4, 5)], 1),
    ("argmax", {"axis": 1}, [(2, 4, 5)], 1),
    ("softmax", {"axis": -1}, [(2, 3)], 1),
    ("SoftmaxOutput", {}, [(2, 3), (2,)], 1),
    ("repeat", {"repeats": 2, "axis": 1}, [(2, 3)], 1),
    ("tile", {"reps": (2, 3)}, [(2, 3)], 1),
    ("Pad", {"mode": "constant", "pad_width": (0, 0, 0, 0, 1, 1, 2, 2)}, [(2, 3, 4, 5)], 1),
    ("UpSampling", {"scale": 2, "sample_type": "nearest", "num_args": 1}, [(2, 3, 4, 5)], 1),
    ("broadcast_to", {"shape": (2, 3)}, [(1, 3)], 1),
    ("broadcast_to", {"shape": (0, 3)}, [(2, 1)], 1),
    ("broadcast_like", {}, [(1, 3), (2, 3)], 1),
    ("broadcast_axis", {"axis": 0, "size": 4}, [(1, 3)], 1),
    ("reverse", {"axis": 0}, [(2, 3)], 1),
    ("SequenceMask", {}, [(4, 2, 3)], 1),
    ("SequenceLast", {}, [(4, 2, 3)], 1),
    ("smooth_l1", {"scalar": 1.0}, [(2, 3)], 1),
    ("clip", {"a_min": 0, "a_max": 1}, [(2, 3)], 1),
    ("BatchNorm", {}, [(2, 3, 4), (3,), (3,)], 1),
    ("LayerNorm", {}, [(2, 3), (3,), (3,)], 1),
    ("Dropout", {}, [(2, 3)], 1),
    ("zeros_like", {}, [(2, 3)], 1),
    ("Cast", {"dtype": "float16"}, [(2, 3)], 1),
    ("gather_nd", {}, [(4, 5, 6), (2, 3)], 1),
    ("topk", {"k": 2, "axis": 1}, [(3, 4)], 1),
    ("sort", {"axis": 1}, [(3, 4)], 1),
    ("argsort", {"axis": 1}, [(3, 4)], 1),
    ("cumsum", {"axis": 1}, [(3, 4)], 1),
    ("diag", {}, [(3, 4)], 1),
    ("depth_to_space", {"block_size": 2}, [(1, 8, 3, 3)], 1),
    ("space_to_depth", {"block_size": 2}, [(1, 2, 4, 6)], 1),
    ("LinearRegressionOutput", {}, [(2, 3), (2, 3)], 1),
    ("norm", {"axis": 1}, [(2, 3)], 1),
    ("L2Normalization", {}, [(2, 3)], 1),
]
TRIES = 9


def masked(rng, shape):
    """Return a shape with some extents unknown (0), or None."""
    if rng.random() < 0.12:
        return None
    chance = rng.choice((0.0, 0.3, 0.6, 1.0))
    return [0 if rng.random() < chance else n for n in shape]


def build(sym, case):
    """Return the symbol of a case."""
    name, attrs, given, count = case["op"], case["attrs"], case["given"], case["outputs"]
    attrs = {k: tuple(v) if isinstance(v, list) else v for k, v in attrs.items()}
    inputs = [sym.Variable(n) for n in given if n[0] != "z"]
    out = getattr(sym, name)(*inputs, name="op", **attrs)
    outs = [out[i] for i in range(count)]
    if not any(n[0] == "z" for n in given):
        return sym.Group(outs)
    return sym.Group([sym.elemwise_add(o, sym.Variable(f"z{i}")) for i, o in enumerate(outs)])


def ask(sym, case):
    """Return what infer_shape_partial says of each variable and output, or None."""
    graph = build(sym, case)
    given = {n: tuple(s) for n, s in case["given"].items() if s is not None}
    try:
        arguments, outputs, _ = graph.infer_shape_partial(**given)
    except Exception:
        return None
    said = dict(zip(graph.list_arguments(), map(list, arguments), strict=True))
    return {"arguments": {n: said[n] for n in case["given"]}, "outputs": [list(s) for s in outputs]}


def cases():
    """Yield cases without answers."""
    rng = random.Random(16)
    from mxnet import sym

    for name, attrs, shapes, count in OPERATORS:
        out = build(
            sym,
            {
                "op": name,
                "attrs": attrs,
                "outputs": count,
                "given": {"abcd"[i]: s for i, s in enumerate(shapes)},  # type: ignore[var-annotated]
            },
        )
        full = out.infer_shape(**{"abcd"[i]: s for i, s in enumerate(shapes)})[1]  # type: ignore[var-annotated]
        for i in range(TRIES):
            given = {"abcd"[i]: masked(rng, s) for i, s in enumerate(shapes)}  # type: ignore[var-annotated]
            if i % 3:
                given.update({f"z{i}": masked(rng, s) for i, s in enumerate(full)})
            yield {"op": name, "attrs": attrs, "outputs": count, "given": given}


def main():
    """Write the file."""
    from mxnet import sym

    found = []
    for case in cases():
        case["answer"] = ask(sym, case)
        found.append(case)
    with open("partial_shapes.json", "w", encoding="utf-8") as file:
        file.write("[\n" + ",\n".join(json.dumps(case) for case in found) + "\n]\n")


if __name__ == "__main__":
    main()
