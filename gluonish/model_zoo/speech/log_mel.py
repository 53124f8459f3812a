"""LogMel: logarithmic mel features of speech, which Whisper reads.

References:
    S. Davis, P. Mermelstein, Comparison of Parametric Representations for Monosyllabic Word
    Recognition in Continuously Spoken Sentences, 1980.
    M. Slaney, Auditory Toolbox, 1998: the mel scale, and triangles of equal areas.
    A. Radford et al., Robust Speech Recognition via Large-Scale Weak Supervision, 2022.
"""

import math
import os
from pathlib import Path
from typing import Any

import numpy as np

from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.core.files import path_text
from gluonish.gluon.nn.tensor import check_positive
from gluonish.model_zoo.pretrained.config import Config, read_config
from gluonish.ndarray import NDArray

__all__ = ["LogMel"]

Values = np.ndarray[Any, Any]

FILE = "preprocessor_config.json"
_HIGHEST = 8000.0  # Hz, of the last band
_LEAST_POWER = 1e-10
_RANGE = 8.0  # powers of ten below the loudest one that are distinguished


class LogMel:
    """Makes features (num_mels, frames) of speech: the logarithm of the power in bands of mels.

    Speech is padded with silence to ``num_samples``. A frame has ``window`` samples around its
    place, weighted by a Hann window; places are ``hop`` samples apart.

    Args:
        num_mels: Number of bands, from 0 to 8,000 Hz.
        rate: Samples a second.
        hop: Samples from frame to frame.
        window: Samples of a frame.
        num_samples: Most samples of speech.

    Raises:
        ArgumentError: A number is below 1, ``window`` is above twice ``num_samples``, or
            frequencies of the window are too few for the bands.

    Example:
        >>> import numpy as np
        >>> from gluonish.model_zoo.speech import LogMel
        >>> LogMel()(np.sin(np.arange(16000))).shape  # one second
        (80, 3000)
    """

    def __init__(
        self,
        num_mels: int = 80,
        rate: int = 16000,
        hop: int = 160,
        window: int = 400,
        num_samples: int = 480000,
    ) -> None:
        check_positive("LogMel", num_mels=num_mels, rate=rate, hop=hop, window=window)
        if num_samples <= window // 2:
            raise ArgumentError(
                f"LogMel: expected more than {window // 2} num_samples, got {num_samples}"
            )
        self.num_mels, self.rate, self.hop, self.num_samples = num_mels, rate, hop, num_samples
        self._hann = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(window) / window)
        self._bands = bands(num_mels, rate, window)
        if not self._bands.any(axis=1).all():
            raise ArgumentError(
                f"LogMel: expected fewer bands than {num_mels}, or a longer window than {window} "
                f"samples: a band has no frequency of {rate / window:g} Hz steps"
            )

    @property
    def num_frames(self) -> int:
        """Number of frames."""
        return self.num_samples // self.hop

    @classmethod
    def from_pretrained(cls, folder: str | os.PathLike[str]) -> "LogMel":
        """Return what ``preprocessor_config.json`` in a folder describes.

        Args:
            folder: Path of the folder.

        Raises:
            FileFormatError: A setting is missing, of another type, or out of range.
            NotSupportedError: A setting, or a value of it, is not known.
            OSError: The file cannot be read.
        """
        path = Path(path_text(folder, "LogMel.from_pretrained"))
        config = Config(read_config(path, FILE), str(path / FILE))
        config.require("feature_extractor_type", "WhisperFeatureExtractor")
        config.require("padding_side", "right")
        config.require("padding_value", 0.0, 0)
        config.require("dither", 0.0, 0)
        rate = config.take("sampling_rate", int, 16000)
        seconds = config.take("chunk_length", int, 30)
        arguments = {
            "num_mels": config.take("feature_size", int, 80, most=1 << 12),
            "rate": rate,
            "hop": config.take("hop_length", int, 160),
            "window": config.take("n_fft", int, 400, most=1 << 16),
            "num_samples": config.take("n_samples", int, seconds * rate),
        }
        # The bands are computed, and the number of frames.
        config.ignore("mel_filters", "nb_max_frames", "return_attention_mask", "processor_class")
        config.ignore("do_normalize", "image_processor_type")
        config.finish()
        return cls(**arguments)

    def __call__(self, speech: Any) -> Values:
        """Return the features of speech, (num_mels, frames) in float32.

        Args:
            speech: Samples of one channel, (T,), floating, from -1 to 1; or a list of such, for
                features (N, num_mels, frames).

        Raises:
            ArgumentError: There are no samples, more than ``num_samples``, or some are not finite.
            ArgumentTypeError: They are not floating, or not of one axis.
        """
        if isinstance(speech, list | tuple):
            return np.stack([self(one) for one in speech]) if speech else self._checked(speech)
        samples = self._checked(speech)
        samples = np.pad(samples, (0, self.num_samples - len(samples)))
        samples = np.pad(samples, len(self._hann) // 2, mode="reflect")
        pieces = np.lib.stride_tricks.sliding_window_view(samples, len(self._hann))
        pieces = pieces[:: self.hop][: self.num_frames]
        power = np.abs(np.fft.rfft(pieces * self._hann)) ** 2
        found = np.log10(np.maximum(self._bands @ power.T, _LEAST_POWER))
        found = np.maximum(found, found.max() - _RANGE)
        return np.asarray((found + 4.0) / 4.0, np.float32)

    def _checked(self, speech: Any) -> Values:
        samples = np.asarray(speech.asnumpy() if isinstance(speech, NDArray) else speech)
        if samples.ndim != 1 or samples.dtype.kind != "f":
            raise ArgumentTypeError(
                "LogMel: expected floating samples of one channel, (T,), from -1 to 1, got "
                f"{samples.dtype} of shape {samples.shape}"
            )
        if not 0 < len(samples) <= self.num_samples:
            advice = "; split the speech, best where it is silent, and pass a list of the pieces"
            raise ArgumentError(
                f"LogMel: expected 1 to {self.num_samples} samples, which are "
                f"{self.num_samples / self.rate:g} s, got {len(samples)}, which are "
                f"{len(samples) / self.rate:g} s{advice if len(samples) else ''}"
            )
        if not np.isfinite(samples).all():
            raise ArgumentError("LogMel: expected finite samples, got others")
        return samples.astype(np.float64)

    def __repr__(self) -> str:
        return f"LogMel({self.num_mels}, rate={self.rate}, num_samples={self.num_samples})"


def _mels(hertz: float) -> float:
    """Return a frequency in mels: linear up to 1,000 Hz, logarithmic beyond it."""
    if hertz < 1000:
        return hertz * 3 / 200
    return 15 + 27 * math.log(hertz / 1000) / math.log(6.4)


def _hertz(mels: Values) -> Values:
    """Return frequencies of mels; the opposite of `_mels`."""
    return np.where(mels < 15, mels * 200 / 3, 1000 * 6.4 ** ((mels - 15) / 27))


def bands(num_mels: int, rate: int, window: int) -> Values:
    """Return the weights (num_mels, window / 2 + 1) of frequencies in bands: triangles.

    A triangle goes from the middle of the band before it to that of the band behind it, and its
    area in Hz is 1.
    """
    edges = _hertz(np.linspace(0, _mels(_HIGHEST), num_mels + 2))
    frequencies = np.arange(window // 2 + 1) * (rate / window)
    widths = np.diff(edges)[:, None]
    apart = frequencies - edges[:, None]
    rising, falling = apart[:-2] / widths[:-1], -apart[2:] / widths[1:]
    heights = 2 / (edges[2:] - edges[:-2])
    return np.asarray(np.maximum(np.minimum(rising, falling), 0) * heights[:, None])
