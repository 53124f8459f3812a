"""Mistakes in the code of a HybridBlock."""

from tests.messages.mistake import Mistake

MISTAKES = {
    "shape": Mistake(
        """
        class Net(nn.HybridBlock):
            def hybrid_forward(self, F, x):
                return x.reshape((x.shape[0], -1))
        net = Net()
        net.hybridize()
        net(nd.ones((2, 3)))
        """,
        AttributeError,
        "x.shape | Symbol | F.reshape | F.shape_array | forward(self, x) | user.py:",
    ),
    "size": Mistake(
        """
        class Net(nn.HybridBlock):
            def hybrid_forward(self, F, x):
                return x.sum() / x.size
        net = Net()
        net.hybridize()
        net(nd.ones((2, 3)))
        """,
        AttributeError,
        "x.size | Symbol | F.size_array | user.py:",
    ),
    "ndim": Mistake(
        """
        class Net(nn.HybridBlock):
            def hybrid_forward(self, F, x):
                return x + x.ndim
        net = Net()
        net.hybridize()
        net(nd.ones((2, 3)))
        """,
        AttributeError,
        "x.ndim | Symbol | constructor | forward(self, x) | user.py:",
    ),
    "x[:, 0]": Mistake(
        """
        class Net(nn.HybridBlock):
            def hybrid_forward(self, F, x):
                return x[:, 0]
        net = Net()
        net.hybridize()
        net(nd.ones((2, 3)))
        """,
        TypeError,
        "x[:, 0] | F.slice(x, begin=(None, 0), end=(None, 1)).squeeze(axis=(1,)) | user.py:",
    ),
    "np.tanh": Mistake(
        """
        class Net(nn.HybridBlock):
            def hybrid_forward(self, F, x):
                return onp.tanh(x)
        net = Net()
        net.hybridize()
        net(nd.ones((2, 3)))
        """,
        TypeError,
        "NumPy | functions of F | user.py:",
    ),
    "len": Mistake(
        """
        class Net(nn.HybridBlock):
            def hybrid_forward(self, F, x):
                return x * len(x)
        net = Net()
        net.hybridize()
        net(nd.ones((2, 3)))
        """,
        NotImplementedError,
        "len(x) | Symbol | F.split | user.py:",
    ),
    "iter": Mistake(
        """
        class Net(nn.HybridBlock):
            def hybrid_forward(self, F, x):
                total = 0
                for row in x:
                    total = total + row
                return total
        net = Net()
        net.hybridize()
        net(nd.ones((2, 3)))
        """,
        NotImplementedError,
        "iteration | Symbol | F.split | F.contrib.foreach | user.py:",
    ),
    "float": Mistake(
        """
        class Net(nn.HybridBlock):
            def hybrid_forward(self, F, x):
                return x * float(x.sum())
        net = Net()
        net.hybridize()
        net(nd.ones((2, 3)))
        """,
        TypeError,
        "float(x) | no values | do not hybridize | user.py:",
    ),
    "round": Mistake(
        """
        class Net(nn.HybridBlock):
            def hybrid_forward(self, F, x):
                return x * round(x.sum(), 1)
        net = Net()
        net.hybridize()
        net(nd.ones((2, 3)))
        """,
        TypeError,
        "round(x) | no values | do not hybridize | user.py:",
    ),
    "format": Mistake(
        """
        class Net(nn.HybridBlock):
            def hybrid_forward(self, F, x):
                print(f"{x.sum():.3f}")
                return x
        net = Net()
        net.hybridize()
        net(nd.ones((2, 3)))
        """,
        TypeError,
        'f"{x:.3f}" | no values | do not hybridize | user.py:',
    ),
    "int": Mistake(
        """
        class Net(nn.HybridBlock):
            def hybrid_forward(self, F, x):
                return x * int(x.sum())
        net = Net()
        net.hybridize()
        net(nd.ones((2, 3)))
        """,
        TypeError,
        "int(x) | no values | user.py:",
    ),
    "x[0]": Mistake(
        """
        class Net(nn.HybridBlock):
            def hybrid_forward(self, F, x):
                return x[0]
        net = Net()
        net.hybridize()
        net(nd.ones((2, 3)))
        """,
        NotImplementedError,
        "x[0] | Symbol | F.slice_axis(x, axis=0, begin=0, end=1).squeeze(axis=0) | user.py:",
    ),
    "x[0:1]": Mistake(
        """
        class Net(nn.HybridBlock):
            def hybrid_forward(self, F, x):
                return x[0:1]
        net = Net()
        net.hybridize()
        net(nd.ones((2, 3)))
        """,
        NotImplementedError,
        "x[0:1] | F.slice_axis(x, axis=0, begin=0, end=1) | user.py:",
    ),
    "x[-1]": Mistake(
        """
        class Net(nn.HybridBlock):
            def hybrid_forward(self, F, x):
                return x[-1]
        net = Net()
        net.hybridize()
        net(nd.ones((2, 3)))
        """,
        NotImplementedError,
        "x[-1] | begin=-1, end=None | user.py:",
    ),
    "x[mask]": Mistake(
        """
        class Net(nn.HybridBlock):
            def hybrid_forward(self, F, x):
                return x[x > 0]
        net = Net()
        net.hybridize()
        net(nd.ones((2, 3)))
        """,
        TypeError,
        "F.where | boolean_mask | user.py:",
    ),
    "x[0] =": Mistake(
        """
        class Net(nn.HybridBlock):
            def hybrid_forward(self, F, x):
                x[0] = 1
                return x
        net = Net()
        net.hybridize()
        net(nd.ones((2, 3)))
        """,
        TypeError,
        "x[...] = y | Symbol | user.py:",
    ),
    "if": Mistake(
        """
        class Net(nn.HybridBlock):
            def hybrid_forward(self, F, x):
                if x.sum() > 0:
                    return x
                return -x
        net = Net()
        net.hybridize()
        net(nd.ones((2, 3)))
        """,
        NotImplementedError,
        "`if` | F.where | user.py:",
    ),
    "while": Mistake(
        """
        class Net(nn.HybridBlock):
            def hybrid_forward(self, F, x):
                while (x < 3).sum():
                    x = x + 1
                return x
        net = Net()
        net.hybridize()
        net(nd.ones((2, 3)))
        """,
        NotImplementedError,
        "F.where | user.py:",
    ),
    "unpack": Mistake(
        """
        class Net(nn.HybridBlock):
            def hybrid_forward(self, F, x):
                a, b = x
                return a + b
        net = Net()
        net.hybridize()
        net(nd.ones((2, 3)))
        """,
        NotImplementedError,
        "iteration | F.split | user.py:",
    ),
    "asnumpy": Mistake(
        """
        class Net(nn.HybridBlock):
            def hybrid_forward(self, F, x):
                return F.array(x.asnumpy() * 2)
        net = Net()
        net.hybridize()
        net(nd.ones((2, 3)))
        """,
        AttributeError,
        "'array' | get_constant",
    ),
    "dtype": Mistake(
        """
        class Net(nn.HybridBlock):
            def hybrid_forward(self, F, x):
                return F.cast(x > 0, x.dtype)
        net = Net()
        net.hybridize()
        net(nd.ones((2, 3)))
        """,
        AttributeError,
        "x.dtype | F.zeros_like | user.py:",
    ),
    "context": Mistake(
        """
        class Net(nn.HybridBlock):
            def hybrid_forward(self, F, x):
                return x + F.ones((1,), ctx=x.context)
        net = Net()
        net.hybridize()
        net(nd.ones((2, 3)))
        """,
        AttributeError,
        "x.context | leave ctx= out | user.py:",
    ),
    "item": Mistake(
        """
        class Net(nn.HybridBlock):
            def hybrid_forward(self, F, x):
                return x * x.sum().item()
        net = Net()
        net.hybridize()
        net(nd.ones((2, 3)))
        """,
        NotImplementedError,
        "x.item() | no values | user.py:",
    ),
    "print values": Mistake(
        """
        class Net(nn.HybridBlock):
            def hybrid_forward(self, F, x):
                print(x.max().asscalar())
                return x
        net = Net()
        net.hybridize()
        net(nd.ones((2, 3)))
        """,
        NotImplementedError,
        "x.asscalar() | no values | user.py:",
    ),
    "fills": Mistake(
        """
        class Net(nn.HybridBlock):
            def hybrid_forward(self, F, x):
                x += 1
                return x
        net = Net()
        net.hybridize()
        net(nd.ones((2, 3)))
        """,
        NotImplementedError,
        "in-place | x = x + y | user.py:",
    ),
    "numpy constant": Mistake(
        """
        class Net(nn.HybridBlock):
            def hybrid_forward(self, F, x):
                return x + onp.ones((3,))
        net = Net()
        net.hybridize()
        net(nd.ones((2, 3)))
        """,
        TypeError,
        "numpy.ndarray | get_constant | user.py:",
    ),
    "nd constant": Mistake(
        """
        class Net(nn.HybridBlock):
            def hybrid_forward(self, F, x):
                return x + nd.ones((3,))
        net = Net()
        net.hybridize()
        net(nd.ones((2, 3)))
        """,
        TypeError,
        "NDArray | get_constant | user.py:",
    ),
    "F.nope": Mistake(
        """
        class Net(nn.HybridBlock):
            def hybrid_forward(self, F, x):
                return F.rellu(x)
        net = Net()
        net.hybridize()
        net(nd.ones((2, 3)))
        """,
        AttributeError,
        "'rellu' | 'relu'",
    ),
    "forgot param": Mistake(
        """
        class Net(nn.HybridBlock):
            def __init__(self):
                super().__init__()
                self.weight = self.params.get('weight', shape=(3,))
            def hybrid_forward(self, F, x):
                return x * weight
        net = Net()
        net.initialize()
        net.hybridize()
        net(nd.ones((2, 3)))
        """,
        TypeError,
        "argument for the Parameter weight | hybrid_forward(self, F, x)",
    ),
    "param not arg, weight as Parameter": Mistake(
        """
        class Net(nn.HybridBlock):
            def __init__(self):
                super().__init__()
                self.weight = self.params.get('weight', shape=(3,))
            def hybrid_forward(self, F, x, **kwargs):
                return x * self.weight
        net = Net()
        net.initialize()
        net(nd.ones((2, 3)))
        """,
        TypeError,
        "Parameter | argument of its name",
    ),
    "no F": Mistake(
        """
        class Net(nn.HybridBlock):
            def hybrid_forward(self, x):
                return x
        net = Net()
        net(nd.ones((2, 3)))
        """,
        TypeError,
        "hybrid_forward(self, F, x | hybrid_forward(self, x)",
    ),
    "no super init": Mistake(
        """
        class Net(nn.HybridBlock):
            def __init__(self):
                self.dense = nn.Dense(3)
        Net()
        """,
        AssertionError,
        "super().__init__() | dense",
    ),
    "no super init no child": Mistake(
        """
        class Net(nn.HybridBlock):
            def __init__(self):
                self.n = 3
            def hybrid_forward(self, F, x):
                return x * self.n
        Net()(nd.ones((2,)))
        """,
        AssertionError,
        "super().__init__() | Net",
    ),
    "forward misspelt": Mistake(
        """
        class Net(nn.HybridBlock):
            def hybird_forward(self, F, x):
                return x
        Net()(nd.ones((2,)))
        """,
        NotImplementedError,
        "Net | hybrid_forward(self, F, x, ...) | neither",
    ),
    "returns None": Mistake(
        """
        class Net(nn.HybridBlock):
            def hybrid_forward(self, F, x):
                F.relu(x)
        net = Net()
        net.hybridize()
        net(nd.ones((2, 3)))
        """,
        RuntimeError,
        "NoneType | return missing",
    ),
    "list of layers": Mistake(
        """
        class Net(nn.HybridBlock):
            def __init__(self):
                super().__init__()
                self.layers = [nn.Dense(3), nn.Dense(4)]
            def hybrid_forward(self, F, x):
                for layer in self.layers:
                    x = layer(x)
                return x
        net = Net()
        net.initialize()
        net(nd.ones((2, 3)))
        """,
        AssertionError,
        "layers in a Python list | nn.Sequential",
    ),
}
