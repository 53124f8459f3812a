"""Makes layers.json and layers.npz; run it with MXNet 1.9.1.

Every layer of nn, contrib.nn and contrib.cnn with many settings: names, representation, parameters,
results and gradients; and what is made of wrong arguments. Parameters are filled by `fill`, which
the test has as well.
"""

import json
import subprocess
import sys
import warnings
from pathlib import Path

import mxnet as mx
import numpy as np
from mxnet import nd
from mxnet.gluon import contrib, nn  # noqa: F401  # the texts name them

HERE = Path(__file__).resolve().parent
WORDS = "words"

LAYERS = {
    "nn.Dense(3, activation='relu')": (2, 3, 4),
    "nn.Dense(3, flatten=False, activation='sigmoid')": (2, 3, 4),
    "nn.Dense(3, weight_initializer='ones', bias_initializer='ones', prefix='a_')": (2, 4),
    "nn.Activation('sigmoid')": (2, 4),
    "nn.Activation('tanh')": (2, 4),
    "nn.Activation('softsign')": (2, 4),
    "nn.BatchNorm()": (3, 2, 4),
    "nn.BatchNorm(axis=-1, epsilon=0.1, momentum=0.3)": (3, 2, 4),
    "nn.BatchNorm(center=False)": (3, 2, 4),
    "nn.BatchNorm(scale=False)": (3, 2, 4),
    "nn.BatchNorm(center=False, scale=False)": (3, 2, 4),
    "nn.BatchNorm(use_global_stats=True)": (3, 2, 4),
    "nn.BatchNorm(beta_initializer='ones', gamma_initializer='zeros',"
    " running_mean_initializer='ones', running_variance_initializer='zeros', in_channels=2)": (
        3,
        2,
        4,
    ),
    "nn.BatchNormReLU(axis=1, scale=False)": (3, 2, 4, 2),
    "nn.BatchNormReLU(center=False, in_channels=2)": (3, 2, 4, 2),
    "nn.InstanceNorm()": (2, 3, 4),
    "nn.InstanceNorm(axis=2, epsilon=0.1, scale=True)": (2, 3, 4, 2),
    "nn.LayerNorm(axis=1, center=False)": (2, 3, 4),
    "nn.LayerNorm(beta_initializer='ones', gamma_initializer='zeros')": (2, 3),
    "nn.GroupNorm(num_groups=3, center=False)": (2, 6, 2),
    "nn.Conv1D(4, 3, strides=2, padding=1, dilation=2, groups=2, in_channels=4)": (2, 4, 9),
    "nn.Conv1D(2, (2,), activation='tanh')": (2, 3, 5),
    "nn.Conv2D(4, 3, strides=(2, 1), padding=1, dilation=(1, 2), activation='relu')": (1, 2, 6, 7),
    "nn.Conv2D(4, (1, 3), use_bias=False, weight_initializer='ones')": (1, 2, 4, 5),
    "nn.Conv2D(4, 3, groups=2, in_channels=2, bias_initializer='ones')": (1, 2, 4, 5),
    "nn.Conv3D(2, (2, 1, 2), strides=(1, 2, 1), padding=(0, 1, 0))": (1, 2, 3, 3, 3),
    "nn.Conv1DTranspose(2, 3, strides=2, padding=1, output_padding=1)": (1, 2, 4),
    "nn.Conv1DTranspose(4, 2, groups=2, in_channels=2, use_bias=False)": (1, 2, 4),
    "nn.Conv2DTranspose(2, (3, 2), strides=(2, 1), padding=(1, 0), activation='relu')": (
        1,
        2,
        3,
        4,
    ),
    "nn.Conv2DTranspose(2, 3, dilation=2, in_channels=2)": (1, 2, 3, 4),
    "nn.Conv3DTranspose(2, 2, strides=(2, 1, 1), output_padding=(1, 0, 0))": (1, 2, 2, 2, 2),
    "nn.MaxPool1D(3, 2, 1)": (2, 3, 7),
    "nn.MaxPool1D(3, 2, ceil_mode=True)": (2, 3, 8),
    "nn.MaxPool2D((2, 3), 1, (1, 0))": (2, 3, 5, 6),
    "nn.MaxPool3D(2, (1, 2, 1), 0, ceil_mode=True)": (1, 2, 3, 4, 3),
    "nn.AvgPool1D(3, 1, 1, count_include_pad=False)": (2, 3, 6),
    "nn.AvgPool1D(2, ceil_mode=True)": (2, 3, 5),
    "nn.AvgPool2D((3, 2), (2, 1), padding=(1, 0))": (2, 3, 5, 6),
    "nn.AvgPool3D((2, 1, 2), ceil_mode=True)": (1, 2, 3, 2, 3),
    "nn.Flatten()": (2, 3, 4),
    "nn.Embedding(10, 4)": WORDS,
    "nn.Embedding(10, 4, sparse_grad=True)": WORDS,
    "nn.Embedding(10, 4, weight_initializer='ones', prefix='e_')": WORDS,
    "nn.LeakyReLU(0)": (2, 4),
    "nn.LeakyReLU(0.01)": (2, 4),
    "nn.PReLU(alpha_initializer='ones')": (2, 4),
    "nn.PReLU(in_channels=4)": (2, 4),
    "nn.ELU()": (2, 4),
    "nn.SELU()": (2, 4),
    "nn.GELU()": (2, 4),
    "nn.Swish()": (2, 4),
    "nn.Swish(beta=2.0)": (2, 4),
    "nn.ReflectionPad2D()": (1, 2, 4, 5),
    "nn.ReflectionPad2D(1)": (1, 2, 4, 5),
    "nn.HybridLambda('relu')": (2, 4),
    "nn.HybridLambda(lambda F, x: F.square(x))": (2, 4),
    "nn.Lambda(lambda x: x * 2)": (2, 4),
    "nn.Lambda('square')": (2, 4),
    "contrib.nn.Identity()": (2, 4),
    "contrib.nn.PixelShuffle1D(2)": (2, 6, 3),
    "contrib.nn.PixelShuffle2D(2)": (1, 8, 3, 2),
    "contrib.nn.PixelShuffle2D((2, 3))": (1, 12, 3, 2),
    "contrib.nn.PixelShuffle3D(2)": (1, 8, 2, 1, 3),
    "contrib.nn.PixelShuffle3D((1, 2, 3))": (1, 12, 2, 3, 1),
    "contrib.nn.SyncBatchNorm(num_devices=1)": (3, 2, 4),
    "contrib.nn.SyncBatchNorm(2, 1, 0.5, 0.1, center=False, scale=False)": (3, 2, 4, 2),
    "contrib.nn.SyncBatchNorm(num_devices=1, use_global_stats=True)": (3, 2),
    "contrib.cnn.DeformableConvolution(4, (3, 3))": (1, 2, 5, 6),
    "contrib.cnn.DeformableConvolution(4, (3, 2), (2, 1), (1, 0), (1, 2), 2, 2, use_bias=False,"
    " in_channels=4, activation='tanh', offset_use_bias=False)": (1, 4, 6, 7),
    "contrib.cnn.DeformableConvolution(2, 3, 1, 1, weight_initializer='ones',"
    " offset_weight_initializer='ones', prefix='d_')": (1, 2, 4, 4),
    "contrib.cnn.ModulatedDeformableConvolution(4, (3, 3))": (1, 2, 5, 6),
    "contrib.cnn.ModulatedDeformableConvolution(4, (2, 3), 2, 1, num_deformable_group=2,"
    " activation='relu', use_bias=False, in_channels=2)": (1, 2, 5, 6),
}

