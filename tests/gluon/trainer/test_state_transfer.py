"""Files of states that do not fit leave the trainer as it was."""

from pathlib import Path

import numpy as np
import pytest

from gluonish.autograd import record
from gluonish.core.devices import cpu
from gluonish.core.errors import FileFormatError
from gluonish.gluon.nn import Dense
from gluonish.gluon.trainer import Trainer
from gluonish.ndarray import ones


def made(
    units: int, devices: int, update_on_kvstore: bool | None, optimizer: str = "adam"
) -> tuple[Dense, Trainer]:
    """A network and its trainer, after a step."""
    net = Dense(units, in_units=3)
    net.initialize("ones", ctx=[cpu(i) for i in range(devices)])
    options = {} if optimizer == "adam" else {"momentum": 0.9}
    trainer = Trainer(net.collect_params(), optimizer, options, update_on_kvstore=update_on_kvstore)
    step(net, trainer)
    return net, trainer


def step(net: Dense, trainer: Trainer) -> None:
    for context in net.weight.list_ctx():
        with record():
            loss = net(ones((2, 3), ctx=context)).sum()
        loss.backward()
    trainer.step(2)


@pytest.mark.parametrize(("devices", "update_on_kvstore"), [(1, None), (2, False), (2, True)])
@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
def test_states_of_another_network_are_refused_and_training_goes_on(
    tmp_path: Path, devices: int, update_on_kvstore: bool | None, optimizer: str
) -> None:
    made(5, devices, update_on_kvstore)[1].save_states(tmp_path / "other.states")
    (net, trainer), (same, same_trainer) = (
        made(4, devices, update_on_kvstore, optimizer) for _ in range(2)
    )
    known = trainer.optimizer
    with pytest.raises(FileFormatError, match=r"other\.states: .*weight 0, got \(5, 3\)|\(5,\)"):
        trainer.load_states(tmp_path / "other.states")
    assert trainer.optimizer is known
    step(net, trainer)
    step(same, same_trainer)
    np.testing.assert_array_equal(net.weight.data().asnumpy(), same.weight.data().asnumpy())
    for number, each in enumerate((trainer, same_trainer)):
        each.save_states(tmp_path / f"{number}.states")
    assert (tmp_path / "0.states").read_bytes() == (tmp_path / "1.states").read_bytes()


def test_parameters_that_wait_for_their_shapes_take_any_states(tmp_path: Path) -> None:
    made(5, 1, None)[1].save_states(tmp_path / "a.states")
    net = Dense(5)
    net.initialize()
    trainer = Trainer(net.collect_params(), "adam")
    trainer.load_states(tmp_path / "a.states")
    step(net, trainer)
