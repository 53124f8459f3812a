import ast
import json
from pathlib import Path
from typing import Any

import pytest

from gluonish.core.schema import REQUIRED
from gluonish.ops.numpy_names import ADDED_NAMES
from gluonish.ops.registry import Operator, all_operators, find_operator
from tests.checking.check_operator import check_operator
from tests.golden.case import load_cases
from tests.ops.cases import CASES

HERE = Path(__file__).resolve().parent
RECORDED: dict[str, dict[str, Any]] = json.loads(
    (HERE.parent / "golden" / "operators.json").read_text(encoding="utf-8")
)

OPERATORS = {op.name: op for op in all_operators() if op.infer.__module__.startswith("gluonish.")}
GOLDEN = {
    case.op
    for path in sorted((HERE.parent / "golden" / "cases").glob("*.py"))
    for case in load_cases(path)
}
# MXNet's operators without a golden case, with where they are held to what they should do.
_CALLBACKS = "runs functions of the user: tests/symbol and tests/autograd"
_SUBGRAPHS = "takes graphs: tests/ops/control_flow"
_FILES = "its codec decides the values: tests/ops/image"
UNRECORDED_RESULTS = {
    "Custom": _CALLBACKS,
    "_NDArray": _CALLBACKS,
    "_Native": _CALLBACKS,
    "_cond": _SUBGRAPHS,
    "_cvimdecode": _FILES,
    "_cvimread": _FILES,
    "_foreach": _SUBGRAPHS,
    "_while_loop": _SUBGRAPHS,
    "reset_arrays": "has no output: tests/ops/contrib/test_many_arrays.py",
}

# Without a leading underscore and not MXNet 1.9's: functions that its later versions have.
OWN = {
    *("digamma", "log_sigmoid", "mish", "rotary_embedding"),
    *("add_rms_norm", "cross_entropy", "geglu", "linear_cross_entropy", "rms_norm", "swiglu"),
    *("scaled_dot_product_attention", "weight_only_dense"),
}
# Not differentiable on purpose: they draw, create, update, repeat something for a gradient, or are
# a derivative of the last order.
NO_GRADIENT = (
    "_CachedOp",  # its graph takes its place
    "_adamw_update",
    "_arange",
    "_batch_norm_apply",
    "_batch_norm_data_gradient",
    "_batch_norm_residual_sums",
    "_batch_norm_statistics",
    "_batch_norm_sums",
    "_betainc_slopes",
    "_cached_attention",
    "_cast_weights",
    "_contrib_RROIAlign",
    "_contrib_allclose",
    "_contrib_calibrate_entropy",
    "_contrib_dequantize",
    "_contrib_edge_id",
    "_contrib_getnnz",
    "_contrib_group_adagrad_update",
    "_contrib_intgemm",
    "_contrib_quantize",
    "_contrib_requantize",
    "_cumprod_backward",
    "_custom_backward",
    "_cv",
    "_dropout_keyed",
    "_eye",
    "_full",
    "_fused_pointwise",
    "_gamma_sample_slope",
    "_gammainc_slopes",
    "_image_random",
    "_image_resize",
    "_int8_",
    "_layer_norm_backward_sums",
    "_linspace",
    "_mp_",
    "_multi_",
    "_npi_arange",
    "_npi_blackman",
    "_npi_choice",
    "_npi_eye",
    "_npi_hamming",
    "_npi_hanning",
    "_npi_identity",
    "_npi_indices",
    "_npi_logspace",
    "_npi_multinomial",
    "_npi_ones",
    "_npi_zeros",
    "_npx_quantized",
    "_ones",
    "_random",
    "_regression_output_backward",
    "_sample_unique_zipfian",
    "_sg_mkldnn_",
    "_shuffle",
    "_singular_cofactors_backward",
    "_softmax_output_backward",
    "_sparse_adagrad_update",
    "_sparse_csr",
    "_sparse_rows",
    "_svm_output_backward",
    "_trigamma",
    "_zeros",
    "_zeros_like_many",
    "adam_update",
    "all_finite",
    "fill_element_0index",
    "ftml_update",
    "ftrl_update",
    "lamb_",
    "mp_",
    "multi_",
    "nag_mom_update",
    "preloaded_",
    "reset_arrays",
    "rmsprop",
    "sgd_",
    "signsgd_update",
    "signum_update",
)
# Where the record does not say what the operator takes: a number of inputs that is an attribute in
# files; _linspace and _npi_concatenate, whose recorded attributes are those of _arange and Concat;
# _npi_norm, which has none there.
UNRECORDED = {"num_args"}
# Attributes that MXNet takes, and tells nobody about.
UNLISTED = {
    "_contrib_SparseEmbedding": ["deterministic"],
    "_linalg_potrf": ["lower"],
    "_linalg_potri": ["lower"],
}
WRONG_RECORD = {"_linspace", "_npi_concatenate", "_npi_norm"}
# Where it does not list all inputs: states that the operator overwrites, and the array that is
# copied; and where it lists functions of the user, which are graphs in ours.
WRONG_INPUTS = {
    "BatchNorm_v1",
    "IdentityAttachKLSparseReg",
    "_CrossDeviceCopy",
    "_cond",
    "_foreach",
    "_while_loop",
}
# Outputs that nobody sees: Pooling's workspace of its CPU library shows in files only, and
# gluonish.symbol.files writes it there; the regularizer's is for its gradient.
HIDDEN = {"Pooling": 1, "IdentityAttachKLSparseReg": -1}

