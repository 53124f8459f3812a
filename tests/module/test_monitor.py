import logging
import re

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.module.monitor import Monitor

# What MXNet 1.9.1 reports of `executor`, without the gradient of the label, which is none.
OUTPUTS = ["fc_output", "act_output", "softmax_output"]
GRADIENTS = [
    *("softmax_backward_output0", "act_backward_output"),
    *(f"fc_backward_output{i}" for i in range(3)),
]
ARGUMENTS = ["data", "fc_weight", "fc_bias", "softmax_label"]
VALUES = {
    "fc_output": 0.63814276,
    "act_output": 0.63814276,
    "softmax_output": 0.5239814,
    "softmax_backward_output0": 0.6466616,
    "act_backward_output": 0.6466616,
    "fc_backward_output0": 0.27714068,
    "fc_backward_output1": 0.50923425,
    "fc_backward_output2": 1.2872294,
    "data": 0.43252146,
    "fc_weight": 0.43252146,
    "fc_bias": 0.10101526,
    "softmax_label": 0.10101526,
}


@pytest.fixture
def executor():
    x = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc")
    x = mx.sym.Activation(x, act_type="relu", name="act")
    x = mx.sym.SoftmaxOutput(x, name="softmax")
    bound = x.simple_bind(mx.cpu(), data=(2, 3), softmax_label=(2,))
    for values in bound.arg_dict.values():
        values[:] = np.arange(values.size).reshape(values.shape) / 7
    return bound


def batch(monitor: Monitor, executor) -> list[tuple[int, str, str]]:
    monitor.tic()
    executor.forward(is_train=True)
    executor.backward()
    return monitor.toc()


def names(records) -> list[str]:
    return [name for _, name, _ in records]


def test_outputs_and_arguments_are_reported_with_their_magnitude(executor) -> None:
    monitor = Monitor(1)
    monitor.install(executor)
    records = batch(monitor, executor)
    assert names(records) == OUTPUTS + GRADIENTS + ARGUMENTS
    assert {step for step, _, _ in records} == {1}
    for _, name, text in records:
        assert text.endswith("\t")
        assert float(text) == pytest.approx(VALUES[name], rel=1e-5)


def test_a_pattern_chooses_names_from_their_beginning(executor) -> None:
    monitor = Monitor(1, pattern="fc")
    monitor.install(executor)
    found = names(batch(monitor, executor))
    assert found == ["fc_output", *GRADIENTS[2:], "fc_weight", "fc_bias"]
    assert monitor.re_prog == re.compile("fc")


def test_inputs_are_reported_with_monitor_all(executor) -> None:
    monitor = Monitor(1, monitor_all=True, pattern="fc|data")
    monitor.install(executor)
    found = names(batch(monitor, executor))
    assert found[:7] == ["data", "fc_data", *["fc_weight"] * 2, *["fc_bias"] * 2, "fc_output"]


def test_sorted_records_come_by_name(executor) -> None:
    monitor = Monitor(1, sort=True)
    monitor.install(executor)
    assert names(batch(monitor, executor)) == sorted(OUTPUTS + GRADIENTS + ARGUMENTS)


def test_it_is_active_every_so_many_batches(executor) -> None:
    monitor = Monitor(2)
    monitor.install(executor)
    counts = [len(batch(monitor, executor)) for _ in range(5)]
    assert counts == [12, 0, 12, 0, 12]
    assert monitor.step == 5


def test_nothing_is_collected_outside_a_batch(executor) -> None:
    monitor = Monitor(1)
    monitor.install(executor)
    executor.forward()
    assert (monitor.queue, monitor.activated, monitor.toc()) == ([], False, [])


def test_a_statistic_may_be_a_list(executor) -> None:
    monitor = Monitor(1, stat_func=lambda x: [x.max(), x.min()], pattern="act_output")
    monitor.install(executor)
    ((_, _, text),) = batch(monitor, executor)
    assert [float(part) for part in text.split("\t")[:-1]] == pytest.approx([1.1632653, 0.1020408])


def test_a_statistic_may_be_a_whole_array(executor) -> None:
    monitor = Monitor(1, stat_func=lambda x: x, pattern="softmax_label")
    monitor.install(executor)
    ((_, _, text),) = batch(monitor, executor)
    assert text == "[0.         0.14285715]\t"


def test_executors_are_watched_side_by_side(executor) -> None:
    monitor = Monitor(1, pattern="fc_output")
    other = executor._symbol.simple_bind(mx.cpu(), data=(2, 3), softmax_label=(2,))
    monitor.install(executor)
    monitor.install(other)
    assert monitor.exes == [executor, other]
    monitor.tic()
    executor.forward()
    other.forward()
    assert len(monitor.toc()) == 2


def test_lines_are_those_of_mxnet(executor, caplog) -> None:
    monitor = Monitor(1, stat_func=lambda x: x.max(), pattern="fc_bias")
    monitor.install(executor)
    monitor.tic()
    executor.forward()
    with caplog.at_level(logging.INFO):
        monitor.toc_print()
    expected = "Batch:       1 fc_bias                        0.14285715\t"
    assert caplog.record_tuples == [("root", logging.INFO, expected)]


def test_a_statistic_that_is_no_array_is_refused(executor) -> None:
    monitor = Monitor(1, stat_func=lambda x: 3)  # type: ignore[return-value]
    monitor.install(executor)
    monitor.tic()
    executor.forward()
    with pytest.raises(ArgumentTypeError, match="expected stat_func to return an NDArray"):
        monitor.toc()


def test_what_is_no_executor_is_refused() -> None:
    with pytest.raises(ArgumentTypeError, match="expected an Executor, got int"):
        Monitor(1).install(3)


@pytest.mark.parametrize("arguments", [{"interval": 0}, {"interval": 1, "pattern": "("}])
def test_a_wrong_argument_is_refused(arguments) -> None:
    with pytest.raises(ArgumentError, match="Monitor: expected"):
        Monitor(**arguments)
