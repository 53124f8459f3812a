"""Datasets of images: published datasets, record files, folders and lists."""

from gluonish.gluon.data.vision.datasets.downloaded import CIFAR10, CIFAR100, MNIST, FashionMNIST
from gluonish.gluon.data.vision.datasets.image_files import (
    ImageFolderDataset,
    ImageListDataset,
    ImageRecordDataset,
)

__all__ = [
    "CIFAR10",
    "CIFAR100",
    "MNIST",
    "FashionMNIST",
    "ImageFolderDataset",
    "ImageListDataset",
    "ImageRecordDataset",
]