names = pytest.mark.parametrize("name", sorted(OPERATORS))
recorded_names = pytest.mark.parametrize("name", sorted(RECORDED))


@pytest.mark.parametrize("name", sorted(CASES))
def test_operator_is_what_its_definition_says(name: str) -> None:
    case = CASES[name]
    check_operator(name, case.inputs, case.attrs, case.expected, **case.options)


@names
def test_operator_is_checked(name: str) -> None:
    """MXNet's by its results; our own by a row, or by a test beside.

    Those that gradients are made of are checked at second order, with the one that uses them.
    """
    if name in RECORDED:
        held = (name in GOLDEN) != (name in UNRECORDED_RESULTS)
        assert held, f"{name}: expected either a case in tests/golden/cases or a reason here"
        return
    if name.startswith("_"):
        pytest.skip("an operator that gradients are made of")
    beside = (path.read_text(encoding="utf-8") for path in HERE.glob("test_*.py"))
    covered = name in CASES or any(f'"{name}"' in text for text in beside)
    assert covered, f"{name} has no row in tests/ops/cases.py and no test of its own"


@names
def test_operator_has_a_doc(name: str) -> None:
    assert OPERATORS[name].doc.split("\n\n")[0].endswith((".", ":"))


@names
def test_operator_without_gradient_is_listed(name: str) -> None:
    if OPERATORS[name].gradient is None:
        assert name.startswith(NO_GRADIENT)


@names
def test_name_is_mxnets_or_marked_as_ours(name: str) -> None:
    assert name in RECORDED or name in OWN or name.startswith("_")


def _registered(name: str) -> Operator:
    return find_operator(name)


@recorded_names
def test_inputs_are_the_recorded_ones(name: str) -> None:
    op = _registered(name)
    if name in WRONG_INPUTS:
        pytest.skip("the record does not hold all inputs")
    if op.variadic is None:
        assert list(op.inputs) == [entry[0] for entry in RECORDED[name]["inputs"]]
    else:
        assert RECORDED[name]["inputs"][0][1] == "list"


@recorded_names
def test_attributes_are_the_recorded_ones_in_order(name: str) -> None:
    if name in WRONG_RECORD:
        pytest.skip("the record holds another operator's attributes")
    attributes = [a for a in _registered(name).schema.attributes if a not in UNRECORDED]
    recorded = [a for a in RECORDED[name]["params"] if a not in UNRECORDED]
    assert attributes == recorded + UNLISTED.get(name, [])


@recorded_names
def test_defaults_are_the_recorded_ones(name: str) -> None:
    if name in WRONG_RECORD:
        pytest.skip("the record holds another operator's attributes")
    schema = _registered(name).schema
    for word, entry in RECORDED[name]["params"].items():
        attribute = schema.attributes[word]
        if entry.get("required"):
            assert attribute.default is REQUIRED, word
        elif "default" in entry:
            assert attribute.default == attribute.parse(ast.literal_eval(entry["default"])), word


@recorded_names
def test_aliases_are_the_recorded_ones(name: str) -> None:
    """Those of the NumPy front end may be missing: it has operators of its own.

    MXNet 2.0's names come in addition.
    """
    ours, recorded = set(_registered(name).aliases), set(RECORDED[name]["aliases"])
    assert ours - recorded == set(ADDED_NAMES.get(name, ())) - recorded
    assert {alias for alias in recorded - ours if not alias.startswith("_np")} == set()


@recorded_names
def test_output_counts_are_the_recorded_ones(name: str) -> None:
    op, entry = _registered(name), RECORDED[name]
    if callable(op.outputs) or callable(op.visible):
        pytest.skip("the number of outputs depends on attributes")
    assert op.visible == (entry["outputs"] or op.visible)
    assert op.outputs + HIDDEN.get(name, 0) == entry.get("outputs_with_hidden", op.visible)
