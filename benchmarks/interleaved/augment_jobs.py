"""Jobs of augmentation: images that two worker processes change, in gluonish and in torchvision.

Both hold the same smooth pictures of 224 x 224 in bytes, and give batches of 32 in bytes.
"""

import importlib
from typing import Any

import numpy as np

SIZE, COUNT, BATCH, WORKERS = 224, 128, 32, 2

# Our transform and torchvision's, as expressions: `T` and `v2` are the modules.
TRANSFORMS = {
    "AutoContrast": ("T.AutoContrast()", "v2.RandomAutocontrast(1)"),
    "Equalize": ("T.Equalize()", "v2.RandomEqualize(1)"),
    "Posterize": ("T.Posterize(4)", "v2.RandomPosterize(4, 1)"),
    "Solarize": ("T.Solarize(128)", "v2.RandomSolarize(128, 1)"),
    "Sharpness": ("T.Sharpness(1.5)", "v2.RandomAdjustSharpness(1.5, 1)"),
    "RandomAffine": (
        "T.RandomAffine(20, (0.1, 0.1), (0.9, 1.1), 5)",
        "v2.RandomAffine(20, (0.1, 0.1), (0.9, 1.1), 5)",
    ),
    "RandomPerspective": ("T.RandomPerspective(p=1)", "v2.RandomPerspective(p=1)"),
    "GaussianBlur": ("T.GaussianBlur(23)", "v2.GaussianBlur(23)"),
    "RandomErasing": ("T.RandomErasing(1)", "v2.RandomErasing(1)"),
    "RandAugment": ("T.RandAugment()", "v2.RandAugment()"),
    "TrivialAugmentWide": ("T.TrivialAugmentWide()", "v2.TrivialAugmentWide()"),
    "AugMix": ("T.AugMix()", "v2.AugMix()"),
    "RandAugment, MixUp": ("T.RandAugment()", "v2.RandAugment()"),
}


def pictures() -> np.ndarray[Any, Any]:
    """Return smooth pictures with all levels, (COUNT, 224, 224, 3)."""
    small = np.random.default_rng(0).integers(0, 256, (COUNT, 15, 15, 3))
    wide = np.repeat(np.repeat(small, 16, axis=1), 16, axis=2)[:, :SIZE, :SIZE]
    return ((wide + np.roll(wide, 5, 1) + np.roll(wide, 9, 2)) // 3).astype(np.uint8)


class _Loads:
    """A job that goes through all images, which are in batches of ``_loader``."""

    _loader: Any
    _mix: Any = None

    def start(self) -> None:
        """Start the workers, and load all images once."""
        self.run(1)

    def run(self, count: int) -> None:
        """Load all images ``count`` times."""
        for _ in range(count):
            for images, labels in self._loader:
                found = images if self._mix is None else self._mix(images, labels)[0]
                self._read(found)

    def check(self) -> Any:
        """Nothing: draws are not alike."""
        return np.zeros(1)

    def _read(self, images: Any) -> None:
        raise NotImplementedError


class Gluonish(_Loads):
    """DataLoader with transforms of gluonish.

    Args:
        threads: Compute threads; the environment of the process says how many.
        transform: A key of `TRANSFORMS`.
    """

    def __init__(self, threads: int, transform: str) -> None:
        import gluonish as mx
        from gluonish.gluon import data
        from gluonish.gluon.data.vision import transforms as T

        del threads
        self.versions = {"gluonish": mx.__version__}
        change = eval(TRANSFORMS[transform][0], {"T": T})  # an expression of this file
        images = mx.nd.array(pictures(), dtype="uint8")
        labels = np.arange(COUNT, dtype=np.float32) % 10
        dataset = data.ArrayDataset(images, labels).transform_first(change)
        self._loader = data.DataLoader(dataset, BATCH, num_workers=WORKERS, persistent_workers=True)
        if "MixUp" in transform:
            self._mix = T.MixUp(num_classes=10)

    def _read(self, images: Any) -> None:
        images.wait_to_read()


class TorchVision(_Loads):
    """DataLoader of PyTorch with torchvision's transforms v2.

    Args:
        threads: Compute threads.
        transform: A key of `TRANSFORMS`.
        pil: Whether images are Pillow's; otherwise they are tensors.
    """

    def __init__(self, threads: int, transform: str, pil: bool = False) -> None:
        torch: Any = importlib.import_module("torch")
        torchvision: Any = importlib.import_module("torchvision")
        v2: Any = importlib.import_module("torchvision.transforms.v2")
        torch.set_num_threads(threads)
        self.versions = {"torch": torch.__version__, "torchvision": torchvision.__version__}
        change = eval(TRANSFORMS[transform][1], {"v2": v2})  # an expression of this file
        if pil and transform == "RandomErasing":
            raise ValueError("RandomErasing: expected tensors, got Pillow's images")
        values = pictures()
        tensors = torch.from_numpy(values).permute(0, 3, 1, 2).contiguous()

        class Images(torch.utils.data.Dataset):  # type: ignore[misc]  # a class of a module given
            def __len__(self) -> int:
                return COUNT

            def __getitem__(self, index: int) -> Any:
                if not pil:
                    return change(tensors[index]), index % 10
                image: Any = importlib.import_module("PIL.Image").fromarray(values[index])
                return v2.functional.pil_to_tensor(change(image)), index % 10

        self._loader = torch.utils.data.DataLoader(
            Images(), BATCH, num_workers=WORKERS, persistent_workers=True
        )
        if "MixUp" in transform:
            mix = v2.MixUp(num_classes=10)
            self._mix = lambda images, labels: mix(images.float(), labels)

    def _read(self, images: Any) -> None:
        assert images.shape[0]