# Wrong or unusual: whether MXNet takes it. "x" is ones; each runs in a process of its own.
QUESTIONS = [
    "nn.Dense(0)",
    "nn.Dense(3, activation='foo')",
    "nn.Dense(3, in_units=5)(x(2, 4))",
    "nn.Dropout(1.5)",
    "nn.Dropout(-0.5)",
    "nn.Dropout('a')",
    "nn.Conv1D(2, 3, layout='NWC')",
    "nn.Conv2D(2, 3, layout='NHWC')",
    "nn.Conv2D(2, 3, layout='NCWH')",
    "nn.Conv2D(2, (3,))",
    "nn.Conv2D(2, (3, 3, 3))",
    "nn.Conv2D(3, 3, groups=2, in_channels=4)",
    "nn.Conv3D(2, 3, layout='NDHWC')",
    "nn.Conv3D(2, 3, layout='NHWC')",
    "nn.Conv2DTranspose(2, 3, layout='NHWC')",
    "nn.Conv2DTranspose(2, 3, output_padding=(1, 1, 1))",
    "nn.Conv3DTranspose(2, 3, layout='NDHWC')",
    "nn.Conv1DTranspose(2, 3, layout='NWC')",
    "nn.MaxPool1D(layout='NWC')",
    "nn.MaxPool2D(layout='NHWC')",
    "nn.MaxPool2D(layout='NCHWX')",
    "nn.MaxPool3D(layout='NDHWC')",
    "nn.AvgPool2D((2, 2, 2))",
    "nn.AvgPool1D(layout='NWC')",
    "nn.GlobalAvgPool1D(layout='NWC')",
    "nn.GlobalMaxPool2D(layout='NHWC')",
    "nn.GlobalMaxPool2D(layout='HWNC')",
    "nn.LeakyReLU(-0.1)",
    "nn.LeakyReLU()",
    "nn.ReflectionPad2D('a')",
    "nn.ReflectionPad2D(4)(x(1, 1, 3, 3))",
    "nn.Lambda('no_such_function')",
    "nn.HybridLambda('no_such_function')",
    "nn.Lambda(3)",
    "nn.HybridLambda(3)",
    "nn.Embedding(3, 2)(x(2))",
    "nn.Activation('foo')(x(2))",
    "nn.BatchNorm(in_channels=3)(x(2, 4))",
    "nn.GroupNorm(3)(x(2, 4, 2))",
    "nn.Sequential().add(3)",
    "nn.HybridSequential().add(nn.Lambda('relu'))",
    "nn.HybridSequential()[0]",
    "contrib.nn.PixelShuffle2D((1, 2, 3))",
    "contrib.nn.PixelShuffle3D((1, 2))",
    "contrib.nn.PixelShuffle1D((2,))",
    "contrib.nn.PixelShuffle1D(3)(x(1, 4, 2))",
    "contrib.nn.SparseEmbedding(3, 2, sparse_grad=True)",
    "contrib.nn.SparseEmbedding(3, 2)(x(2))",
    "contrib.cnn.DeformableConvolution(2, (3, 3), layout='NHWC')",
    "contrib.cnn.DeformableConvolution(2, (3, 3), adj=(1, 1))",
    "contrib.cnn.DeformableConvolution(2, (3, 3), op_name='Foo')(x(1, 2, 5, 5))",
]


