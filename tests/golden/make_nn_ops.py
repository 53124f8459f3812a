"""Make nn_ops.npz: what MXNet 1.9.1 computes for the operators of neural networks, and their
gradients.

Run it with the black box (shared/ORACLE.md), from anywhere:

    OMP_NUM_THREADS=1 oracle/bin/python tests/golden/make_nn_ops.py

The file holds `cases`, a JSON list of [name, operator, attributes, number of inputs, which have
gradients], and for case ``c`` the arrays ``c.in0``.. (inputs), ``c.head`` (the gradient of output
0), ``c.out0``.. (visible outputs), ``c.grad0``.. (gradients) and for BatchNorm ``c.moved0`` and
``c.moved1``, the moving statistics after forward and backward in training.
"""

import json
from pathlib import Path
from typing import Any

import mxnet as mx
import numpy as np

RNG = np.random.default_rng(19)

Case = tuple[str, dict[str, Any], list[np.ndarray], tuple[int, ...]]


def normal(*shape: int) -> np.ndarray:
    """Numbers with few digits, so that the file packs well."""
    return (RNG.standard_normal(shape) * 8).round().astype(np.float32) / 8


def convolutions() -> list[Case]:
    """One to three axes, groups, steps, dilation, padding, both layouts of two axes."""
    table = [
        ((2, 3, 9), {"kernel": (3,)}),
        ((2, 4, 9), {"kernel": (3,), "stride": (2,), "pad": (2,), "dilate": (2,), "num_group": 2}),
        ((2, 3, 6, 7), {"kernel": (3, 2)}),
        ((2, 3, 6, 7), {"kernel": (1, 1), "stride": (2, 2)}),
        ((1, 4, 7, 6), {"kernel": (3, 3), "stride": (2, 1), "pad": (1, 2), "num_group": 4}),
        ((2, 2, 8, 8), {"kernel": (3, 3), "dilate": (2, 1), "stride": (3, 2), "pad": (1, 0)}),
        ((1, 2, 4, 5, 4), {"kernel": (2, 3, 2), "stride": (1, 2, 1), "pad": (1, 0, 1)}),
    ]
    cases: list[Case] = []
    for i, (data, attrs) in enumerate(table):
        attrs = {"num_filter": 4, "no_bias": i % 3 == 1, **attrs}  # type: ignore[dict-item]
        weight = (4, data[1] // attrs.get("num_group", 1), *attrs["kernel"])
        arrays = [normal(*data), normal(*weight), *([] if attrs["no_bias"] else [normal(4)])]
        cases.append(("Convolution", attrs, arrays, tuple(range(len(arrays)))))
    return cases


def poolings() -> list[Case]:
    """Every pool type, convention and counting of padding."""
    two = {"kernel": (3, 3), "stride": (2, 2), "pad": (1, 1)}
    table = [
        ((2, 2, 7), {"kernel": (3,), "stride": (2,)}),
        (
            (2, 2, 7),
            {"kernel": (2,), "stride": (3,), "pool_type": "avg", "pooling_convention": "full"},
        ),
        ((2, 2, 6, 7), {"kernel": (2, 3)}),
        ((2, 2, 6, 7), two),
        ((2, 2, 6, 7), {**two, "pooling_convention": "full"}),
        ((2, 2, 6, 7), {**two, "pool_type": "avg"}),
        ((2, 2, 6, 7), {**two, "pool_type": "avg", "count_include_pad": False}),
        ((2, 2, 6, 7), {**two, "pool_type": "avg", "pooling_convention": "full"}),
        ((2, 2, 6, 7), {**two, "pool_type": "sum"}),
        ((2, 2, 6, 7), {**two, "pool_type": "lp", "p_value": 2}),
        ((2, 2, 6, 7), {"global_pool": True, "pool_type": "avg"}),
        ((2, 2, 6, 7), {"global_pool": True, "kernel": (2, 2), "pad": (1, 1)}),
        ((1, 2, 4, 5, 4), {"kernel": (2, 2, 3), "stride": (2, 2, 1), "pad": (0, 1, 1)}),
        ((1, 2, 4, 5, 4), {"kernel": (2, 2, 3), "pool_type": "avg", "pad": (1, 0, 1)}),
    ]
    return [("Pooling", attrs, [normal(*data)], (0,)) for data, attrs in table]


def normalizations() -> list[Case]:
    """Batch and layer normalization: axes, fixed gamma, global statistics."""
    cases: list[Case] = []
    for attrs, shape in (
        ({"fix_gamma": False}, (3, 2, 4, 3)),
        ({}, (3, 2, 4, 3)),
        ({"fix_gamma": False, "axis": -1, "eps": 1e-2, "momentum": 0.5}, (5, 3, 4)),
        ({"fix_gamma": False, "output_mean_var": True}, (6, 4)),
        ({"fix_gamma": False, "use_global_stats": True, "output_mean_var": True}, (3, 2, 4)),
    ):
        n = shape[attrs.get("axis", 1)]  # type: ignore[index]
        arrays = [normal(*shape), normal(n), normal(n), normal(n), np.abs(normal(n)) + 1]
        cases.append(("BatchNorm", attrs, arrays, (0, 1, 2)))
    for attrs, shape in (
        ({}, (4, 6)),
        ({"axis": 1, "eps": 1e-2, "output_mean_var": True}, (3, 5, 2)),
    ):
        n = shape[attrs.get("axis", -1)]
        cases.append(("LayerNorm", attrs, [normal(*shape), normal(n), normal(n)], (0, 1, 2)))
    return cases


def activations() -> list[Case]:
    """Every function, with zero among the data."""
    data = np.concatenate([normal(14), [0, 20]]).astype(np.float32).reshape(2, 4, 2)
    cases: list[Case] = [
        ("Activation", {"act_type": name}, [data], (0,))
        for name in ("relu", "sigmoid", "softrelu", "softsign", "tanh")
    ]
    cases += [
        # Below zero its gradient of selu is not the derivative: it takes the scaled output for the
        # unscaled.
        ("LeakyReLU", {"act_type": name, "slope": 0.3}, [data], () if name == "selu" else (0,))
        for name in ("leaky", "elu", "selu", "gelu")
    ]
    cases += [
        ("LeakyReLU", {"act_type": "prelu"}, [data, gamma], (0, 1))
        for gamma in (normal(4), normal(1))
    ]
    return cases


def softmaxes() -> list[Case]:
    """Softmax and its relatives, and the operator that brings its own loss."""
    data = normal(2, 5, 3)
    cases: list[Case] = [
        ("softmax", {}, [data], (0,)),
        ("softmax", {"axis": 1, "temperature": 2.5}, [data], (0,)),
        ("log_softmax", {"axis": 1}, [data], (0,)),
        ("log_softmax", {"temperature": 0.5}, [data], (0,)),
        ("softmin", {"axis": 0, "temperature": 1.5}, [data], (0,)),
    ]
    length = np.array([[1, 5, 2], [3, 0, 4]], np.int32)
    cases.append(("softmax", {"axis": 1, "use_length": True}, [data, length], (0,)))
    rows, label = normal(4, 5), np.array([0, 3, -1, 4], np.float32)
    for attrs in (
        {},
        {"normalization": "batch", "grad_scale": 3.0},
        {"normalization": "valid"},
        {"normalization": "valid", "use_ignore": True, "ignore_label": 3},
        {"smooth_alpha": 0.2},
    ):
        cases.append(("SoftmaxOutput", attrs, [rows, label], (0,)))
    spots = np.array([[0, 3, 2], [4, 3, 1]], np.float32)
    for kind in ("null", "batch", "valid"):
        attrs = {"multi_output": True, "normalization": kind, "use_ignore": True, "ignore_label": 3}  # type: ignore[assignment]
        cases.append(("SoftmaxOutput", attrs, [data, spots], (0,)))
    cases.append(("SoftmaxOutput", {"preserve_shape": True}, [data, normal(2, 5)], (0,)))
    cases.append(("SoftmaxOutput", {}, [rows, np.abs(normal(4, 5))], (0,)))
    return cases


def embeddings() -> list[Case]:
    """Indices outside, with fractions, and named twice."""
    index = np.array([[-1, 1.7, 9], [3, 3, 0]], np.float32)
    attrs = {"input_dim": 4, "output_dim": 3}
    return [("Embedding", attrs, [index, normal(4, 3)], (1,))]


def groups() -> list[Case]:
    """Normalization of groups and instances, batch normalization with relu, deconvolutions."""
    cases: list[Case] = []
    for attrs, shape in (
        ({}, (2, 4, 3)),
        ({"num_groups": 2, "eps": 1e-2, "output_mean_var": True}, (3, 4, 2, 3)),
        ({"num_groups": 4}, (2, 4, 5)),
    ):
        n = attrs.get("num_groups", 1)
        cases.append(("GroupNorm", attrs, [normal(*shape), normal(n), normal(n)], (0, 1, 2)))
    for attrs, shape in (({}, (2, 3, 5)), ({"eps": 1e-2}, (2, 3, 4, 3))):
        n = shape[1]
        cases.append(("InstanceNorm", attrs, [normal(*shape), normal(n), normal(n)], (0, 1, 2)))
    for attrs in ({"fix_gamma": False}, {}, {"fix_gamma": False, "use_global_stats": True}):  # type: ignore[assignment]
        arrays = [normal(3, 2, 4, 3), *(normal(2) for _ in range(3)), np.abs(normal(2)) + 1]
        cases.append(("_contrib_BatchNormWithReLU", attrs, arrays, (0, 1, 2)))
    for attrs, shape in (  # type: ignore[assignment]
        ({"kernel": (3,)}, (2, 4, 5)),
        ({"kernel": (3, 2), "no_bias": False}, (2, 4, 4, 5)),
        ({"kernel": (3, 3), "stride": (2, 3), "pad": (1, 0), "adj": (1, 2)}, (2, 4, 4, 3)),
        ({"kernel": (3, 3), "dilate": (2, 1), "num_group": 2, "no_bias": False}, (1, 4, 4, 3)),
        ({"kernel": (2, 2, 3), "stride": (2, 1, 1), "pad": (0, 1, 1)}, (1, 4, 3, 3, 4)),
    ):
        attrs = {"num_filter": 6, **attrs}
        weight = (4, 6 // attrs.get("num_group", 1), *attrs["kernel"])
        arrays = [normal(*shape), normal(*weight)]
        if not attrs.get("no_bias", True):
            arrays.append(normal(6))
        cases.append(("Deconvolution", attrs, arrays, tuple(range(len(arrays)))))
    return cases


def function(operator: str) -> Any:
    """Return MXNet's function of a registry name."""
    name = operator.removeprefix("_contrib_")
    return getattr(mx.nd if name == operator else mx.nd.contrib, name)


def run(case: Case, name: str, store: dict[str, np.ndarray]) -> None:
    """Compute one case and put its arrays into ``store``."""
    operator, attrs, arrays, differentiable = case
    inputs = [mx.nd.array(a, dtype=a.dtype) for a in arrays]
    for i in differentiable:
        inputs[i].attach_grad()
    with mx.autograd.record():
        outputs = function(operator)(*inputs, **attrs)
    outputs = outputs if isinstance(outputs, list) else [outputs]
    head = normal(*outputs[0].shape)
    if differentiable:
        mx.autograd.backward(outputs[:1], [mx.nd.array(head)])
    store.update({f"{name}.in{i}": a for i, a in enumerate(arrays)})
    store[f"{name}.head"] = head
    store.update({f"{name}.out{i}": y.asnumpy() for i, y in enumerate(outputs)})
    store.update({f"{name}.grad{i}": inputs[i].grad.asnumpy() for i in differentiable})
    if operator in ("BatchNorm", "_contrib_BatchNormWithReLU"):
        store.update({f"{name}.moved{i}": inputs[3 + i].asnumpy() for i in range(2)})


def main() -> None:
    """Compute all cases and write the file beside this script."""
    families = (
        convolutions,
        poolings,
        normalizations,
        activations,
        softmaxes,
        embeddings,
        groups,
    )
    store: dict[str, np.ndarray] = {}
    cases = []
    for i, case in enumerate(case for family in families for case in family()):
        name = f"{i:02d}"
        run(case, name, store)
        cases.append([name, case[0], case[1], len(case[2]), case[3]])
    store["cases"] = np.array(json.dumps(cases))
    np.savez_compressed(Path(__file__).with_name("nn_ops.npz"), **store)


if __name__ == "__main__":
    main()
