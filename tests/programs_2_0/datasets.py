import mxnet as mx
import numpy as onp
from mxnet import np
from mxnet.gluon import data
from mxnet.gluon.data.vision import transforms

from tests.programs_2_0.errors import error

IMAGE = (onp.arange(4 * 5 * 3).reshape(4, 5, 3) * 4).astype("uint8")


def array_dataset():
    d = data.ArrayDataset(onp.arange(6).reshape(3, 2), [10, 20, 30])
    return len(d), d[1]


def array_dataset_of_one():
    d = data.ArrayDataset(np.arange(4))
    return len(d), d[2]


def array_dataset_of_other_lengths():
    return error(data.ArrayDataset, [1, 2], [1, 2, 3])


def simple_dataset():
    d = data.SimpleDataset([3, 1, 2])
    return len(d), d[0], d.transform(lambda x: x * 2)[1]


def transformed_dataset():
    d = data.ArrayDataset(onp.arange(4), onp.arange(4) * 10)
    return d.transform(lambda x, y: (x + 1, y))[2], d.transform_first(lambda x: x * 100)[2]


def eager_and_lazy_transform():
    seen = []
    d = data.SimpleDataset([1, 2])
    d.transform(lambda x: seen.append(x) or x, lazy=True)
    a = len(seen)
    d.transform(lambda x: seen.append(x) or x, lazy=False)
    return a, len(seen)


def dataset_algebra():
    d = data.SimpleDataset(list(range(10)))
    return (
        list(d.filter(lambda x: x % 3 == 0)),
        list(d.shard(3, 0)),
        list(d.shard(3, 2)),
        list(d.take(3)),
        len(d.take(100)),
        list(d.sample(data.SequentialSampler(4))),
    )


def dataset_errors():
    d = data.SimpleDataset([1, 2])
    return error(d.shard, 2, 5), error(lambda: d[7])


def own_dataset():
    class Squares(data.Dataset):
        def __len__(self):
            return 5

        def __getitem__(self, i):
            return onp.float32(i * i), i

    loader = data.DataLoader(Squares(), batch_size=2)
    return list(loader), len(loader)


def samplers():
    return (
        list(data.SequentialSampler(4)),
        list(data.SequentialSampler(2, 3)),
        sorted(data.RandomSampler(5)),
        list(data.BatchSampler(data.SequentialSampler(5), 2, "keep")),
        list(data.BatchSampler(data.SequentialSampler(5), 2, "discard")),
    )


def batch_sampler_rollover():
    s = data.BatchSampler(data.SequentialSampler(5), 2, "rollover")
    return list(s), list(s), len(s)


def interval_sampler():
    return (
        list(data.IntervalSampler(7, 3)) if hasattr(data, "IntervalSampler") else 0,
        list(data.IntervalSampler(7, 3, rollover=False)) if hasattr(data, "IntervalSampler") else 0,
    )


def filter_sampler():
    d = data.SimpleDataset([5, 1, 7, 2])
    return list(data.FilterSampler(lambda x: x > 2, d))


def loader_batches():
    d = data.ArrayDataset(onp.arange(10, dtype="float32").reshape(5, 2), onp.arange(5))
    return [list(data.DataLoader(d, 2, last_batch=k)) for k in ("keep", "discard")]


def loader_rollover():
    d = data.ArrayDataset(onp.arange(5, dtype="float32"))
    loader = data.DataLoader(d, 2, last_batch="rollover")
    return list(loader), list(loader)


def loader_shuffles():
    d = data.ArrayDataset(onp.arange(20))
    seen = np.concatenate(list(data.DataLoader(d, 6, shuffle=True)))
    return np.sort(seen), len(data.DataLoader(d, 6))


def loader_types():
    found = []
    for values in (
        [1, 2],
        [1.5, 2.5],
        [onp.float32(1), onp.float32(2)],
        [onp.ones(2), onp.ones(2)],
    ):
        found += list(data.DataLoader(data.SimpleDataset(values), 2))
    return found


def loader_of_tuples():
    d = data.SimpleDataset([(onp.ones(2, "float32"), 1, 2.5), (onp.zeros(2, "float32"), 0, 3.5)])
    return list(data.DataLoader(d, 2))


def loader_with_sampler():
    d = data.ArrayDataset(onp.arange(6))
    return (
        list(data.DataLoader(d, 2, sampler=data.SequentialSampler(4))),
        list(
            data.DataLoader(
                d, batch_sampler=data.BatchSampler(data.SequentialSampler(6), 3, "keep")
            )
        ),
    )


def loader_argument_errors():
    d = data.ArrayDataset(onp.arange(6))
    return (
        error(data.DataLoader, d),
        error(data.DataLoader, d, 2, shuffle=True, sampler=data.SequentialSampler(6)),
        error(data.DataLoader, d, 2, last_batch="what"),
    )


def own_batchify():
    d = data.SimpleDataset([[1], [2, 3]])
    return list(data.DataLoader(d, 2, batchify_fn=lambda rows: sum(rows, [])))


