"""Defaults of options by data source, and the options that each source supports.

The numbers are those of MXNet's programs train_mnist, train_cifar10 and train_imagenet.
"""

from typing import Any

# Flag, argument of ImageRecordIter, type, help.
AUGMENTATION: tuple[tuple[str, str, type, str], ...] = (
    ("random-crop", "rand_crop", int, "1 to crop at random"),
    ("random-mirror", "rand_mirror", int, "1 to mirror half of the images"),
    ("random-resized-crop", "random_resized_crop", int, "1 to crop a random area and resize it"),
    ("max-random-h", "random_h", int, "change of hue, 0 to 180"),
    ("max-random-s", "random_s", int, "change of saturation, 0 to 255"),
    ("max-random-l", "random_l", int, "change of lightness, 0 to 255"),
    ("min-random-aspect-ratio", "min_aspect_ratio", float, "least aspect ratio"),
    ("max-random-aspect-ratio", "max_aspect_ratio", float, "greatest aspect ratio, or its change"),
    ("max-random-rotate-angle", "max_rotate_angle", int, "rotation, 0 to 360 degrees"),
    ("max-random-shear-ratio", "max_shear_ratio", float, "shear, 0 to 1"),
    ("max-random-scale", "max_random_scale", float, "greatest scale"),
    ("min-random-scale", "min_random_scale", float, "least scale"),
    ("max-random-area", "max_random_area", float, "largest fraction of the area"),
    ("min-random-area", "min_random_area", float, "smallest fraction of the area"),
    ("max-crop-size", "max_crop_size", int, "greatest side of a crop, pixels"),
    ("min-crop-size", "min_crop_size", int, "least side of a crop, pixels"),
    ("brightness", "brightness", float, "change of brightness, 0 to 1"),
    ("contrast", "contrast", float, "change of contrast, 0 to 1"),
    ("saturation", "saturation", float, "change of saturation, 0 to 1"),
    ("pca-noise", "pca_noise", float, "noise along the principal components of colour"),
    ("pad-size", "pad", int, "pixels to pad with on each side"),
    ("fill-value", "fill_value", int, "value of padding (0 with --dataset, else 127)"),
)
# Options that also apply to data sets in memory.
IN_MEMORY = ("random_crop", "random_mirror", "pad_size", "fill_value")
# Those of record files that `images.ImageBatches` has, too, which then also apply to all data.
OF_PIPELINE = (
    *IN_MEMORY,
    "random_resized_crop",
    "min_random_area",
    "max_random_area",
    "min_random_aspect_ratio",
    "max_random_aspect_ratio",
)
# Options that need `images.ImageBatches`, which makes each image and its augmentation by itself.
PIPELINE = (
    "augment",
    "random_erasing",
    "mixup",
    "cutmix",
    "repeated_aug",
    "interpolation",
    "test_crop",
    "test_image_shape",
)
POLICY = ("augment_magnitude", "augment_std", "augment_ops", "mix_prob")
FOR_RECORDS = (
    "data_train_idx",
    "data_val",
    "data_val_idx",
    "data_nthreads",
)
FOR_TRAINING = ("model_prefix", "load_epoch", "tensorboard", "early_stop", "best_metric")
# Defaults of options that do not depend on the data.
USUAL: dict[str, Any] = {
    "accumulate": 1,
    "benchmark": 0,
    "disp_batches": 20,
    "dtype": "float32",
    "gc_type": "none",
    "hybridize": True,
    "initializer": "default",
    "kv_store": "device",
    "label_smoothing": 0.0,
    "loss": "",
    "lr_factor": 0.1,
    "optimizer": "sgd",
    "progress": "auto",
    "save_period": 1,
    "seed": 0,
    "test_io": 0,
    "top_k": "",
    "train_loss": "softmax",
    "warmup_epochs": 0,
    "wd": 1e-4,
}
# Optimizers with a momentum.
WITH_MOMENTUM = ("dcasgd", "lars", "lbsgd", "nag", "sgd", "signum")
_CIFAR_MEAN = (125.307, 122.961, 113.8575)
_CIFAR_STD = (51.5865, 50.847, 51.255)
_CIFAR: dict[str, Any] = {
    "batch_size": 128,
    "num_epochs": 300,
    "lr_step_epochs": "200,250",
    "lr": 0.05,
    "network": "resnet",
    "image_shape": (3, 32, 32),
    "pad_size": 4,
    "random_crop": 1,
    "random_mirror": 1,
    "rgb_mean": _CIFAR_MEAN,
    "rgb_std": _CIFAR_STD,
}
_GRAY: dict[str, Any] = {
    "batch_size": 64,
    "num_epochs": 20,
    "lr": 0.05,
    "lr_step_epochs": "10",
    "network": "mlp",
    "num_classes": 10,
    "image_shape": (1, 28, 28),
    "pad_size": 0,
    "random_crop": 0,
    "random_mirror": 0,
    "rgb_mean": (0.0,),
    "rgb_std": (255.0,),
}
_LARGE: dict[str, Any] = {
    "batch_size": 128,
    "lr": 0.1,
    "network": "resnet",
    "num_classes": 1000,
    "image_shape": (3, 224, 224),
    "rgb_mean": (123.68, 116.779, 103.939),
    "rgb_std": (1.0, 1.0, 1.0),
}
# Defaults by data set, or by kind of data.
DEFAULTS: dict[str, dict[str, Any]] = {
    "digits": {
        **_GRAY,
        "image_shape": (1, 8, 8),
        "pad_size": 1,
        "random_crop": 1,
        "rgb_std": (16.0,),
    },
    "mnist": _GRAY,
    "fashion-mnist": {**_GRAY, "random_mirror": 1},
    "cifar10": {**_CIFAR, "num_classes": 10},
    "cifar100": {**_CIFAR, "num_classes": 100},
    "records": {
        **_LARGE,
        "num_epochs": 80,
        "lr_step_epochs": "30,60",
        "data_nthreads": 4,
        "fill_value": 127,
    },
    "benchmark": {**_LARGE, "num_epochs": 1, "lr_step_epochs": ""},
}
