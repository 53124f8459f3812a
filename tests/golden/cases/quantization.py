"""Cases of operators on quantized arrays."""

import numpy as np

from tests.golden.case import Case, computed, integers, normal, uniform, values

PLAIN = {"differentiable": False, "half": False}
LOW, HIGH = values([-2.0]), values([2.5])
ZERO, ONE = values([0.0]), values([1.0])
SIGNED = integers(-127, 128, 2, 3, dtype="int8")
BYTES = integers(0, 256, 2, 3, dtype="uint8")
CALIBRATED = {"min_calib_range": -1.5, "max_calib_range": 2.0}
UNSIGNED = {"min_calib_range": 0.0, "max_calib_range": 2.0}
SIGNED_IMAGE = integers(-127, 128, 2, 3, 5, 5, dtype="int8")
IMAGE = integers(0, 256, 2, 3, 5, 5, dtype="uint8")


def _quantized(op, inputs, attrs=None, **options):
    options.setdefault("check", PLAIN)
    return Case(op, inputs, attrs or {}, grad=False, **options)


def _between():
    real = normal(2, 9)
    for dtype in ("int8", "uint8"):
        attrs = {"out_type": dtype}
        yield _quantized("_contrib_quantize", [real, LOW, HIGH], attrs)
        yield _quantized("_contrib_quantize_v2", [real], attrs)
        yield _quantized("_contrib_quantize_v2", [real], {**attrs, **CALIBRATED})
    yield _quantized("_contrib_quantize_v2", [real], {"out_type": "auto", **CALIBRATED})
    yield _quantized("_contrib_quantize_v2", [real], {"out_type": "auto", **UNSIGNED})
    yield _quantized("_contrib_quantize_v2", [SIGNED], CALIBRATED)
    yield _quantized("_contrib_quantize_v2", [normal(3, dtype="float64")], invalid=True)
    yield _quantized("_contrib_quantize", [normal(3, dtype="float64"), LOW, HIGH], invalid=True)
    # MXNet ends with other than 3 axes.
    yield _quantized("_contrib_quantize_asym", [normal(2, 3, 4)], CALIBRATED)
    yield _quantized("_contrib_quantize_asym", [normal(2, 3, 4)], rtol=1e-5)
    for data in (SIGNED, BYTES):
        yield _quantized("_contrib_dequantize", [data, LOW, HIGH])
    yield _quantized("_contrib_dequantize", [normal(3), LOW, HIGH], invalid=True)
    sums = integers(-(2**28), 2**28, 2, 9, dtype="int32")
    ranges = [values([-10.0]), values([8.0])]
    yield _quantized("_contrib_requantize", [sums, *ranges], rtol=1e-5)
    yield _quantized("_contrib_requantize", [sums, *ranges], CALIBRATED)
    yield _quantized("_contrib_requantize", [sums, *ranges], {"out_type": "uint8", **UNSIGNED})
    yield _quantized("_contrib_requantize", [sums, *ranges], {"out_type": "auto", **UNSIGNED})
    yield _quantized("_contrib_requantize", [normal(3), *ranges], invalid=True)


def _relu(data, low, high):
    return np.maximum(data, 0), low, high


def _product(lhs, rhs, low, high, *_ranges):
    limit = np.float32(max(abs(low[0]), high[0])) * 2.5 / 127**2 * 2147483647
    product = lhs.astype(np.int32) * rhs.astype(np.int32)
    return product, np.array([-limit], np.float32), np.array([limit], np.float32)


def _several():
    pair = [LOW, HIGH, values([-1.0]), values([3.0])]
    other = integers(-127, 128, 2, 3, dtype="int8")
    yield _quantized("_contrib_quantized_act", [SIGNED, LOW, HIGH], {"act_type": "relu"})
    wrong = "gives uint8 data as int8"
    relu = {"act_type": "relu"}
    yield _quantized(
        "_contrib_quantized_act", [BYTES, ZERO, HIGH], relu, wrong=wrong, expected=_relu
    )
    yield _quantized(
        "_contrib_quantized_act", [SIGNED, LOW, HIGH], {"act_type": "tanh"}, invalid=True
    )
    for data in (SIGNED_IMAGE, IMAGE):
        yield _quantized("_contrib_quantized_flatten", [data, LOW, HIGH])
    for data, others in ((SIGNED, other), (BYTES, BYTES), (BYTES, other)):
        inputs = [data, others, LOW, HIGH, values([-3.0]), values([1.0])]
        yield _quantized("_contrib_quantized_concat", inputs, {"num_args": 2, "dim": 1})
        yield _quantized("_contrib_quantized_concat", inputs, {"num_args": 2, "dim": 0})
        # Sums are round to float32 in MXNet.
        inputs = [data, others, *pair]
        wrong = "takes uint8 for 0 beside int8" if data is BYTES and others is other else ""
        options = {"wrong": wrong, "rtol": 1e-6, "atol": 600}
        yield _quantized("_contrib_quantized_elemwise_add", inputs, **options)
        yield _quantized("_contrib_quantized_elemwise_add", inputs, CALIBRATED, atol=1, wrong=wrong)
    yield _quantized("_contrib_quantized_elemwise_add", [SIGNED, normal(2, 3), *pair], invalid=True)
    wrong = "fails without out"
    op = "_contrib_quantized_elemwise_mul"
    equal = [LOW, HIGH, LOW, HIGH]
    yield _quantized(op, [SIGNED, other, *equal], wrong=wrong, expected=_product, rtol=1e-5)
    yield _quantized(op, [SIGNED, other, *equal], CALIBRATED, wrong=wrong)
    yield _quantized(op, [SIGNED, other, *equal], {"enable_float_output": True}, wrong=wrong)


