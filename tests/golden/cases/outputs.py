"""Cases of output losses and CTC."""

import numpy as np

from tests.golden.case import Case, distinct, integers, normal, uniform, values

_REGRESSIONS = ("LinearRegressionOutput", "LogisticRegressionOutput", "MAERegressionOutput")
# The gradient ignores what comes from behind, so it is no derivative of the output.
_OWN_GRADIENT = {"differentiable": False}
_CTC = {"second_order": False, "wrt": (0,)}  # MXNet has no second derivative either
_UNSET = "leaves the gradient of a sequence without an alignment unset"
_FLOAT32 = "takes float32 only"


def _ctc_float64(data, label):
    """Sum over all paths of one sequence of three classes, blank first."""
    steps, batch, classes = data.shape
    p = np.exp(data.astype("float64"))
    p /= p.sum(axis=2, keepdims=True)
    losses = []
    for n in range(batch):
        wanted = [int(c) for c in label[n] if c]
        total = 0.0
        for path in np.ndindex(*(classes,) * steps):
            kept = [c for i, c in enumerate(path) if c and (i == 0 or path[i - 1] != c)]
            if kept == wanted:
                total += np.prod([p[t, n, c] for t, c in enumerate(path)])
        losses.append(-np.log(total) if total else 0.0)
    return np.array(losses, data.dtype)


def _distances(data, moving_avg):
    return data