def batchify_functions():
    b = data.batchify
    pad = b.Pad(val=-1)([onp.array([1.0, 2.0], "float32"), onp.array([3.0], "float32")])
    return pad, b.Stack()([onp.ones(2, "float32"), onp.zeros(2, "float32")])


def batchify_groups():
    b = data.batchify
    f = b.Group(b.Pad(), b.Stack()) if hasattr(b, "Group") else b.Tuple(b.Pad(), b.Stack())
    return f([(onp.array([1, 2]), 0), (onp.array([3]), 1)])


def batchify_lists():
    return (
        data.batchify.AsList()([1, "a"])
        if hasattr(data.batchify, "AsList")
        else data.batchify.List()([1, "a"])
    )


def workers_of_threads():
    d = data.ArrayDataset(onp.arange(10, dtype="float32"))
    return list(data.DataLoader(d, 4, num_workers=2, thread_pool=True))


def to_tensor():
    return transforms.ToTensor()(np.array(IMAGE, dtype="uint8"))


def normalization():
    x = transforms.ToTensor()(np.array(IMAGE, dtype="uint8"))
    return transforms.Normalize((0.5, 0.4, 0.3), (0.1, 0.2, 0.3))(x), transforms.Normalize(0.5, 2)(
        x
    )


def composed_transforms():
    f = transforms.Compose([transforms.ToTensor(), transforms.Normalize(0.5, 0.5)])
    return f(np.array(IMAGE, dtype="uint8"))


def casting_transform():
    return transforms.Cast("float64")(np.array(IMAGE, dtype="uint8"))


def center_crop_and_resize():
    x = np.array(IMAGE, dtype="uint8")
    return transforms.CenterCrop((3, 2))(x), transforms.Resize((10, 8))(x).shape


def crop_resize_fixed():
    return transforms.CropResize(1, 0, 3, 2)(np.array(IMAGE, dtype="uint8"))


def random_flips():
    x = np.array(IMAGE, dtype="uint8")
    y = transforms.RandomFlipLeftRight()(x)
    z = transforms.RandomFlipTopBottom(p=1.0)(x)
    return bool(((y == x).all() | (y == x[:, ::-1]).all()).item()), z.shape


def random_crops():
    x = np.array(IMAGE, dtype="uint8")
    return (
        transforms.RandomResizedCrop(4)(x).shape,
        transforms.RandomCrop((2, 3))(x).shape,
        transforms.RandomBrightness(0.0)(x.astype("float32")).shape,
    )


def color_transforms_of_zero():
    x = np.array(IMAGE).astype("float32")
    return (
        transforms.RandomBrightness(0)(x).max(),
        transforms.RandomContrast(0)(x).max(),
        transforms.RandomSaturation(0)(x).max(),
    )


def random_apply_forms():
    x = np.array(IMAGE, dtype="uint8")
    f = (
        transforms.RandomApply(transforms.ToTensor(), p=1.0)
        if hasattr(transforms, "RandomApply")
        else transforms.ToTensor()
    )
    return f(x).shape


def hybrid_composition():
    f = transforms.HybridCompose([transforms.ToTensor(), transforms.Normalize(0.5, 0.5)])
    f.hybridize()
    return f(np.array(IMAGE, dtype="uint8"))


def transform_first_in_loader():
    d = data.ArrayDataset([np.array(IMAGE, dtype="uint8")] * 3, [0, 1, 2])
    loader = data.DataLoader(d.transform_first(transforms.ToTensor()), batch_size=2)
    return [(x.shape, x.dtype.name, y) for x, y in loader]


def rotation():
    x = transforms.ToTensor()(np.array(IMAGE, dtype="uint8"))
    return transforms.Rotate(90, zoom_in=False)(x).shape


def record_file_dataset():
    w = mx.recordio.MXIndexedRecordIO("a.idx", "a.rec", "w")
    for i in range(3):
        w.write_idx(i, b"record %d" % i)
    w.close()
    d = data.RecordFileDataset("a.rec")
    return len(d), d[1].decode()


def image_record_dataset():
    w = mx.recordio.MXIndexedRecordIO("a.idx", "a.rec", "w")
    for i in range(2):
        header = mx.recordio.IRHeader(0, float(i), i, 0)
        w.write_idx(i, mx.recordio.pack_img(header, IMAGE, quality=9, img_fmt=".png"))
    w.close()
    d = data.vision.ImageRecordDataset("a.rec")
    image, label = d[1]
    return len(d), image, label


def image_folder_dataset():
    import os

    import cv2

    for name in ("cat", "dog"):
        os.makedirs(f"images/{name}")
        cv2.imwrite(f"images/{name}/1.png", IMAGE)
    d = data.vision.ImageFolderDataset("images")
    image, label = d[1]
    return d.synsets, len(d), image.shape, image.dtype.name, label


def split_of_dataset_by_hand():
    d = data.ArrayDataset(onp.arange(10))
    train = data.SimpleDataset([d[i] for i in range(8)])
    return len(train), [int(x) for x in train]


def epoch_over_loader():
    d = data.ArrayDataset(onp.arange(7, dtype="float32"))
    return [sum(float(b.sum()) for b in data.DataLoader(d, 3)) for _ in range(2)]
