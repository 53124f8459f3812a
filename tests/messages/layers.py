"""Mistakes in building and calling networks."""

from tests.messages.mistake import Mistake

MISTAKES = {
    "deep layer shape": Mistake(
        """
        net = nn.HybridSequential()
        for i in range(6): net.add(nn.Dense(4, in_units=4))
        net.add(nn.Dense(4, in_units=5))
        net.initialize()
        net(nd.ones((2, 4)))
        """,
        ValueError,
        "net[6] | expected data with 5 features, got 4",
    ),
    "deep layer shape hybrid": Mistake(
        """
        net = nn.HybridSequential()
        for i in range(6): net.add(nn.Dense(4, in_units=4))
        net.add(nn.Dense(4, in_units=5))
        net.initialize()
        net.hybridize()
        net(nd.ones((2, 4)))
        """,
        ValueError,
        "net[6] | expected data with 5 features, got 4",
    ),
    "deep conv": Mistake(
        """
        class Stage(nn.HybridBlock):
            def __init__(self):
                super().__init__()
                self.conv = nn.Conv2D(4, 3, in_channels=5)
            def hybrid_forward(self, F, x):
                return F.relu(self.conv(x))
        class Net(nn.HybridBlock):
            def __init__(self):
                super().__init__()
                self.stage2 = nn.HybridSequential()
                self.stage2.add(Stage())
            def hybrid_forward(self, F, x):
                return self.stage2(x)
        class Top(nn.HybridBlock):
            def __init__(self):
                super().__init__()
                self.backbone = Net()
            def hybrid_forward(self, F, x):
                return self.backbone(x)
        net = Top()
        net.initialize()
        net.hybridize()
        net(nd.ones((2, 4, 8, 8)))
        """,
        ValueError,
        "backbone.stage2[0].conv | expected data with 5 channels | got 4 | user.py:",
    ),
    "deep conv imperative": Mistake(
        """
        class Stage(nn.HybridBlock):
            def __init__(self):
                super().__init__()
                self.conv = nn.Conv2D(4, 3, in_channels=5)
            def forward(self, x):
                return npx.relu(self.conv(x))
        class Net(nn.HybridBlock):
            def __init__(self):
                super().__init__()
                self.stage2 = nn.HybridSequential()
                self.stage2.add(Stage())
            def forward(self, x):
                return self.stage2(x)
        net = Net()
        net.initialize()
        net(np.ones((2, 4, 8, 8)))
        """,
        ValueError,
        "stage2[0].conv | expected data with 5 channels | got 4",
    ),
    "deep conv 2.0 hybrid": Mistake(
        """
        class Stage(nn.HybridBlock):
            def __init__(self):
                super().__init__()
                self.conv = nn.Conv2D(4, 3, in_channels=5)
            def forward(self, x):
                return npx.relu(self.conv(x))
        class Net(nn.HybridBlock):
            def __init__(self):
                super().__init__()
                self.stage2 = nn.HybridSequential()
                self.stage2.add(Stage())
            def forward(self, x):
                return self.stage2(x)
        net = Net()
        net.initialize()
        net.hybridize()
        net(np.ones((2, 4, 8, 8)))
        """,
        ValueError,
        "stage2[0].conv | expected data with 5 channels | got 4 | user.py:",
    ),
    "uninitialized": Mistake(
        """
        net = nn.HybridSequential()
        net.add(nn.Dense(3), nn.Dense(4))
        net(nd.ones((2, 3)))
        """,
        AssertionError,
        "net[0].weight | initialize()",
    ),
    "Sequential class not instance": Mistake(
        """
        net = nn.Sequential(nn.Dense, nn.Dense)
        """,
        TypeError,
        "the class Dense | Dense(...)",
    ),
    "Sequential function": Mistake(
        """
        net = nn.HybridSequential()
        net.add(nd.relu)
        """,
        TypeError,
        "function | nn.HybridLambda('relu')",
    ),
    "Sequential append": Mistake(
        """
        net = nn.HybridSequential()
        net.append(nn.Dense(3))
        """,
        AttributeError,
        "net.add(layer)",
    ),
    "Dense(10, 5)": Mistake(
        """
        nn.Dense(10, 5)
        """,
        TypeError,
        "activation | got 5 | number of outputs | in_units",
    ),
    "Dense activation fn": Mistake(
        """
        nn.Dense(3, activation=nd.relu)
        """,
        TypeError,
        "activation | relu | pass its name",
    ),
    "Dense activation Block": Mistake(
        """
        nn.Dense(3, activation=nn.LeakyReLU(0.1))
        """,
        TypeError,
        "LeakyReLU | next layer",
    ),
    "Dense activation call": Mistake(
        """
        net = nn.Dense(3, activation='rellu')
        net.initialize()
        net(nd.ones((2, 3)))
        """,
        ValueError,
        "'rellu' | 'relu' | act",
    ),
    "collect_params()[0]": Mistake(
        """
        nn.Dense(3).collect_params()[0]
        """,
        KeyError,
        "got 0 | list(params.values())",
    ),
    "collect_params name": Mistake(
        """
        nn.Dense(3, prefix='a_long_name_').collect_params()['weigth']
        """,
        KeyError,
        "'weigth' | 'weight'",
    ),
    "BatchNorm momentum": Mistake(
        """
        nn.BatchNorm(momentum='x')
        """,
        TypeError,
        "momentum | number | 'x'",
    ),
    "Conv2D uint8": Mistake(
        """
        net = nn.Conv2D(4, 3)
        net.initialize()
        net(nd.zeros((1, 3, 8, 8), dtype='uint8'))
        """,
        ValueError,
        "float32 | uint8 | x.astype('float32')",
    ),
    "numpy batch": Mistake(
        """
        net = nn.Dense(4)
        net.initialize()
        net(onp.ones((2, 3), 'float32'))
        """,
        TypeError,
        "numpy.ndarray | mx.nd.array(x)",
    ),
    "list batch": Mistake(
        """
        net = nn.Dense(4)
        net.initialize()
        net([[1., 2.]])
        """,
        TypeError,
        "list | mx.nd.array",
    ),
    "no input": Mistake(
        """
        nn.Dense(4)()
        """,
        TypeError,
        "Dense | expected 1 input (x), got 0",
    ),
    "two inputs Dense": Mistake(
        """
        net = nn.Dense(4)
        net.initialize()
        net(nd.ones((2, 3)), nd.ones((2, 3)))
        """,
        TypeError,
        "expected 1 input (x), got 2",
    ),
    "HWC image": Mistake(
        """
        net = nn.Conv2D(4, 3, in_channels=3)
        net.initialize()
        net(nd.ones((1, 8, 8, 3)))
        """,
        ValueError,
        "expected data with 3 channels | got 8 | x.transpose((0, 3, 1, 2))",
    ),
    "padding same": Mistake(
        """
        nn.Conv2D(3, 3, padding='same')
        """,
        ValueError,
        "'same' | (kernel_size - 1) // 2",
    ),
    "Dense features": Mistake(
        """
        net = nn.Dense(3, in_units=4)
        net.initialize()
        net(nd.ones((2, 5)))
        """,
        ValueError,
        "expected data with 4 features, got 5 | (2, 5)",
    ),
    "Dense second call features": Mistake(
        """
        net = nn.Dense(3)
        net.initialize()
        net(nd.ones((2, 4)))
        net(nd.ones((2, 5)))
        """,
        ValueError,
        "expected data with 4 features, got 5",
    ),
    "Dense second call hybrid": Mistake(
        """
        net = nn.Dense(3)
        net.initialize()
        net.hybridize()
        net(nd.ones((2, 4)))
        net(nd.ones((2, 5)))
        """,
        ValueError,
        "expected data with 4 features, got 5",
    ),
    "Conv channels": Mistake(
        """
        net = nn.Conv2D(3, 3, in_channels=4)
        net.initialize()
        net(nd.ones((2, 5, 8, 8)))
        """,
        ValueError,
        "expected data with 4 channels | got 5",
    ),
    "Conv 3 dims": Mistake(
        """
        net = nn.Conv2D(3, 3, in_channels=4)
        net.initialize()
        net(nd.ones((4, 8, 8)))
        """,
        ValueError,
        "4 axes | (4, 8, 8) | x.expand_dims(axis=0)",
    ),
    "BatchNorm channels": Mistake(
        """
        net = nn.BatchNorm(in_channels=4)
        net.initialize()
        net(nd.ones((2, 5, 8, 8)))
        """,
        ValueError,
        "expected data with 4 channels | got 5",
    ),
    "LSTM features": Mistake(
        """
        net = rnn.LSTM(4, input_size=3)
        net.initialize()
        net(nd.ones((5, 2, 7)))
        """,
        ValueError,
        "expected data with 3 features | got 7",
    ),
    "LSTM 2 dims": Mistake(
        """
        net = rnn.LSTM(4, input_size=3)
        net.initialize()
        net(nd.ones((5, 3)))
        """,
        ValueError,
        "(time, batch, features) | (5, 3)",
    ),
    "kernel too large": Mistake(
        """
        net = nn.Conv2D(3, 9, in_channels=4)
        net.initialize()
        net(nd.ones((2, 4, 5, 5)))
        """,
        ValueError,
        "as large as the kernel | (9, 9)",
    ),
    "Embedding float index": Mistake(
        """
        net = nn.Embedding(5, 3)
        net.initialize()
        net(nd.array([7, 1]))[0].asnumpy()
        """,
        IndexError,
        "from 0 to 4 | 7",
    ),
    "Dropout 2 call": Mistake(
        """
        net = nn.Dropout(2)
        net.initialize()
        with autograd.record(): net(nd.ones((2, 3)))
        """,
        ValueError,
        "rate in [0, 1] | got 2",
    ),
    "Dense negative call": Mistake(
        """
        net = nn.Dense(-3)
        net.initialize()
        net(nd.ones((2, 3)))
        """,
        ValueError,
        "units of 1 or more | -3",
    ),
    "BatchNorm 64 call": Mistake(
        """
        net = nn.BatchNorm(64)
        net.initialize()
        net(nd.ones((2, 3)))
        """,
        ValueError,
        "axis | got 64 | in_channels=64",
    ),
    "LayerNorm 64 call": Mistake(
        """
        net = nn.LayerNorm(64)
        net.initialize()
        net(nd.ones((2, 64)))
        """,
        ValueError,
        "axis | got 64 | in_channels=64",
    ),
    "init text call": Mistake(
        """
        net = nn.Dense(3, weight_initializer='xaver')
        net.initialize()
        net(nd.ones((2, 3)))
        """,
        ValueError,
        "'xaver' | 'xavier'",
    ),
    "init number": Mistake(
        """
        net = nn.Dense(3, in_units=3)
        net.initialize(0.1)
        """,
        TypeError,
        "Initializer | 0.1 | mx.init.Constant(value)",
    ),
    "weight.data= call": Mistake(
        """
        net = nn.Dense(3, in_units=2)
        net.initialize()
        net.weight.data = nd.ones((3, 2))
        net(nd.ones((1, 2)))
        """,
        AssertionError,
        "weight | set_data(array)",
    ),
    "assign weight": Mistake(
        """
        net = nn.Dense(3)
        net.weight = nd.ones((3, 2))
        """,
        TypeError,
        "weight | Parameter | NDArray",
    ),
    "set_data shape": Mistake(
        """
        net = nn.Dense(3, in_units=2)
        net.initialize()
        net.weight.set_data(nd.ones((2, 3)))
        """,
        AssertionError,
        "(3, 2) | (2, 3)",
    ),
    "Conv kernel missing": Mistake(
        """
        nn.Conv2D(3)
        """,
        TypeError,
        "kernel_size | Conv2D(channels, kernel_size, ...)",
    ),
    "Dense units missing": Mistake(
        """
        nn.Dense()
        """,
        TypeError,
        "units",
    ),
    "Dense float": Mistake(
        """
        nn.Dense(3.5)
        """,
        TypeError,
        "units to be an int | 3.5",
    ),
    "Flatten positional": Mistake(
        """
        nn.Flatten(1)
        """,
        TypeError,
        "at most 0 arguments | got 1",
    ),
    "Conv tuple": Mistake(
        """
        nn.Conv2D(3, (3, 3, 3))
        """,
        ValueError,
        "kernel_size | 2 ints | (3, 3, 3)",
    ),
    "Conv layout": Mistake(
        """
        nn.Conv2D(3, 3, layout='CHW')
        """,
        ValueError,
        "NCHW or NHWC | 'CHW'",
    ),
    "MHA": Mistake(
        """
        nn.MultiHeadAttention(10, 3)
        """,
        ValueError,
        "num_heads that divides units 10 | got 3",
    ),
    "share params": Mistake(
        """
        nn.Dense(3, params=nn.Dense(3))
        """,
        TypeError,
        "params to be a ParameterDict | other.params",
    ),
    "hybridize kw": Mistake(
        """
        nn.Dense(3).hybridize(static_allocs=True)
        """,
        TypeError,
        "'static_allocs' | 'static_alloc'",
    ),
    "Sequential index": Mistake(
        """
        nn.Sequential(nn.Dense(3))[5]
        """,
        IndexError,
        "index below 1 | got 5",
    ),
    "HybridLambda name": Mistake(
        """
        nn.HybridLambda('rellu')
        """,
        ValueError,
        "'rellu' | 'relu'",
    ),
    "net.summary shape": Mistake(
        """
        net = nn.Dense(3)
        net.initialize()
        net.summary((2, 3))
        """,
        TypeError,
        "net.summary(mx.nd.ones | (2, 3)",
    ),
    "summary()": Mistake(
        """
        net = nn.Dense(3)
        net.initialize()
        net.summary()
        """,
        TypeError,
        "net.summary(mx.nd.ones | none",
    ),
    "model zoo unknown": Mistake(
        """
        mx.gluon.model_zoo.vision.get_model('resnet51_v1')
        """,
        ValueError,
        "'resnet51_v1' | 'resnet50_v1' | gluonish zoo list",
    ),
    "forward without self": Mistake(
        """
        class Net(gluon.HybridBlock):
            def forward(x):
                return x
        Net()(nd.ones((2, 3)))
        """,
        TypeError,
        "Net | forward(x) | got 1 input | its first argument is self",
    ),
    "forward with another number of inputs": Mistake(
        """
        class Net(gluon.HybridBlock):
            def forward(self, x, mask):
                return x * mask
        net = Net()
        net.hybridize()
        net(nd.ones((2, 3)))
        """,
        TypeError,
        "Net | forward(self, x, mask) | got 1 input",
    ),
    "flat images into Conv2D": Mistake(
        """
        net = nn.Conv2D(3, 3)
        net.initialize()
        net(nd.ones((2, 784)))
        """,
        ValueError,
        "4 axes | (2, 784) | x.reshape((0, channels, height, width))",
    ),
    "Dense of a number": Mistake(
        """
        net = nn.Dense(3)
        net.initialize()
        net(nd.ones(()))
        """,
        ValueError,
        "at least 1 axis | got ()",
    ),
    "Embedding of a vocabulary": Mistake(
        """
        nn.Embedding('vocab', 10)
        """,
        TypeError,
        "input_dim to be an int | 'vocab'",
    ),
    "Sequential of a dict": Mistake(
        """
        nn.Sequential({'dense': nn.Dense(3)})
        """,
        TypeError,
        "dict | *layers.values()",
    ),
    "LSTM with one state": Mistake(
        """
        net = rnn.LSTM(4, input_size=3)
        net.initialize()
        net(nd.ones((5, 2, 3)), nd.ones((1, 2, 4)))
        """,
        ValueError,
        "LSTM | 2 states, got 1 | begin_state(batch_size)",
    ),
    "states of another batch size": Mistake(
        """
        net = rnn.LSTM(4, input_size=3)
        net.initialize()
        net(nd.ones((5, 2, 3)), net.begin_state(batch_size=3))
        """,
        ValueError,
        "(1, 2, 4), got (1, 3, 4) | 2 samples",
    ),
    "input on another device": Mistake(
        """
        net = nn.Dense(3, in_units=2)
        net.initialize(ctx=mx.cpu(0))
        net(nd.ones((1, 2), ctx=mx.cpu(1)))
        """,
        RuntimeError,
        "weight | [cpu(0)] | got cpu(1) | as_in_context | initialize(ctx=[...])",
    ),
    "number of classes of a zoo network": Mistake(
        """
        mx.gluon.model_zoo.vision.resnet18_v1(num_classes=10)
        """,
        TypeError,
        "'num_classes' | its name here is classes",
    ),
}
