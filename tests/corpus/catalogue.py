"""The published programs of the corpus: what each needs, and the file of cases that uses it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Program:
    """One published package, and our cases that use it.

    Attributes:
        cases: the file in programs/, without ``.py``.
        packages: what pip installs for it, without dependencies: those were written for other
            Pythons and name mxnet, and LIBRARIES below serves all.
    """

    cases: str
    packages: tuple[str, ...]


PROGRAMS = (
    Program("d2l_chapters", ("d2l==0.17.6",)),
    Program("d2lzh_chapters", ("d2lzh==1.0.0",)),
    Program("mxboard_events", ("mxboard==0.1.0",)),
    Program("art_classifier", ("adversarial-robustness-toolbox==1.14.1",)),
    Program("insightface_models", ("insightface==0.1.5",)),
    Program("xfer_transfer", ("xfer-ml==1.1.0",)),
    Program("mxfusion_inference", ("mxfusion==0.3.1",)),
    Program("autogluon_parts", ("autogluon==0.0.15",)),
    Program("keras_backend", ("keras-mxnet==2.2.4.3",)),
    Program("cnocr_models", ("cnocr==1.2.3.1",)),
    Program("gluonfr_faces", ("gluonfr==1.0.2",)),
    Program("gluonnlp_models", ("gluonnlp==0.10.0",)),
    Program("sockeye_translation", ("sockeye==2.3.24",)),
    Program("gluonts_forecasts", ("gluonts==0.15.1",)),
    Program("gluoncv_networks", ("gluoncv==0.10.5.post0",)),
)

# What the programs import beside mxnet. NumPy from 2.4 on refuses float() of an array of one
# element, which mxboard writes; newer IPythons, pandas and scikit-learns lack what programs call.
# The versions for MXNet are the newest that go with NumPy 1.23.
LIBRARIES = (
    *(
        "numpy<2.4",
        "autograd",
        "click",
        "ConfigSpace",
        "cython",
        "dask",
        "distributed",
        "GPy",
        "h5py",
        "holidays",
        "ipython<8.20",
        "jieba",
        "keras_applications",
    ),
    *(
        "keras_preprocessing",
        "matplotlib",
        "networkx",
        "opencv-python-headless",
        "pandas<2.3",
        "pillow",
        "portalocker",
        "protobuf<4",
        "pydantic<2",
    ),
    *(
        "pyyaml",
        "regex",
        "requests",
        "sacrebleu<2",
        "scikit-image",
        "scikit-learn<1.7",
        "scikit-optimize",
        "scipy",
        "sentencepiece",
        "setuptools<80",
    ),
    *(
        "six",
        "tensorboardX",
        "toolz",
        "tqdm",
        "ujson",
        "wheel",
        "yacs",
        "autocfg",
        "easydict",
        "dill",
        "boto3",
        "paramiko",
    ),
)
FOR_MXNET = (
    *(
        "mxnet==1.9.1",
        "numpy==1.23.5",
        "scipy<1.12",
        "pandas<2.1",
        "matplotlib<3.9",
        "opencv-python-headless<4.9",
        "scikit-learn<1.4",
    ),
    *("scikit-image<0.23", "h5py<3.11"),
)
