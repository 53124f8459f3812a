"""Write initializer.json beside this file: what MXNet 1.9.1's initializers do to arrays, and say.

Run with an interpreter that has mxnet 1.9.1 and numpy 1.23.5. Each fill is a class, its arguments,
an array's name, its shape, the variable's attributes, whether the name is a plain string, and the
values; None where MXNet refuses the name.
"""

import itertools
import json
import warnings
from pathlib import Path

import mxnet as mx

warnings.simplefilter("ignore")

NAMES = (
    *("a_weight", "a_bias", "a_gamma", "a_beta", "a_min", "a_max", "a_moving_mean", "a_moving_var"),
    *("a_moving_inv_var", "a_moving_avg", "a_running_mean", "a_mean", "a_state", "weight", "bias"),
    *("stn_loc_weight", "stn_loc_bias", "upsampling0_weight", "A_WEIGHT", "a_0", ""),
)
ATTRIBUTES = (  # type: ignore[var-annotated]
    {},
    {"__init__": ""},
    {"__init__": "one"},
    {"__init__": '["constant", {"value": 4}]'},
    {"__init__": '["lstmbias", {"forget_bias": 3.0}]'},
    {"__lr_mult__": "2"},
)
SHAPES = ((1, 1, 4, 4), (2, 1, 3, 3), (1, 2, 3, 5), (1, 1, 5, 2), (1, 1, 1, 1))
DUMPED = [
    ("Zero", {}),
    ("One", {}),
    ("Constant", {"value": 2.5}),
    ("Constant", {"value": 3}),
    ("Uniform", {}),
    ("Uniform", {"scale": 1}),
    ("Normal", {"sigma": 0.5}),
    ("Orthogonal", {}),
    ("Orthogonal", {"scale": 2, "rand_type": "normal"}),
    ("Xavier", {}),
    ("Xavier", {"rnd_type": "gaussian", "factor_type": "in", "magnitude": 2.34}),
    ("MSRAPrelu", {}),
    ("MSRAPrelu", {"factor_type": "out", "slope": 0}),
    ("Bilinear", {}),
    ("LSTMBias", {}),
    ("LSTMBias", {"forget_bias": 2.0}),
]


def fill(kind, arguments, name, shape, attributes=None, plain=False):
    made = getattr(mx.init, kind)(**arguments)
    array = mx.nd.full(shape, 7)
    try:
        made(name if plain else mx.init.InitDesc(name, attributes), array)
        values = array.asnumpy().tolist()
    except ValueError:
        values = None
    return [kind, arguments, name, shape, attributes, plain, values]


def shape_of(name):
    return (1, 1, 2, 2) if name.startswith("up") else (6,) if name.endswith("bias") else (2,)


three = ("Constant", {"value": 3.0})
fills = [
    fill(*three, name, shape_of(name), {}, plain)
    for name, plain in itertools.product(NAMES, (False, True))
]
fills += [fill(*three, name, (8,), at) for name in ("x_bias", "x") for at in ATTRIBUTES]
fills += [fill("Bilinear", {}, "x_weight", shape) for shape in SHAPES]
fills += [fill("LSTMBias", {"forget_bias": 2.0}, "x_weight", (size,)) for size in (4, 8, 12)]
fills += [
    fill("Constant", {"value": value}, "x_weight", (3, 2))
    for value in (5, [1, 2], [[1, 2], [3, 4], [5, 6]])
]
fills += [fill("One", {}, f"x_{word}", (2,)) for word in ("weight", "bias", "gamma", "beta")]
texts = [[kind, given, getattr(mx.init, kind)(**given).dumps()] for kind, given in DUMPED]
found = {"fills": fills, "texts": texts}
Path(__file__).with_name("initializer.json").write_text(json.dumps(found) + "\n", "utf-8")
