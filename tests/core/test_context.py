import pickle
import threading
from typing import Any

import numpy as np
import pytest

from gluonish.core.context import Context, cpu, cpu_pinned, cpu_shared, current_context, gpu
from gluonish.core.errors import ArgumentError, ArgumentTypeError


def test_equal_contexts_are_equal_and_one_key() -> None:
    assert cpu() == cpu(0) == Context("cpu") == Context(cpu(0))
    assert len({cpu(0), Context("cpu", 0), cpu(1), gpu(0)}) == 3
    assert cpu(0) != cpu(1)
    assert (cpu(0) == "cpu(0)") is False


@pytest.mark.parametrize(
    ("context", "text", "number"),
    [(cpu(1), "cpu(1)", 1), (gpu(2), "gpu(2)", 2), (cpu_pinned(), "cpu_pinned(0)", 3)],
)
def test_context_prints_and_has_its_number_in_files(
    context: Context, text: str, number: int
) -> None:
    assert (str(context), context.device_typeid) == (text, number)
    assert cpu_shared().device_typeid == 5


def test_numbers_of_numpy_are_taken() -> None:
    assert cpu(np.int64(17)) == cpu(17)
    assert type(cpu(np.int64(18)).device_id) is int


@pytest.mark.parametrize(("device_type", "number"), [("tpu", 0), ("cpu", -1)])
def test_unknown_device_is_refused(device_type: str, number: int) -> None:
    with pytest.raises(ArgumentError, match="Context: expected"):
        Context(device_type, number)


@pytest.mark.parametrize("number", ["0", 1.5, None])
def test_number_must_be_an_int(number: Any) -> None:
    with pytest.raises(ArgumentTypeError, match="expected an int device_id"):
        cpu(number)


def test_scopes_nest_and_end() -> None:
    with cpu(1):
        assert current_context() == cpu(1)
        with gpu(0), cpu(2):
            assert current_context() == cpu(2)
        assert current_context() == cpu(1)
    assert current_context() == cpu(0)


def test_scope_belongs_to_the_thread() -> None:
    seen = []
    with cpu(3):
        thread = threading.Thread(target=lambda: seen.append(current_context()))
        thread.start()
        thread.join(10)
    assert seen == [cpu(0)]


def test_context_survives_a_pickle() -> None:
    assert pickle.loads(pickle.dumps(gpu(3))) == gpu(3)