CASES = [
    *[
        case
        for op in _REGRESSIONS
        for case in (
            Case(op, [distinct(2, 3), normal(2, 3)], check=_OWN_GRADIENT),
            Case(op, [normal(2, 3), normal(2, 3)], {"grad_scale": 2.0}),
            Case(op, [normal(4, 1), normal(4)]),
            Case(op, [normal(4), normal(4)]),
            Case(op, [normal(2, 3, 2), normal(2, 3, 2)]),
            Case(op, [normal(1, 1), normal(1, 1)]),
            Case(op, [normal(2, 3, dtype="float16"), normal(2, 3, dtype="float16")]),
            Case(op, [normal(2, 3, dtype="float64"), normal(2, 3, dtype="float64")], rtol=1e-7),
            Case(op, [normal(2, 3), normal(6)], invalid=True),
            Case(op, [normal(2, 3), normal(3, 2)], invalid=True),
            Case(op, [normal(2, 3, dtype="float16"), normal(2, 3)], invalid=True),
            Case(op, [normal(2, 3), normal(2, 3)], {"scale": 1}, invalid=True),
        )
    ],
    Case("SVMOutput", [normal(2, 3), values([2, 0])], check=_OWN_GRADIENT),
    Case(
        "SVMOutput",
        [normal(3, 4), values([2, 0, 3])],
        {"margin": 0.5, "regularization_coefficient": 2.0},
    ),
    Case("SVMOutput", [normal(3, 4), values([2, 0, 3])], {"use_linear": True}),
    Case(
        "SVMOutput",
        [normal(3, 4), values([2, 0, 3])],
        {"use_linear": True, "margin": 2.0, "regularization_coefficient": 0.5},
    ),
    Case("SVMOutput", [normal(2, 3), values([5, -1])]),
    Case("SVMOutput", [normal(2, 3, dtype="float16"), values([2, 0], "float16")]),
    Case("SVMOutput", [normal(2, 3), values([2, 0, 1])], invalid=True),
    Case("SoftmaxActivation", [normal(2, 3)]),
    Case("SoftmaxActivation", [normal(2, 3, 2)], {"mode": "channel"}),
    Case("SoftmaxActivation", [normal(2, 3, 2, 2)], {"mode": "channel"}),
    Case(
        "SoftmaxActivation", [normal(2, 3, 2)], wrong_grad="is that of a softmax of whole instances"
    ),
    Case("SoftmaxActivation", [normal(2, 3)], {"mode": "channel"}, invalid=True),
    Case("SoftmaxActivation", [normal(2, 3)], {"mode": "row"}, invalid=True),
    Case(
        "softmax_cross_entropy", [normal(3, 4), values([2, 0, 3])], grad=(0,), check={"wrt": (0,)}
    ),
    Case("softmax_cross_entropy", [normal(1, 1), values([0])], grad=(0,)),
    Case(
        "softmax_cross_entropy",
        [normal(3, 4, dtype="float64"), values([2, 0, 3], "float64")],
        grad=(0,),
    ),
    Case("softmax_cross_entropy", [normal(3, 4), values([2, 0])], invalid=True),
    Case("softmax_cross_entropy", [normal(3, 4, 2), values([2, 0, 1])], invalid=True),
    Case("softmax_cross_entropy", [normal(3, 4), values([2, 0, 1], "int32")], invalid=True),
    Case(
        "IdentityAttachKLSparseReg",
        [uniform(0.1, 0.9, 4, 3), uniform(0.1, 0.9, 3)],
        {"sparseness_target": 0.2, "penalty": 0.01, "momentum": 0.8},
        wrong="runs in graphs only: its call takes one array",
        expected=_distances,
        check={"differentiable": False},
    ),
    Case("_grad_add", [normal(2, 3), normal(2, 3)]),
    Case("_grad_add", [normal(2, 3, dtype="float16"), normal(2, 3, dtype="float16")]),
    Case("_grad_add", [integers(0, 9, 2, dtype="int32"), integers(0, 9, 2, dtype="int32")]),
    Case("_grad_add", [normal(2, 3), normal(1, 3)], invalid=True),
    Case("CTCLoss", [normal(4, 2, 3), values([[1, 2], [2, 0]])], grad=(0,), check=_CTC),
    Case("CTCLoss", [normal(4, 2, 3), values([[1, 1], [2, 2]])], grad=(0,)),
    Case("CTCLoss", [normal(6, 3, 5), values([[1, 4, 4], [3, 2, 0], [4, 0, 0]])], grad=(0,)),
    Case("CTCLoss", [normal(4, 2, 3), values([[1, 2], [2, 0]], "int32")], grad=(0,)),
    Case(
        "CTCLoss",
        [normal(4, 2, 3), values([[1, 0], [0, -1]])],
        {"blank_label": "last"},
        grad=(0,),
    ),
    Case(
        "CTCLoss",
        [normal(4, 2, 3), values([[1, 2], [2, 0]]), values([3, 4])],
        {"use_data_lengths": True},
        grad=(0,),
    ),
    Case(
        "CTCLoss",
        [normal(4, 2, 3), values([[1, 2], [2, 1]]), values([2, 1])],
        {"use_label_lengths": True},
        grad=(0,),
    ),
    Case(
        "CTCLoss",
        [normal(5, 2, 4), values([[1, 2], [2, 1]]), values([3, 4]), values([2, 1])],
        {"use_data_lengths": True, "use_label_lengths": True, "blank_label": "last"},
        grad=(0,),
    ),
    Case("CTCLoss", [normal(4, 2, 3), values([[0, 0], [1, 2]])], grad=(0,)),
    Case("CTCLoss", [normal(2, 2, 3), values([[1, 1], [2, 1]])], grad=(0,), wrong_grad=_UNSET),
    Case(
        "CTCLoss",
        [normal(4, 2, 3), values([[0, 0], [0, 0]])],
        wrong="leaves the results of a batch without labels unset",
        expected=_ctc_float64,
    ),
    Case(
        "CTCLoss",
        [normal(4, 2, 3, dtype="float64"), values([[1, 2], [2, 0]])],
        wrong=_FLOAT32,
        expected=_ctc_float64,
    ),
    Case("CTCLoss", [normal(1, 2, 3), values([[1, 2], [2, 1]])], invalid=True),
    Case("CTCLoss", [normal(4, 3), values([[1, 2], [2, 1]])], invalid=True),
    Case("CTCLoss", [normal(4, 2, 3), values([[1], [2], [1]])], invalid=True),
    Case("CTCLoss", [normal(4, 2, 3), values([[1], [2]])], {"blank_label": "none"}, invalid=True),
]
