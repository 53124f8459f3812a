import pytest

from gluonish import nn
from gluonish.core.errors import NotSupportedError


def test_sparse_gradient_is_refused() -> None:
    with pytest.raises(NotSupportedError, match="grad_stype"):
        nn.Embedding(3, 4, sparse_grad=True)
