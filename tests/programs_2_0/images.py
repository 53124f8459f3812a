import mxnet as mx
import numpy as onp
from mxnet import image, np, npx, recordio

from tests.programs_2_0.errors import error

IMAGE = (onp.arange(6 * 5 * 3).reshape(6, 5, 3) * 2).astype("uint8")


def _np(x):
    return np.array(x, dtype=x.dtype)


def plain_records():
    w = recordio.MXRecordIO("a.rec", "w")
    for text in (b"one", b"two", b""):
        w.write(text)
    w.close()
    r = recordio.MXRecordIO("a.rec", "r")
    found = [r.read() for _ in range(4)]
    r.reset()
    return [x.decode() if x is not None else None for x in found], r.read().decode()


def indexed_records():
    w = recordio.MXIndexedRecordIO("a.idx", "a.rec", "w")
    for i in range(4):
        w.write_idx(i, b"r%d" % i)
    w.close()
    r = recordio.MXIndexedRecordIO("a.idx", "a.rec", "r")
    return r.keys, r.read_idx(2).decode(), r.read_idx(0).decode(), open("a.idx").read()


def packing():
    s = recordio.pack(recordio.IRHeader(0, 3.0, 7, 0), b"data")
    header, rest = recordio.unpack(s)
    return header.label, header.id, header.flag, rest.decode(), len(s)


def packing_of_vectors():
    s = recordio.pack(recordio.IRHeader(0, [1.0, 2.0], 7, 0), b"data")
    header, rest = recordio.unpack(s)
    return header.flag, header.label, rest.decode()


def packing_of_images():
    s = recordio.pack_img(recordio.IRHeader(0, 1.0, 0, 0), IMAGE, quality=9, img_fmt=".png")
    header, x = recordio.unpack_img(s)
    return header.label, x


def record_errors():
    return error(recordio.MXRecordIO, "nothing.rec", "r"), error(
        recordio.MXRecordIO, "a.rec", "what"
    )


def decoding():
    import cv2

    data = cv2.imencode(".png", IMAGE)[1].tobytes()
    return (
        image.imdecode(data),
        image.imdecode(data, to_rgb=False),
        image.imdecode(data, flag=0).shape,
    )


def reading_files():
    import cv2

    cv2.imwrite("a.png", IMAGE)
    return image.imread("a.png"), error(image.imread, "b.png")


def decoding_rubbish():
    return error(image.imdecode, b"not an image")


def resizing():
    x = _np(IMAGE)
    return (
        image.imresize(x, 10, 12, interp=1),
        image.resize_short(x, 10).shape,
        image.imresize(x, 5, 3).shape,
    )


def cropping():
    x = _np(IMAGE)
    y, box = image.center_crop(x, (3, 4))
    return image.fixed_crop(x, 1, 2, 3, 2), y, box, image.fixed_crop(x, 0, 0, 4, 4, (2, 2)).shape


def random_cropping():
    x = _np(IMAGE)
    y, box = image.random_crop(x, (3, 2))
    z, other = image.random_size_crop(x, (4, 4), (0.3, 1.0), (0.8, 1.2))
    return y.shape, len(box), box[2:], z.shape


def color_normalizing():
    x = _np(IMAGE).astype("float32")
    return image.color_normalize(x, np.array([1.0, 2.0, 3.0]), np.array([2.0, 2.0, 2.0]))


def scale_down():
    return image.scale_down((640, 480), (720, 120)), image.scale_down((100, 100), (50, 50))


def borders():
    return image.copyMakeBorder(mx.nd.array(IMAGE, dtype="uint8"), 1, 1, 2, 2)


def rotating():
    x = np.array(IMAGE.transpose(2, 0, 1), dtype="float32")
    return image.imrotate(x, 90), image.imrotate(x, 45, zoom_out=True).shape


def augmenter_lists():
    augs = image.CreateAugmenter(
        (3, 4, 4), resize=5, rand_crop=True, rand_mirror=True, mean=True, std=True
    )
    return [type(a).__name__ for a in augs]


def augmenters_apply():
    x = _np(IMAGE)
    for aug in image.CreateAugmenter((3, 4, 4), mean=onp.array([1.0, 2.0, 3.0])):
        x = aug(x)
    return x


def single_augmenters():
    x = _np(IMAGE)
    return (
        image.CastAug()(x).dtype.name,
        image.ForceResizeAug((4, 3))(x).shape,
        image.CenterCropAug((4, 3))(x),
        image.RandomGrayAug(0.0)(x.astype("float32")).shape,
    )


