"""Samples that are made in their row of the batch, and those that somebody keeps."""

import gc
from typing import Any

import numpy as np

from gluonish import nd
from gluonish.gluon.data import ArrayDataset, DataLoader, Dataset
from gluonish.gluon.data.load import load_batch
from gluonish.gluon.data.stacking import Rows, current, new_sample, stack_on_host
from gluonish.gluon.data.vision import transforms
from gluonish.io.shared_batch import ndarray_view

IMAGES = np.random.default_rng(0).integers(0, 256, (24, 6, 5, 3)).astype(np.uint8)
WANT = (IMAGES.astype(np.float32) / 255).transpose(0, 3, 1, 2)


class Images(Dataset):
    """Images as float planes; keeps what it made, or half of each, if told so."""

    def __init__(self, keeps: str = "", other_every: int = 0) -> None:
        self.keeps = keeps
        self.other_every = other_every
        self.kept: dict[int, Any] = {}
        self.to_tensor = transforms.ToTensor()

    def __len__(self) -> int:
        return len(IMAGES)

    def __getitem__(self, idx: int) -> Any:
        if idx in self.kept:
            return self.kept[idx]
        made = self.to_tensor(nd.array(IMAGES[idx], dtype="uint8"))
        if self.other_every and idx % self.other_every == 0:
            made = made + 0
        if self.keeps == "all":
            self.kept[idx] = made
        elif self.keeps == "views":
            self.kept[idx] = nd.concat(made[:1], made[1:], dim=0)
            self.kept[-idx - 1] = made[:2]
        return made


def test_a_batch_is_made_of_its_rows_without_a_copy() -> None:
    memory = []

    def empty(shape: tuple[int, ...], dtype: Any) -> Any:
        memory.append(np.empty(shape, dtype))
        return memory[-1]

    rows = Rows(4, empty)
    batch = load_batch(Images(), [3, 1, 2, 0], stack_on_host, rows)
    assert rows.are_batch
    assert len(memory) == 1
    assert batch is memory[0]
    np.testing.assert_array_equal(batch, WANT[[3, 1, 2, 0]])


def test_rows_that_nobody_holds_are_not_kept() -> None:
    rows = Rows(4, np.empty)
    load_batch(Images(), [3, 1, 2, 0], stack_on_host, rows)
    gc.collect()
    assert not rows.are_referenced


def test_a_view_of_a_sample_keeps_its_row() -> None:
    rows = Rows(2, np.empty)
    rows.begin(0)
    view = rows.acquire((3, 4), np.float32)[1:, ::2][0]  # type: ignore[index]  # it is there
    assert rows.are_referenced
    del view
    assert not rows.are_referenced


def test_a_sample_has_one_row_and_only_while_it_is_made() -> None:
    rows = Rows(2, np.empty)
    token = current.set(rows)
    try:
        rows.begin(1)
        first, second = new_sample((2,), np.float32), new_sample((2,), np.float32)
        rows.begin(None)
        third = new_sample((2,), np.float32)
    finally:
        current.reset(token)
    assert [np.shares_memory(array, rows._memory) for array in (first, second, third)] == [
        *(True, False, False)
    ]


def test_samples_of_other_shapes_get_no_row() -> None:
    rows = Rows(3, np.empty)
    rows.begin(0)
    assert rows.acquire((2,), np.float32) is not None
    for number, kind in enumerate([((3,), np.float32), ((2,), np.float64)], 1):
        rows.begin(number)
        assert rows.acquire(*kind) is None


def test_rows_in_another_order_are_no_batch() -> None:
    rows = Rows(2, np.empty)
    made = []
    for number in range(2):
        rows.begin(number)
        made.append(rows.acquire((2,), np.float32))
    assert rows.batch_of([made[1], made[0]]) is None  # type: ignore[list-item]  # they are there
    assert rows.batch_of([made[0]]) is None  # type: ignore[list-item]  # the same
    assert not rows.are_batch


def loaded(dataset: Any, passes: int = 3, **options: Any) -> None:
    """Take passes and compare all batches, which are written into as a program may."""
    loader = DataLoader(dataset, 4, num_workers=2, **options)
    for _ in range(passes):
        for i, batch in enumerate(loader):
            np.testing.assert_array_equal(batch.asnumpy(), WANT[4 * i : 4 * i + 4])
            batch[:] = -1


def test_batches_of_rows_are_right_in_every_pass() -> None:
    loaded(Images(), 6)


def test_a_dataset_that_keeps_its_samples_keeps_them_unharmed() -> None:
    loaded(Images("all"), 6)


def test_a_dataset_that_keeps_views_keeps_them_unharmed() -> None:
    loaded(Images("views"), 6)


def test_samples_from_elsewhere_go_beside_rows() -> None:
    loaded(Images(other_every=3), 4)
    loaded(Images("all", other_every=3), 6)


def test_threads_load_the_same() -> None:
    loaded(Images("all"), 3, thread_pool=True)


def test_a_batch_of_lists_holds_its_samples() -> None:
    dataset = ArrayDataset(list(IMAGES)).transform(_as_tensor)
    loader = DataLoader(dataset, 4, num_workers=1, batchify_fn=list)
    for _ in range(3):
        batches = list(loader)
        for i, batch in enumerate(batches):
            got = np.stack([sample.asnumpy() for sample in batch])
            np.testing.assert_array_equal(got, WANT[4 * i : 4 * i + 4])


def _as_tensor(image: Any) -> Any:
    return transforms.ToTensor()(ndarray_view(np.array(image)))
