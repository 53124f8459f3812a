"""Datasets of images: published ones, and those in record files, folders and lists."""

from gluonish.gluon.data.vision.datasets.cifar import CIFAR10, CIFAR100
from gluonish.gluon.data.vision.datasets.image_folder import ImageFolderDataset
from gluonish.gluon.data.vision.datasets.image_list import ImageListDataset
from gluonish.gluon.data.vision.datasets.image_record import ImageRecordDataset
from gluonish.gluon.data.vision.datasets.mnist import MNIST, FashionMNIST

__all__ = [
    "CIFAR10",
    "CIFAR100",
    "MNIST",
    "FashionMNIST",
    "ImageFolderDataset",
    "ImageListDataset",
    "ImageRecordDataset",
]
