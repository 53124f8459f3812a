import numpy as np

from tests.checking.values import run_operator


def test_reversing_takes_a_length_beyond_the_end_as_all_of_it() -> None:
    steps = np.array([[0, 3], [1, 4], [2, 5]])
    lengths = np.array([9, 2])
    found = run_operator("SequenceReverse", steps, lengths, use_sequence_length=True)
    assert found.tolist() == [[2, 4], [1, 3], [0, 5]]