def _layers():
    weight = integers(-127, 128, 4, 3, dtype="int8")
    sizes = {"input_dim": 4, "output_dim": 3}
    index = integers(0, 4, 2, 2)
    yield _quantized("_contrib_quantized_embedding", [index, weight, LOW, HIGH], sizes)
    ranges, bias_range = [LOW, HIGH, values([-1.0]), ONE], [values([-0.5]), values([0.5])]
    bias = integers(-127, 128, 4, dtype="int8")
    op = "_contrib_quantized_fully_connected"
    for data in (SIGNED, BYTES):
        plain = {"num_hidden": 4, "no_bias": True}
        yield _quantized(op, [data, weight, *ranges], plain)
        inputs = [data, weight, bias, *ranges, *bias_range]
        yield _quantized(op, inputs, {"num_hidden": 4}, atol=1)
    yield _quantized(
        op, [SIGNED, weight, *ranges], {"num_hidden": 3, "no_bias": True}, invalid=True
    )
    kernel = integers(-127, 128, 4, 3, 3, 3, dtype="int8")
    wrong = "counts 127 steps for uint8, and adds the bias as it is"
    attrs = {"kernel": (3, 3), "num_filter": 4, "pad": (1, 1), "stride": (2, 2), "no_bias": True}
    op = "_contrib_quantized_conv"
    yield _quantized(op, [IMAGE, kernel, *ranges], attrs, wrong=wrong)
    yield _quantized(op, [SIGNED_IMAGE, kernel, *ranges], attrs, wrong="takes no int8 data")
    inputs = [IMAGE, kernel, bias, *ranges, *bias_range]
    yield _quantized(op, inputs, {"kernel": (3, 3), "num_filter": 4}, wrong=wrong)
    op = "_contrib_quantized_pooling"
    # In training oneDNN wants a workspace that MXNet has not.
    window = {"kernel": (3, 3), "stride": (2, 2)}
    for data in (SIGNED_IMAGE, IMAGE):
        for kind in ("max", "avg"):
            yield _quantized(
                op, [data, LOW, HIGH], {**window, "pool_type": kind}, atol=1, train=False
            )
        padded = {**window, "pool_type": "avg", "pad": (1, 1), "pooling_convention": "full"}
        yield _quantized(op, [data, LOW, HIGH], padded, atol=1)
        everything = {"kernel": (1, 1), "global_pool": True}
        yield _quantized(op, [data, LOW, HIGH], everything, train=False)
    yield _quantized(op, [IMAGE, LOW, HIGH], {**window, "pool_type": "sum"}, invalid=True)
    statistics = [uniform(0.5, 2, 3), normal(3), normal(3), uniform(0.5, 2, 3)]
    op = "_contrib_quantized_batch_norm"
    inputs = [SIGNED_IMAGE, *statistics, LOW, HIGH]
    yield _quantized(op, inputs, {**CALIBRATED, "fix_gamma": False}, atol=1)
    yield _quantized(op, inputs, CALIBRATED, wrong="ignores fix_gamma")
    yield _quantized(op, inputs, {"fix_gamma": False}, invalid=True)


def _counts(data):
    return np.histogram(data, bins=401, range=(-3, 3))[0].astype("float32")


HISTOGRAM = computed(_counts, normal(3000))
EDGES = values(np.linspace(-3, 3, 402).astype("float32").tolist())


def _others():
    for bins in (255, 31):
        attrs = {"num_quantized_bins": bins}
        wrong = "leaves out some of the outermost bins"
        yield _quantized("_contrib_calibrate_entropy", [HISTOGRAM, EDGES], attrs, wrong=wrong)
    sizes = {"state_size": 4, "num_layers": 1, "mode": "lstm"}
    data = integers(0, 256, 3, 2, 3, dtype="uint8")
    parameters = normal(4 * 4 * 3 + 4 * 4 * 4 + 8 * 4, scale=0.3)
    arrays = [data, parameters, normal(1, 2, 4), normal(1, 2, 4), values([50.0]), values([120.0])]
    wrong = "oneDNN has no such operation on every processor"
    yield _quantized("_contrib_quantized_rnn", arrays, sizes, wrong=wrong)
    both = {**sizes, "state_outputs": True}
    yield _quantized("_contrib_quantized_rnn", arrays, both, wrong=wrong)


CASES = [*_between(), *_several(), *_layers(), *_others()]
