import numpy as np

import gluonish.ndarray as nd
from gluonish.metric import Loss


def test_loss_is_the_mean_over_elements() -> None:
    measured = Loss()
    measured.update(None, nd.array([1, 2, 3]))
    measured.update(None, [nd.array([[4, 5], [6, 7]]), np.array([8.0])])
    assert measured.get() == ("loss", 4.5)
    assert measured.num_inst == 8
