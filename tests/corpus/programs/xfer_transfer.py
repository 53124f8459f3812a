"""xfer-ml 1.1.0: transfer learning through symbols and Modules."""

import logging

import mxnet as mx
import numpy as np

# xfer is older than NumPy 1.23.
np.asscalar = lambda array: array.item()

import xfer
from corpus_cases import arrays, seeded

logging.disable(logging.INFO)


def _source():
    """A Module with fixed parameters, as a pretrained network would be."""
    x = mx.sym.Variable("data")
    x = mx.sym.Convolution(x, num_filter=4, kernel=(3, 3), name="conv1")
    x = mx.sym.Activation(x, act_type="relu", name="relu1")
    x = mx.sym.Flatten(x, name="flatten1")
    x = mx.sym.FullyConnected(x, num_hidden=8, name="fc1")
    x = mx.sym.Activation(x, act_type="relu", name="relu2")
    x = mx.sym.FullyConnected(x, num_hidden=3, name="fc2")
    symbol = mx.sym.SoftmaxOutput(x, name="softmax")
    module = mx.mod.Module(symbol, label_names=["softmax_label"])
    module.bind(
        data_shapes=[("data", (4, 1, 8, 8))],
        label_shapes=[("softmax_label", (4,))],
        for_training=False,
    )
    module.init_params()
    arguments, states = module.get_params()
    module.set_params(
        {
            name: mx.nd.array(seeded(name, i, array.shape))
            for i, (name, array) in enumerate(sorted(arguments.items()))
        },
        states,
    )
    return module


def _iterator(count=24):
    labels = np.arange(count) % 2
    images = arrays((count, 1, 8, 8)) * 0.1 + labels[:, None, None, None]
    return mx.io.NDArrayIter(images.astype("float32"), labels.astype("float32"), batch_size=4)


def case_model_handler():
    handler = xfer.model_handler.ModelHandler(_source())
    names = list(handler.layer_names)
    handler.drop_layer_top(2)
    handler.add_layer_top(
        [mx.sym.FullyConnected(name="fc3", num_hidden=5), mx.sym.SoftmaxOutput(name="softmax")]
    )
    dropped = list(handler.layer_names)
    return (
        names,
        dropped,
        handler.get_layer_type("fc1"),
        sorted(map(str, handler.get_layer_names_matching_type("FullyConnected"))),
    )


def case_features():
    handler = xfer.model_handler.ModelHandler(_source())
    features, labels = handler.get_layer_output(
        data_iterator=_iterator(8), layer_names=["fc1", "conv1"]
    )
    # Not conv1: the ReLU behind it has overwritten it in MXNet.
    return np.asarray(features["fc1"]), list(features["conv1"].shape), np.asarray(labels)


def case_logistic_regression():
    repurposer = xfer.LrRepurposer(_source(), feature_layer_names=["fc1"], n_jobs=1)
    repurposer.repurpose(_iterator())
    return repurposer.predict_label(_iterator(8)), repurposer.predict_probability(
        _iterator(8)
    ).shape


def case_support_vectors():
    repurposer = xfer.SvmRepurposer(_source(), feature_layer_names=["fc1"])
    repurposer.repurpose(_iterator())
    return repurposer.predict_label(_iterator(8))


def case_fine_tuning():
    repurposer = xfer.NeuralNetworkFineTuneRepurposer(
        _source(), transfer_layer_name="fc1", target_class_count=2, num_epochs=3, batch_size=4
    )
    repurposer.repurpose(_iterator())
    return list(repurposer.predict_probability(_iterator(8)).shape)


def case_random_freeze():
    repurposer = xfer.NeuralNetworkRandomFreezeRepurposer(
        _source(),
        target_class_count=2,
        fixed_layers=["conv1"],
        random_layers=["fc1"],
        num_layers_to_drop=2,
        num_epochs=2,
        batch_size=4,
    )
    repurposer.repurpose(_iterator())
    return list(repurposer.predict_label(_iterator(8)).shape)


def case_bayesian_network():
    repurposer = xfer.BnnRepurposer(
        _source(),
        feature_layer_names=["fc1"],
        num_epochs=2,
        num_samples_mc=1,
        num_samples_mc_prediction=5,
        bnn_context_function=mx.cpu,
    )
    repurposer.repurpose(_iterator())
    return list(np.asarray(repurposer.predict_label(_iterator(8))).shape)


def case_save_and_load():
    import tempfile
    from pathlib import Path

    repurposer = xfer.LrRepurposer(_source(), feature_layer_names=["fc1"], n_jobs=1)
    repurposer.repurpose(_iterator())
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "model")
        repurposer.save_repurposer(model_name=path, save_source_model=True)
        again = xfer.load(path)
        return again.predict_label(_iterator(8))
