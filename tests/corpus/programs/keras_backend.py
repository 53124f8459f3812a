"""keras-mxnet 2.2.4.3: Keras on its MXNet back end: layers, trainings, functions.

Keras 2.2.4 is older than Python 3.10 and NumPy 1.20; what they removed is put back first.
"""

import collections
import collections.abc
import os

for _name in ("Iterable", "Mapping", "Sequence", "Callable", "MutableMapping"):
    setattr(collections, _name, getattr(collections.abc, _name))
os.environ["KERAS_BACKEND"] = "mxnet"

import keras
import numpy as np
from corpus_cases import arrays
from keras import backend as K
from keras import layers as L
from keras.models import Model, Sequential


def _fill(model):
    model.set_weights(
        [
            arrays(weight.shape, i) * 0.1
            if len(weight.shape) > 1
            else np.abs(arrays(weight.shape, i))
            for i, weight in enumerate(model.get_weights())
        ]
    )
    return model


def _trained(model, x, y, loss="categorical_crossentropy", optimizer="sgd"):
    model.compile(loss=loss, optimizer=optimizer, metrics=["accuracy"])
    _fill(model)
    before = model.predict(x)
    history = model.fit(x, y, batch_size=8, epochs=2, verbose=0, shuffle=False)
    return before, history.history["loss"], model.evaluate(x, y, verbose=0)


def _classes(count=16, classes=4):
    return np.eye(classes)[np.arange(count) % classes].astype("float32")


def case_dense_network():
    model = Sequential(
        [L.Dense(16, activation="relu", input_shape=(8,)), L.Dense(4, activation="softmax")]
    )
    return _trained(model, arrays((16, 8)), _classes())


def case_optimizers():
    results = []
    for optimizer in ("rmsprop", "adagrad", "adadelta", "adam", "adamax", "nadam"):
        model = Sequential(
            [L.Dense(6, activation="tanh", input_shape=(8,)), L.Dense(4, activation="softmax")]
        )
        try:
            results.append(
                [optimizer, *_trained(model, arrays((16, 8)), _classes(), optimizer=optimizer)]
            )
        except (NotImplementedError, AttributeError) as error:
            results.append([optimizer, type(error).__name__])
    return results


def case_convolutional_network():
    model = Sequential(
        [
            L.Conv2D(4, 3, activation="relu", input_shape=(10, 10, 1)),
            L.MaxPooling2D(2),
            L.BatchNormalization(),
            L.Flatten(),
            L.Dense(4, activation="softmax"),
        ]
    )
    return _trained(model, arrays((16, 10, 10, 1)), _classes())


def case_recurrent_networks():
    results = []
    for layer in (L.SimpleRNN, L.GRU, L.LSTM):
        model = Sequential(
            [layer(6, input_shape=(5, 3), unroll=True), L.Dense(4, activation="softmax")]
        )
        results.append(_trained(model, arrays((16, 5, 3)), _classes()))
    return results


def case_embedding_and_functional_model():
    words, numbers = L.Input((6,)), L.Input((3,))
    x = L.concatenate([L.GlobalAveragePooling1D()(L.Embedding(20, 4)(words)), L.Dense(4)(numbers)])
    model = Model([words, numbers], L.Dense(1)(x))
    model.compile(loss="mse", optimizer="sgd")
    _fill(model)
    inputs = [np.random.RandomState(0).randint(0, 20, (16, 6)), arrays((16, 3))]
    history = model.fit(
        inputs, arrays((16, 1), 1), batch_size=8, epochs=2, verbose=0, shuffle=False
    )
    return model.predict(inputs), history.history["loss"]


def case_backend_functions():
    x, y = K.variable(arrays((3, 4))), K.variable(arrays((4, 5), 1))
    functions = {
        "dot": K.dot(x, y),
        "sum": K.sum(x, axis=1),
        "softmax": K.softmax(x),
        "exp": K.exp(x),
        "clip": K.clip(x, -0.5, 0.5),
        "concatenate": K.concatenate([x, x], axis=0),
        "expand": K.expand_dims(x, 1),
        "permute": K.permute_dimensions(x, (1, 0)),
        "reshape": K.reshape(x, (2, 6)),
        "max": K.max(x, axis=0),
        "var": K.var(x, axis=0),
        "l2": K.l2_normalize(x, axis=1),
        "one hot": K.one_hot(K.variable(np.array([0, 2, 1])), 3),
        "tile": K.tile(x, (2, 1)),
        "pow": K.pow(x, 2),
    }
    return {name: K.eval(value) for name, value in functions.items()}


def case_save_and_load():
    import tempfile
    from pathlib import Path

    model = Sequential([L.Dense(3, input_shape=(4,))])
    model.compile(loss="mse", optimizer="sgd")
    _fill(model)
    x = arrays((8, 4))
    before = model.predict(x)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "weights.npz")
        np.savez(path, *model.get_weights())
        loaded = np.load(path)
        model.set_weights([loaded[name] for name in loaded.files])
    np.testing.assert_allclose(before, model.predict(x))
    return before, keras.__version__


def case_export_for_mxnet():
    import tempfile

    from keras.models import save_mxnet_model

    model = Sequential([L.Dense(3, activation="relu", input_shape=(4,)), L.Dense(2)])
    model.compile(loss="mse", optimizer="sgd")
    _fill(model)
    model.predict(arrays((8, 4)))
    with tempfile.TemporaryDirectory() as folder:
        names, shapes = save_mxnet_model(model=model, prefix=f"{folder}/model", epoch=0)
        return (
            len(names),
            [
                list(shape[1]) if isinstance(shape, tuple) and len(shape) == 2 else str(shape)
                for shape in shapes
            ],
            sorted(os.listdir(folder)),
        )
