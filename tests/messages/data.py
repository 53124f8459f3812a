"""Mistakes with data sets, transforms and files."""

from tests.messages.mistake import Mistake

MISTAKES = {
    "transform class": Mistake(
        """
        data.vision.MNIST if False else None
        ds = data.ArrayDataset(onp.zeros((4, 2, 2, 3), 'uint8'), onp.zeros(4))
        ds.transform_first(data.vision.transforms.ToTensor)[0]
        """,
        TypeError,
        "the class ToTensor | ToTensor()",
    ),
    "DataLoader 2.5": Mistake(
        """
        data.DataLoader(data.ArrayDataset(onp.zeros((4, 2))), 2.5)
        """,
        TypeError,
        "batch_size | int | 2.5",
    ),
    "DataLoader text": Mistake(
        """
        data.DataLoader(data.ArrayDataset(onp.zeros((4, 2))), '2')
        """,
        TypeError,
        "batch_size | '2' | pass 2",
    ),
    "workers -1": Mistake(
        """
        data.DataLoader(data.ArrayDataset(onp.zeros((4, 2))), 2, num_workers=-1)
        """,
        ValueError,
        "num_workers of 0 or more | -1",
    ),
    "DataLoader no batch": Mistake(
        """
        data.DataLoader(data.ArrayDataset(onp.zeros((4, 2))))
        """,
        ValueError,
        "batch_size",
    ),
    "collate": Mistake(
        """
        data.DataLoader(data.ArrayDataset(onp.zeros((4, 2))), 2, collate_fn=list)
        """,
        TypeError,
        "'collate_fn' | batchify_fn",
    ),
    "drop_last": Mistake(
        """
        data.DataLoader(data.ArrayDataset(onp.zeros((4, 2))), 2, drop_last=True)
        """,
        TypeError,
        "'drop_last' | last_batch",
    ),
    "last_batch": Mistake(
        """
        data.DataLoader(data.ArrayDataset(onp.zeros((4, 2))), 2, last_batch='drop')
        """,
        ValueError,
        "'discard' | 'drop'",
    ),
    "Compose args": Mistake(
        """
        data.vision.transforms.Compose(data.vision.transforms.ToTensor())
        """,
        TypeError,
        "list | Compose([...])",
    ),
    "Compose list of class": Mistake(
        """
        data.vision.transforms.Compose([data.vision.transforms.ToTensor])
        """,
        TypeError,
        "the class ToTensor | ToTensor()",
    ),
    "a network of PIL images": Mistake(
        """
        from PIL import Image
        nn.Conv2D(4, 3)(Image.new('RGB', (4, 4)))
        """,
        TypeError,
        "PIL | mx.nd.array(image)",
    ),
    "ArrayDataset lengths": Mistake(
        """
        data.ArrayDataset(onp.zeros((4, 2)), onp.zeros(5))
        """,
        ValueError,
        "equal length | 4 and 5",
    ),
    "samples of shapes": Mistake(
        """
        list(data.DataLoader(data.SimpleDataset([onp.zeros(2), onp.zeros(3)]), 2))
        """,
        ValueError,
        "equal shape | (2,), (3,)",
    ),
    "worker error": Mistake(
        """
        list(data.DataLoader(data.SimpleDataset([1, 'a', None]), 3))
        """,
        TypeError,
        "int, str, NoneType | batchify_fn",
    ),
    "ImageFolderDataset absent": Mistake(
        """
        data.vision.ImageFolderDataset('{folder}/nope')
        """,
        FileNotFoundError,
        "/nope",
    ),
    "load other file": Mistake(
        """
        open('{folder}/x.txt', 'w').write('hello world, this is not it')
        nd.load('{folder}/x.txt')
        """,
        ValueError,
        "x.txt | .params | text",
    ),
    "load_parameters other": Mistake(
        """
        open('{folder}/x.txt', 'w').write('hello world, this is not it')
        nn.Dense(3).load_parameters('{folder}/x.txt')
        """,
        ValueError,
        "x.txt | text",
    ),
    "load pickle": Mistake(
        """
        import pickle
        pickle.dump({'a': 1}, open('{folder}/x.pkl', 'wb'))
        nn.Dense(3).load_parameters('{folder}/x.pkl')
        """,
        ValueError,
        "pickle",
    ),
    "load zip png": Mistake(
        """
        from PIL import Image
        Image.new('RGB', (4, 4)).save('{folder}/x.png')
        nd.load('{folder}/x.png')
        """,
        ValueError,
        "PNG image | mx.image.imread",
    ),
    "load symbol from params": Mistake(
        """
        nd.save('{folder}/x.params', {'a': nd.ones(2)})
        sym.load('{folder}/x.params')
        """,
        ValueError,
        ".params file | nd.load",
    ),
    "load torch": Mistake(
        """
        import zipfile
        z = zipfile.ZipFile('{folder}/m.pt', 'w')
        z.writestr('archive/data.pkl', b'x')
        z.writestr('archive/version', b'3')
        z.close()
        nn.Dense(3).load_parameters('{folder}/m.pt')
        """,
        ValueError,
        "PyTorch checkpoint | safetensors",
    ),
    "load h5": Mistake(
        r"""
        open('{folder}/m.h5','wb').write(b'\x89HDF\r\n\x1a\n'+bytes(100))
        nn.Dense(3).load_parameters('{folder}/m.h5')
        """,
        ValueError,
        "HDF5 | npz",
    ),
    "load onnx": Mistake(
        r"""
        open('{folder}/m.onnx','wb').write(b'\x08\x07\x12\x07pytorch'+bytes(100))
        nn.Dense(3).load_parameters('{folder}/m.onnx')
        """,
        ValueError,
        "ONNX | import_model",
    ),
    "load absent": Mistake(
        """
        nn.Dense(3).load_parameters('{folder}/nope.params')
        """,
        FileNotFoundError,
        "nope.params",
    ),
    "load trunc": Mistake(
        """
        nd.save('{folder}/z.params', {'a': nd.ones(100)})
        b = open('{folder}/z.params','rb').read()
        open('{folder}/z.params','wb').write(b[:60])
        nd.load('{folder}/z.params')
        """,
        ValueError,
        "truncated",
    ),
    "load shape": Mistake(
        """
        net = nn.Dense(3, in_units=2)
        net.initialize()
        net.save_parameters('{folder}/a.params')
        nn.Dense(4, in_units=2).load_parameters('{folder}/a.params')
        """,
        AssertionError,
        "(4, 2) | (3, 2)",
    ),
    "save uninit": Mistake(
        """
        nn.Dense(3).save_parameters('{folder}/a.params')
        """,
        AssertionError,
        "initialize()",
    ),
    "export unhybridized": Mistake(
        """
        nn.Dense(3).export('{folder}/exp')
        """,
        RuntimeError,
        "hybridize()",
    ),
    "set as dataset": Mistake(
        """
        data.DataLoader({1, 2, 3}, 2)
        """,
        TypeError,
        "dataset | got set | list",
    ),
    "generator for workers": Mistake(
        """
        data.DataLoader((i for i in range(3)), 2, num_workers=2)
        """,
        TypeError,
        "dataset | got the iterator | generator function without calling it",
    ),
    "shuffled stream": Mistake(
        """
        data.DataLoader((i for i in range(3)), 2, shuffle=True)
        """,
        ValueError,
        "no shuffle | iterable dataset | no indices",
    ),
    "tuple of arrays as dataset": Mistake(
        """
        import warnings
        warnings.simplefilter("error")
        data.DataLoader((onp.zeros((4, 2)), onp.zeros(4)), 2)
        """,
        UserWarning,
        "tuple of 2 arrays | ArrayDataset(x, y)",
    ),
    "class of a batchify function": Mistake(
        """
        dataset = data.ArrayDataset(onp.zeros((4, 2)))
        data.DataLoader(dataset, 2, batchify_fn=data.batchify.Stack)
        """,
        TypeError,
        "batchify_fn | the class Stack | Stack()",
    ),
    "Normalize before ToTensor": Mistake(
        """
        normalize = data.vision.transforms.Normalize(0.5, 0.5)
        normalize(nd.ones((8, 8, 3), dtype='uint8'))
        """,
        ValueError,
        "(channels, height, width) | (8, 8, 3) | ToTensor",
    ),
    "RandomHorizontalFlip": Mistake(
        """
        data.vision.transforms.RandomHorizontalFlip()
        """,
        AttributeError,
        "RandomFlipLeftRight()",
    ),
    "folder without folders of classes": Mistake(
        """
        import warnings
        warnings.simplefilter("error")
        data.vision.ImageFolderDataset('{folder}')
        """,
        UserWarning,
        "no images | a class is a folder",
    ),
    "save of NumPy arrays": Mistake(
        """
        nd.save('{folder}/x.params', {'a': onp.ones(3)})
        """,
        TypeError,
        "numpy.ndarray at key 'a' | mx.nd.array",
    ),
}
