"""Batches that have nothing but data."""

from collections import namedtuple

import numpy as np

import gluonish as mx

Batch = namedtuple("Batch", ["data"])


def test_a_module_takes_any_object_with_data_in_any_shape():
    out = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=2, name="fc")
    module = mx.mod.Module(out, label_names=None)
    module.bind([("data", (1, 10))], for_training=False)
    module.init_params(mx.init.One())
    for rows in (1, 3, 2):
        module.forward(Batch([mx.nd.ones((rows, 10))]))
        np.testing.assert_array_equal(module.get_outputs()[0].asnumpy(), np.full((rows, 2), 10))
