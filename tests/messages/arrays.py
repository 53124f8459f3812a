"""Mistakes with arrays, devices and Symbols."""

from tests.messages.mistake import Mistake

MISTAKES = {
    "asscalar vector": Mistake(
        """
        nd.ones(3).asscalar()
        """,
        ValueError,
        "size 1 | (3,)",
    ),
    "if array": Mistake(
        """
        if nd.ones(3) > 0: pass
        """,
        ValueError,
        "size 1 | (3,) | .sum()",
    ),
    "shapes add": Mistake(
        """
        nd.ones((2, 3)) + nd.ones((2, 4))
        """,
        ValueError,
        "(2, 3) and (2, 4) | broadcast",
    ),
    "np shapes add": Mistake(
        """
        np.ones((2, 3)) + np.ones((2, 4))
        """,
        ValueError,
        "(2, 3) and (2, 4) | broadcast",
    ),
    "dot": Mistake(
        """
        nd.dot(nd.ones((2, 3)), nd.ones((2, 3)))
        """,
        ValueError,
        "(2, 3) and (2, 3)",
    ),
    "reshape": Mistake(
        """
        nd.ones((2, 3)).reshape((4, 2))
        """,
        ValueError,
        "6 elements | (4, 2)",
    ),
    "nd.zeros ints": Mistake(
        """
        nd.zeros(2, 3)
        """,
        TypeError,
        "got 3 | one tuple: (2, 3)",
    ),
    "transpose ints": Mistake(
        """
        nd.ones((2, 3)).transpose(1, 0)
        """,
        ValueError,
        "one tuple",
    ),
    "nd dtype bad": Mistake(
        """
        nd.ones(3, dtype='floaat32')
        """,
        TypeError,
        "'floaat32'",
    ),
    "cast": Mistake(
        """
        nn.Dense(3).cast('flot16')
        """,
        TypeError,
        "'flot16' | 'float16'",
    ),
    "nd.array ragged": Mistake(
        """
        nd.array([[1, 2], [3]])
        """,
        TypeError,
        "equal lengths",
    ),
    "index out": Mistake(
        """
        nd.ones((2, 3))[5]
        """,
        IndexError,
        "(2, 3) | 5",
    ),
    "index too many": Mistake(
        """
        nd.ones((2, 3))[0, 0, 0]
        """,
        IndexError,
        "(2, 3)",
    ),
    "index float": Mistake(
        """
        nd.ones(3)[1.5]
        """,
        TypeError,
        "integers | 1.5",
    ),
    "set item shape": Mistake(
        """
        x = nd.ones((2, 3))
        x[0] = nd.ones(4)
        """,
        ValueError,
        "(3,) | (4,)",
    ),
    "numpy into op": Mistake(
        """
        nd.relu(onp.ones(3))
        """,
        TypeError,
        "numpy.ndarray | mx.nd.array(x)",
    ),
    "integers + numpy of floats": Mistake(
        """
        nd.ones((2, 2), dtype="int32") + onp.full((2, 2), 0.5)
        """,
        TypeError,
        "int32 | float64 | astype",
    ),
    "NDArray + None": Mistake(
        """
        nd.ones(2) + None
        """,
        TypeError,
        "got None",
    ),
    "axis out": Mistake(
        """
        nd.ones((2, 3)).sum(axis=2)
        """,
        ValueError,
        "axis in [-2, 2) | 2",
    ),
    "split sections": Mistake(
        """
        nd.split(nd.ones((2, 4)), 3, axis=1)
        """,
        ValueError,
        "divisible by 3 | 4",
    ),
    "Context cuda": Mistake(
        """
        mx.Context('cuda', 0)
        """,
        ValueError,
        "'cuda' | gpu is its name here",
    ),
    "nd.custom": Mistake(
        """
        nd.Custom(nd.ones(2), op_type='nope')
        """,
        ValueError,
        "'nope' | mx.operator.register",
    ),
    "sym bind missing": Mistake(
        """
        y = sym.FullyConnected(sym.var('x'), num_hidden=3)
        y.eval(x=nd.ones((2, 3)))
        """,
        ValueError,
        "_weight",
    ),
    "matrix product by @": Mistake(
        """
        nd.ones((2, 3)) @ nd.ones((3, 2))
        """,
        TypeError,
        "@ | nd.dot(x, y)",
    ),
    "comparisons combined by &": Mistake(
        """
        (nd.ones(3) > 0) & (nd.ones(3) < 2)
        """,
        TypeError,
        "& | nd.logical_and(x, y)",
    ),
    "array of texts": Mistake(
        """
        nd.array(['a', 'b'])
        """,
        TypeError,
        "numbers | list of str",
    ),
    "device cuda:0": Mistake(
        """
        np.arange(3, device='cuda:0')
        """,
        ValueError,
        "'cuda:0' | write gpu(0)",
    ),
    "one_hot(num_classes=)": Mistake(
        """
        npx.one_hot(np.array([0, 1]), num_classes=3)
        """,
        ValueError,
        "'num_classes' | its name here is depth",
    ),
    "misspelt function of npx": Mistake(
        """
        npx.set_npp()
        """,
        AttributeError,
        "'set_npp' | 'set_np'",
    ),
    "np.load": Mistake(
        """
        np.load('x.npz')
        """,
        AttributeError,
        "npx.load",
    ),
}