def values(shape, seed):
    """Return values of both signs."""
    return np.cos(np.arange(np.prod(shape)) * 0.9 + seed).reshape(shape)


def fill(parameters):
    """Give every parameter values that follow from its place and size."""
    for i, (name, parameter) in enumerate(parameters.items()):
        found = np.sin(np.arange(np.prod(parameter.shape)) * 1.7 + i).reshape(parameter.shape)
        if name.endswith("running_var"):
            found = np.abs(found) + 0.5
        parameter.set_data(nd.array(found * 0.5))


def init_name(parameter):
    """Return an initializer as text."""
    init = parameter.init
    return init if init is None or isinstance(init, str) else init.dumps()


def describe(parameters):
    """Return what can be seen of parameters without values."""
    return [
        [p.name, list(p.shape), np.dtype(p.dtype).name, p.grad_req, init_name(p)]
        for p in parameters.values()
    ]


def run(text, shape, arrays, key):
    """Describe a layer, and keep its results and gradients."""
    layer = eval(text)
    entry = {"shape": shape, "name": layer.name, "repr": repr(layer)}
    layer.initialize()
    x = nd.array([[1, 3, 9], [0, 3, 2]]) if shape == WORDS else nd.array(values(shape, 0))
    layer(x)
    entry |= {"repr_after": repr(layer), "params": describe(layer.collect_params())}
    fill(layer.collect_params())
    for mode, train in (("predict", False), ("train", True)):
        if shape != WORDS:
            x.attach_grad()
        with mx.autograd.record(train_mode=train):
            y = layer(x)
        arrays[f"{key}_{mode}"] = y.asnumpy()
        if "Modulated" in text:  # its gradient is for GPUs only
            continue
        y.backward(nd.array(values(y.shape, 2)), train_mode=train)
        if shape != WORDS:
            arrays[f"{key}_{mode}_x"] = x.grad.asnumpy()
        for i, p in enumerate(layer.collect_params().values()):
            if p.grad_req != "null":
                entry.setdefault("grad_stypes", []).append(p.grad().stype)
                arrays[f"{key}_{mode}_{i}"] = p.grad().asnumpy()
            elif mode == "train":
                arrays[f"{key}_{i}"] = p.data().asnumpy()
    layer.cast("float16")
    entry["float16"] = [np.dtype(p.dtype).name for p in layer.collect_params().values()]
    return entry


def answer(question):
    """Return whether MXNet takes a call: "ok", the kind of its error, or "crash"."""
    code = (
        "import mxnet as mx\nfrom mxnet.gluon import nn, contrib\n"
        "def x(*shape): return mx.nd.ones(shape)\n"
        f"layer = {question.partition('(x(')[0]}\n"
    )
    if "(x(" in question:
        code += f"layer.initialize()\nlayer(x({question.partition('(x(')[2]}.wait_to_read()\n"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    if done.returncode == 0:
        return "ok"
    if done.returncode < 0:
        return "crash"
    lines = [line for line in done.stderr.splitlines() if line and not line.startswith(" ")]
    return next(line.split(":")[0] for line in reversed(lines) if "Error" in line).split(".")[-1]


def main():
    """Write both files."""
    warnings.simplefilter("ignore")
    arrays = {}  # type: ignore[var-annotated]
    layers = {
        text: run(text, shape, arrays, f"layer{i}")
        for i, (text, shape) in enumerate(LAYERS.items())
    }
    answers = {question: answer(question) for question in QUESTIONS}
    text = json.dumps({"layers": layers, "answers": answers}, indent=1)
    (HERE / "layers.json").write_text(text + "\n", "utf-8")
    np.savez_compressed(HERE / "layers.npz", **arrays)


if __name__ == "__main__":
    main()
