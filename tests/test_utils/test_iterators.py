from collections.abc import Iterator

from gluonish import test_utils


class Batches:
    provide_data = ("data", (2, 3))
    provide_label = ("label", (2,))
    batch_size = 2

    def __iter__(self) -> Iterator[str]:
        return iter(["first", "second"])


def test_first_batch_comes_again_and_again() -> None:
    dummy = test_utils.DummyIter(Batches())
    assert iter(dummy) is dummy
    assert [dummy.next(), next(dummy), dummy.the_batch] == ["first"] * 3
    dummy.reset()
    assert dummy.next() == "first"
    assert (dummy.provide_data, dummy.provide_label) == (("data", (2, 3)), ("label", (2,)))
    assert dummy.batch_size == 2
