import numpy as np
import pytest

from gluonish import nd
from gluonish.core.errors import ArgumentTypeError
from gluonish.gluon import nn


def test_beta_may_be_an_array() -> None:
    x, beta = np.array([[-1.0, 0.5, 2.0]], np.float32), np.array([1, 2, 3], np.float32)
    layer = nn.Swish(nd.array(beta))  # type: ignore[arg-type]  # MXNet takes it
    expected = x / (1 + np.exp(-beta * x.astype(np.float64)))
    np.testing.assert_allclose(layer(nd.array(x)).asnumpy(), expected, rtol=1e-6)


@pytest.mark.parametrize("beta", ["1", None, np.array([1.0, 2.0])])
def test_other_betas_are_refused(beta: object) -> None:
    with pytest.raises(ArgumentTypeError, match="Swish: expected beta to be a number"):
        nn.Swish(beta)  # type: ignore[arg-type]
