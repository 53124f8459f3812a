"""Mistakes in values: what checks that are switched on say, and what is said once without them."""

from tests.messages.mistake import Mistake

_NET = """
net = nn.HybridSequential(prefix="net_")
with net.name_scope():
    net.add(nn.Dense(4, activation="relu"), nn.HybridLambda(lambda F, x: F.log(x)), nn.Dense(3))
net.initialize()
"""

MISTAKES = {
    "logarithm of 0 in a layer": Mistake(
        f"""{_NET}
with mx.check_values():
    net(nd.zeros((2, 5)))  # the call
""",
        FloatingPointError,
        "HybridLambda | (net[1]) | log: | -infinity in its output | 8 of 8 values | at [0, 0] | "
        "F.log(x)",
    ),
    "logarithm of 0 in a hybridized layer": Mistake(
        f"""{_NET}
net.hybridize()
with mx.check_values():
    net(nd.zeros((2, 5)))
""",
        FloatingPointError,
        "HybridLambda | (net[1]) | log: | -infinity in its output | 8 of 8 values | at [0, 0] | "
        "F.log(x)",
    ),
    "NaN in the data": Mistake(
        """
        net = nn.Dense(3)
        net.initialize()
        with mx.check_values():
            net(nd.array([[1, float("nan")]]))
        """,
        FloatingPointError,
        "Dense | NaN in its input data | 1 of 2 values | look at the data | user.py:4",
    ),
    "NaN in a weight": Mistake(
        """
        net = nn.Dense(3, in_units=2)
        net.initialize()
        net.weight.set_data(nd.full((3, 2), float("nan")))
        with mx.check_values():
            net(nd.ones((1, 2)))
        """,
        FloatingPointError,
        "Dense | NaN in its input weight | 6 of 6 values | it is a parameter | learning rate",
    ),
    "gradient of the square root of 0": Mistake(
        """
        x = nd.array([4, 0])
        x.attach_grad()
        with mx.check_values():
            with autograd.record():
                y = nd.sqrt(x)
            y.backward()
        """,
        FloatingPointError,
        "sqrt: expected finite gradients | infinity in the gradient of its input data | 1 of 2 | "
        "[1] | y = nd.sqrt(x)",
    ),
    "learning rate too high": Mistake(
        """
        net = nn.Dense(3, in_units=2)
        net.initialize()
        trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 1e20})
        with mx.check_values():
            for _ in range(4):
                with autograd.record():
                    loss = (net(nd.ones((1, 2))) ** 2).sum()
                loss.backward()
                trainer.step(1)
        """,
        FloatingPointError,
        "infinity | training step | user.py:7",
    ),
    "overflow of float16": Mistake(
        """
        with mx.check_values():
            nd.array([300], dtype="float16") ** 2
        """,
        FloatingPointError,
        "infinity in its output | float16 holds up to 65504",
    ),
    "labels from 1 with the switch": Mistake(
        """
        with mx.check_values():
            loss.SoftmaxCrossEntropyLoss()(nd.ones((3, 3)), nd.array([1, 2, 3]))
        """,
        IndexError,
        "SoftmaxCrossEntropyLoss | labels from 0 to 2 | got 3.0 at [2] | 1 of 3 | subtract 1",
    ),
    "labels from 1": Mistake(
        """
        import warnings
        warnings.simplefilter("error")
        loss.SoftmaxCrossEntropyLoss()(nd.ones((3, 3)), nd.array([1, 2, 3]))
        """,
        UserWarning,
        "SoftmaxCrossEntropyLoss | labels from 0 to 2 | got 3.0 | subtract 1 | MXNET_CHECK_VALUES",
    ),
    "labels of padding": Mistake(
        """
        import warnings
        warnings.simplefilter("error")
        loss.SoftmaxCrossEntropyLoss()(nd.ones((3, 3)), nd.array([1, -1, -1], dtype="int32"))
        """,
        UserWarning,
        "got -1 at [1] | ignore_label=-1",
    ),
    "ids out of range": Mistake(
        """
        net = nn.Embedding(10, 4)
        net.initialize()
        with mx.check_values():
            net(nd.array([[1, 10]]))
        """,
        IndexError,
        "Embedding | from 0 to 9 | got 10.0 at [0, 1] | 1 of 2",
    ),
    "pick out of range": Mistake(
        """
        with mx.check_values():
            nd.pick(nd.ones((2, 3)), nd.array([0, 3]))
        """,
        IndexError,
        "pick: expected index from 0 to 2 | got 3.0 at [1]",
    ),
    "a layer that forward forgets": Mistake(
        """
        net = nn.HybridSequential(nn.Dense(3, in_units=2))
        unused = nn.Dense(3, in_units=2, prefix="unused_")
        net.initialize()
        unused.initialize()
        params = [*net.collect_params().values(), *unused.collect_params().values()]
        trainer = gluon.Trainer(params, "sgd")
        with autograd.record():
            y = net(nd.ones((1, 2))).sum()
        y.backward()
        trainer.step(1)
        """,
        UserWarning,
        "Parameter unused_weight | nor of Parameter unused_bias | detach() | ignore_stale_grad",
    ),
    "a cut graph": Mistake(
        """
        import warnings
        class Net(gluon.HybridBlock):
            def __init__(self):
                super().__init__(prefix="net_")
                with self.name_scope():
                    self.body, self.head = nn.Dense(3, in_units=2), nn.Dense(1, in_units=3)

            def hybrid_forward(self, F, x):
                return self.head(F.BlockGrad(self.body(x)))

        net = Net()
        net.initialize()
        net.hybridize()
        trainer = gluon.Trainer(net.collect_params(), "sgd")
        warnings.simplefilter("error")
        with mx.check_values():
            for _ in range(3):
                with autograd.record():
                    y = net(nd.ones((1, 2))).sum()
                y.backward()
                trainer.step(1)
        """,
        UserWarning,
        "got none or only 0 in 3 steps in a row | (body.weight) | BlockGrad | grad_req to 'null'",
    ),
    "images with channels last": Mistake(
        """
        import warnings
        warnings.simplefilter("error")
        net = nn.HybridSequential(nn.Conv2D(8, 3), nn.Dense(2))
        net.initialize()
        net(nd.ones((2, 32, 32, 3)))
        """,
        UserWarning,
        "Conv2D | (net[0]) | (N, C, H, W) | (2, 32, 32, 3) | x.transpose((0, 3, 1, 2)) | ToTensor",
    ),
    "gray images with channels last": Mistake(
        """
        net = nn.HybridSequential(nn.Conv2D(8, 3), nn.Dense(2))
        net.initialize()
        net(nd.ones((2, 28, 28, 1)))
        """,
        ValueError,
        "Conv2D | (net[0]) | (2, 28, 28, 1) | x.transpose((0, 3, 1, 2))",
    ),
    "a cell without states": Mistake(
        """
        cell = rnn.LSTMCell(4)
        cell.initialize()
        cell(nd.ones((2, 3)))
        """,
        TypeError,
        "LSTMCell | no states | cell.begin_state(batch_size=len(inputs)) | unroll",
    ),
    "cells in sequence without states": Mistake(
        """
        cells = rnn.HybridSequentialRNNCell()
        cells.add(rnn.GRUCell(4))
        cells.initialize()
        cells(nd.ones((2, 3)))
        """,
        TypeError,
        "HybridSequentialRNNCell | no states | begin_state",
    ),
    "net[5] = layer": Mistake(
        """
        net = nn.HybridSequential(nn.Dense(3))
        net[5] = nn.Dense(2)
        """,
        IndexError,
        "an index below 1 | got 5 | net.add(layer)",
    ),
    "net[0] = function": Mistake(
        """
        net = nn.HybridSequential(nn.Dense(3))
        net[0] = nd.relu
        """,
        TypeError,
        "HybridSequential | HybridLambda('relu')",
    ),
    "np.sum(dim=) in a network": Mistake(
        """
        class Net(gluon.HybridBlock):
            def forward(self, x):
                return np.sum(x, dim=1)

        net = Net()
        net(np.ones((2, 3)))
        """,
        TypeError,
        "sum() | 'dim'; its name here is axis",
    ),
    "np mean(keepdim=) in a network": Mistake(
        """
        class Net(gluon.HybridBlock):
            def forward(self, x):
                return x.mean(axis=1, keepdim=True)

        net = Net()
        net.hybridize()
        net(np.ones((2, 3)))
        """,
        TypeError,
        "mean() | 'keepdim'; its name here is keepdims",
    ),
    "check_values('all')": Mistake(
        """
        with mx.check_values('all'):
            pass
        """,
        TypeError,
        "check_values: expected values to be a bool | 'all'",
    ),
}