def augmenter_dumps():
    return image.ResizeAug(5).dumps(), image.CenterCropAug((3, 4)).dumps()


def image_iterator():
    w = recordio.MXIndexedRecordIO("a.idx", "a.rec", "w")
    for i in range(4):
        header = recordio.IRHeader(0, float(i), i, 0)
        w.write_idx(i, recordio.pack_img(header, IMAGE, quality=9, img_fmt=".png"))
    w.close()
    it = image.ImageIter(2, (3, 4, 4), path_imgrec="a.rec", path_imgidx="a.idx")
    found = [(b.data[0].shape, b.label[0], b.pad) for b in it]
    it.reset()
    return found, it.next().label[0]


def npx_image_operators():
    x = _np(IMAGE)
    return (
        npx.image.to_tensor(x),
        npx.image.crop(x, 1, 2, 3, 2),
        npx.image.flip_left_right(x),
        npx.image.flip_top_bottom(x),
        npx.image.resize(x, (3, 3)).shape,
    )


def npx_image_normalize():
    x = np.ones((3, 2, 2))
    return npx.image.normalize(x, mean=(0.1, 0.2, 0.3), std=(1.0, 2.0, 4.0))


def npx_image_random():
    x = _np(IMAGE)
    return (
        npx.image.random_flip_left_right(x).shape,
        npx.image.random_brightness(x.astype("float32"), 0.5, 1.5).shape,
        npx.image.random_hue(x.astype("float32"), 0.9, 1.1).shape,
        npx.image.adjust_lighting(x.astype("float32"), (0.0, 0.0, 0.0)),
    )


def array_iterators():
    it = mx.io.NDArrayIter(onp.arange(10).reshape(5, 2), onp.arange(5), batch_size=2)
    found = [(b.data[0], b.label[0], b.pad) for b in it]
    it.reset()
    return found, it.provide_data[0].name, it.provide_label[0].shape


def array_iterators_last_batch():
    found = []
    for kind in ("pad", "discard", "roll_over"):
        it = mx.io.NDArrayIter(onp.arange(5), batch_size=2, last_batch_handle=kind)
        found.append([b.data[0].shape for b in it])
    return found


def array_iterators_of_dicts():
    it = mx.io.NDArrayIter({"a": onp.ones((4, 1)), "b": onp.zeros((4, 2))}, batch_size=2)
    return [d.name for d in it.provide_data], [d.shape for d in it.provide_data], next(it).data[0]


def csv_iterators():
    onp.savetxt("x.csv", onp.arange(12).reshape(6, 2), delimiter=",")
    it = mx.io.CSVIter(data_csv="x.csv", data_shape=(2,), batch_size=3)
    return [b.data[0] for b in it]


def resized_iterators():
    it = mx.io.NDArrayIter(onp.arange(4), batch_size=2)
    return [b.data[0] for b in mx.io.ResizeIter(it, 3)]


def prefetching_iterators():
    it = mx.io.PrefetchingIter(mx.io.NDArrayIter(onp.arange(4), batch_size=2))
    return [b.data[0] for b in it]


def data_descriptions():
    d = mx.io.DataDesc("data", (2, 3))
    return d.name, d.shape, d.layout, mx.io.DataDesc.get_batch_axis("NCHW"), str(onp.dtype(d.dtype))


def data_batches():
    b = mx.io.DataBatch([mx.nd.ones((2, 1))], [mx.nd.zeros(2)], pad=1)
    return b.pad, b.data[0].shape, str(b)


def image_record_iterator():
    w = recordio.MXIndexedRecordIO("a.idx", "a.rec", "w")
    for i in range(4):
        header = recordio.IRHeader(0, float(i), i, 0)
        w.write_idx(i, recordio.pack_img(header, IMAGE, quality=9, img_fmt=".png"))
    w.close()
    it = mx.io.ImageRecordIter(
        path_imgrec="a.rec",
        data_shape=(3, 6, 5),
        batch_size=2,
        mean_r=1.0,
        std_r=2.0,
        preprocess_threads=1,
    )
    return [(b.data[0], b.label[0]) for b in it]


def detection_augmenters():
    augs = image.CreateDetAugmenter((3, 8, 8), rand_mirror=True)
    return [type(a).__name__ for a in augs]
