"""The mean image subtracted from each sample: loaded from a file, or computed and saved."""

import logging
import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gluonish.core.errors import FileFormatError
from gluonish.core.files import local_path
from gluonish.core.progress import progress_bar
from gluonish.io.image_record.source import ImageRecordSource
from gluonish.ndarray import array, load, save

Array = np.ndarray[Any, Any]

_KEY = "mean_img"
# Parameters of the pass that computes the mean image.
_MEAN_PASS: Mapping[str, Any] = {
    "mirror": False,
    "rand_mirror": False,
    "scale": 1.0,
    "max_random_contrast": 0.0,
    "max_random_illumination": 0.0,
    "round_batch": False,
    "shuffle": False,
    **{f"mean_{letter}": 0.0 for letter in "rgba"},
    **{f"std_{letter}": 1.0 for letter in "rgba"},
}


def mean_image_of(
    name: str,
    parameters: Mapping[str, Any],
    make_source: Callable[[Mapping[str, Any]], ImageRecordSource],
) -> Array:
    """Load the mean image from the file ``mean_img``; if it is missing, compute and save it.

    Args:
        name: Class name of the iterator, for error messages.
        parameters: The iterator's parameters.
        make_source: Creates a source of float32 data from parameters.

    Raises:
        FileFormatError: The file does not contain one image of the right shape, a record is
            damaged, or there are no records.
        OSError: The file cannot be written.
    """
    path = local_path(parameters["mean_img"], name)
    if os.path.exists(path):
        return _load(name, path, parameters["data_shape"])
    overrides = {key: value for key, value in _MEAN_PASS.items() if key in parameters}
    return _make(make_source({**parameters, **overrides}), path)


def _load(name: str, path: str, shape: tuple[int, ...]) -> Array:
    """Load the mean image from a file."""
    found = load(path)
    arrays = list(found.values()) if isinstance(found, dict) else list(found)
    if len(arrays) != 1 or arrays[0].shape != shape:
        raise FileFormatError(
            f"{name}: expected one image {shape} in {path}, mean_img, got arrays "
            f"{[x.shape for x in arrays]}; delete the file to compute it again"
        )
    values: Array = np.asarray(arrays[0].asnumpy(), np.float32)
    return values


def _make(source: ImageRecordSource, path: str) -> Array:
    """Compute the mean of all samples of a source, and save it."""
    total = np.zeros(source.data.shape[1:], np.float64)
    count = 0
    logging.getLogger("gluonish").info("%s: computing the mean image %s", source.name, path)
    with progress_bar(desc=os.path.basename(path), unit="image", delay=2) as progress:
        for batch in source.batches(0, 0):
            assert batch.data is not None
            assert batch.pad is not None
            used = source.batch_size - batch.pad
            total += batch.data[0].asnumpy()[:used].sum(axis=0, dtype=np.float64)
            count += used
            progress.update(used)
    if not count:
        raise FileFormatError(f"{source.name}: expected records to compute {path} from, got none")
    mean = (total / count).astype(np.float32)
    save(path, {_KEY: array(mean)})
    return mean
