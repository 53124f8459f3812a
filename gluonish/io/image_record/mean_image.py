"""The mean image that is taken off each sample: from its file, or made and stored there."""

import logging
import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gluonish.core.errors import FileFormatError
from gluonish.core.files import local_path
from gluonish.io.image_record.source import ImageRecordSource
from gluonish.ndarray import array, load, save

Array = np.ndarray[Any, Any]

_KEY = "mean_img"
# What the pass that makes a mean image leaves out.
_PLAIN: Mapping[str, Any] = {
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
    """Return the mean image of the file ``mean_img``; it is computed and written if missing.

    Args:
        name: Class name of the iterator, for error messages.
        parameters: The iterator's parameters.
        make_source: Makes a source of float32 data from given parameters.

    Raises:
        FileFormatError: The file does not hold an image of the right shape, a record is damaged,
            or there are no records.
        OSError: The file cannot be written.
    """
    path = local_path(parameters["mean_img"], name)
    if os.path.exists(path):
        return _load(name, path, parameters["data_shape"])
    plain = {key: value for key, value in _PLAIN.items() if key in parameters}
    return _make(make_source({**parameters, **plain}), path)


def _load(name: str, path: str, shape: tuple[int, ...]) -> Array:
    """Return the mean image in a file."""
    found = load(path)
    held = list(found.values()) if isinstance(found, dict) else list(found)
    if len(held) != 1 or held[0].shape != shape:
        raise FileFormatError(
            f"{name}: expected one image {shape} in {path}, mean_img, got arrays "
            f"{[x.shape for x in held]}; delete the file to compute it again"
        )
    values: Array = np.asarray(held[0].asnumpy(), np.float32)
    return values


def _make(source: ImageRecordSource, path: str) -> Array:
    """Return the mean of all samples of a source, and write it to a file."""
    from tqdm import tqdm

    total = np.zeros(source.data.shape[1:], np.float64)
    count = 0
    logging.getLogger("gluonish").info("%s: computing the mean image %s", source.name, path)
    with tqdm(desc=os.path.basename(path), unit="image", delay=2) as progress:
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
