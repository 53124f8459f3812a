"""Modules that MXNet's modules show because their files import them.

Programs use them from there, as in ``from mxnet.metric import ndarray``. Each line of `IMPORTED` is
a module of gluonish's, by its name below ``gluonish``, and what it shows under MXNet 1.9.1's name
that it has not itself: names with the module that each is; ``.`` is the root, ``/numpy`` is a
module of others, and ``util:use_np`` is something in a module. Read from MXNet 1.9.1 by looking at
its modules' attributes. `STARRED` are modules whose ``import *`` gives programs these names, too.
"""

__all__ = ["IMPORTED", "STARRED", "imported_modules", "starred_modules"]

STARRED = ("test_utils",)

IMPORTED = {
    "base": "libinfo=libinfo",
    "contrib.amp.amp": (
        "base=base ndarray=ndarray opt=optimizer symbol=symbol "
        "symbol_contrib=symbol.contrib trainer=trainer"
    ),
    "contrib.amp.loss_scaler": "ag=autograd nd=ndarray.ndarray",
    "contrib.cnn.conv_layers": "symbol=symbol",
    "contrib.data.sampler": "sampler=data.sampler",
    "contrib.data.text": "base=base dataset=data.dataset nd=ndarray text=contrib.text",
    "contrib.estimator.batch_processor": "autograd=autograd",
    "contrib.io": "nd=ndarray",
    "contrib.nn.basic_layers": "context=context nd=ndarray",
    "contrib.onnx.onnx2mx.import_onnx": "nd=ndarray symbol=symbol",
    "contrib.quantization": "ndarray=ndarray",
    "contrib.svrg_optimization.svrg_module": "mx=.",
    "contrib.svrg_optimization.svrg_optimizer": "mx=.",
    "contrib.text.embedding": "base=base nd=ndarray registry=registry vocab=contrib.text.vocab",
    "data.dataloader": "context=context nd=ndarray",
    "data.dataset": "ndarray=ndarray recordio=recordio",
    "data.vision.datasets": (
        "base=base dataset=data.dataset image=image nd=ndarray recordio=recordio"
    ),
    "data.vision.transforms": "image=image",
    "executor": "ndarray=ndarray",
    "executor_manager": "nd=ndarray",
    "gluon.block": "initializer=initializer ndarray=ndarray symbol=symbol",
    "gluon.utils": "ndarray=ndarray",
    "image": "io=io nd=ndarray recordio=recordio",
    "image.detection": "io=io nd=ndarray",
    "initializer": "ndarray=ndarray registry=registry",
    "kvstore.kvstore": "opt=optimizer",
    "loss": "ndarray=ndarray",
    "metric": "ndarray=ndarray registry=registry",
    "model": "io=io kvs=kvstore metric=metric nd=ndarray opt=optimizer sym=symbol",
    "model_zoo.model_store": "base=base",
    "model_zoo.vision.alexnet": "base=base nn=nn",
    "model_zoo.vision.densenet": "base=base nn=nn",
    "model_zoo.vision.inception": "base=base nn=nn",
    "model_zoo.vision.mobilenet": "base=base nn=nn",
    "model_zoo.vision.resnet": "base=base nn=nn",
    "model_zoo.vision.squeezenet": "base=base nn=nn",
    "model_zoo.vision.vgg": "base=base nn=nn",
    "module.base_module": "metric=metric ndarray=ndarray",
    "module.bucketing_module": "ctx=context nd=ndarray sym=symbol",
    "module.executor_group": "ctx=context nd=ndarray",
    "module.module": "ctx=context nd=ndarray opt=optimizer",
    "module.python_module": "nd=ndarray",
    "monitor": "ndarray=ndarray",
    "ndarray.contrib": "mx=. ndarray=ndarray.ndarray",
    "ndarray.ndarray": "op=ndarray.op",
    "ndarray.sparse": "op=ndarray.op",
    "nn.activations": "initializer=initializer",
    "nn.basic_layers": "nd=ndarray sym=symbol",
    "nn.conv_layers": "symbol=symbol",
    "numpy.multiarray": "fallback=numpy.fallback",
    "numpy_dispatch_protocol": "mx_np=numpy",
    "numpy_extension.image": (
        "det=image.detection detection=image.detection image=image io=io nd=ndarray "
        "recordio=recordio"
    ),
    "numpy_op_fallback": "operator=operator",
    "numpy_op_signature": "mx_np=numpy mx_npx=numpy_extension",
    "operator": "context=context symbol=symbol",
    "optimizer.contrib": "contrib=ndarray.contrib",
    "optimizer.optimizer": "sparse=ndarray.sparse",
    "parameter": (
        "autograd=autograd context=context initializer=initializer ndarray=ndarray symbol=symbol"
    ),
    "rnn": "init=initializer ndarray=ndarray symbol=symbol",
    "rnn.io": "ndarray=ndarray",
    "rnn.rnn_cell": "init=initializer ndarray=ndarray symbol=symbol",
    "rnn.rnn_layer": "ndarray=ndarray rnn_cell=rnn.rnn_cell symbol=symbol",
    "symbol.contrib": "symbol=symbol.symbol",
    "symbol.symbol": "op=symbol.op",
    "test_utils": (
        "bz2=/bz2 errno=/errno gzip=/gzip json=/json logging=/logging mx=. np=/numpy "
        "npt=/numpy.testing numbers=/numbers os=/os platform=/platform requests=/requests "
        "rnd=/numpy.random struct=/struct sys=/sys time=/time traceback=/traceback "
        "zipfile=/zipfile Context=context:Context Features=runtime:Features "
        "OrderedDict=/collections:OrderedDict Symbol=symbol:Symbol array=ndarray:array "
        "contextmanager=/contextlib:contextmanager current_context=context:current_context "
        "get_cuda_compute_capability=util:get_cuda_compute_capability getenv=util:getenv "
        "setenv=util:setenv use_np=util:use_np np_symbol=symbol.numpy:_Symbol"
    ),
    "trainer": "opt=optimizer",
}


def imported_modules() -> dict[str, dict[str, str]]:
    """Return `IMPORTED` with whole names: of each module, what each attribute is."""
    return {
        f"gluonish.{module}": {
            name: target[1:] if target[0] == "/" else f"gluonish.{target}".rstrip(".")
            for name, _, target in (part.partition("=") for part in line.split())
        }
        for module, line in IMPORTED.items()
    }


def starred_modules() -> frozenset[str]:
    """Return `STARRED` with whole names."""
    return frozenset(f"gluonish.{module}" for module in STARRED)
