"""Undocumented names that programs import from MXNet's modules.

These are modules imported by a module, as in ``from mxnet.metric import ndarray``, and helpers
whose names begin with an underscore. A line of `IMPORTED` is a gluonish module, by its name below
``gluonish``, with pairs of an MXNet name and its target: a module below ``gluonish``, ``.`` for the
root, ``/numpy`` for an external module, or ``util:use_np`` for an attribute of a module. They were
determined from the attributes of MXNet 1.9.1's modules. ``import *`` from a module in `STARRED`
imports these names, too.
"""

from collections.abc import Iterator, Mapping

from gluonish.mxnet_names import table

__all__ = [
    "IMPORTED",
    "MODULES",
    "STARRED",
    "further_modules",
    "imported_modules",
    "starred_modules",
]

STARRED = ("test_utils",)

IMPORTED = {
    "": "np_symbol=symbol.numpy",
    "mxnet_names.base": "libinfo=libinfo",
    "contrib.amp.amp": (
        "base=base ndarray=ndarray opt=optimizer symbol=symbol symbol_contrib=symbol.contrib "
        "trainer=gluon.trainer"
    ),
    "contrib.amp.loss_scaler": "ag=autograd nd=ndarray.ndarray",
    "gluon.contrib.cnn.conv_layers": "symbol=symbol",
    "gluon.contrib.data.sampler": "sampler=gluon.data.sampler",
    "gluon.contrib.data.text": "base=base dataset=gluon.data.dataset nd=ndarray text=contrib.text",
    "gluon.contrib.estimator.batch_processor": "autograd=autograd",
    "gluon.contrib.estimator.utils": (
        "_suggest_metric_for_loss=gluon.contrib.estimator.utils:suggest_metric_for_loss"
    ),
    "contrib.io": "nd=ndarray",
    "gluon.contrib.nn.basic_layers": "context=context nd=ndarray",
    "contrib.onnx.onnx2mx.import_onnx": "nd=ndarray symbol=symbol",
    "contrib.quantization": "ndarray=ndarray",
    "gluon.contrib.rnn.conv_rnn_cell": (
        "_BaseConvRNNCell=gluon.contrib.rnn.conv_cell:ConvCell "
        "_get_conv_out_size=gluon.contrib.rnn.conv_cell:conv_extents "
        "_ConvRNNCell=gluon.contrib.rnn.conv_rnn_cell:_ConvElmanCell "
        "_ConvLSTMCell=gluon.contrib.rnn.conv_rnn_cell:_ConvLSTMCell "
        "_ConvGRUCell=gluon.contrib.rnn.conv_rnn_cell:_ConvGRUCell"
    ),
    "contrib.svrg_optimization.svrg_module": "mx=.",
    "contrib.svrg_optimization.svrg_optimizer": "mx=.",
    "contrib.text.embedding": "base=base nd=ndarray registry=registry vocab=contrib.text.vocab",
    "gluon.data.dataloader": (
        "context=context nd=ndarray DataLoaderV1=mxnet_names.unlisted.datasets:LegacyDataLoader "
        "ConnectionWrapper=mxnet_names.unlisted.datasets:ConnectionWrapper "
        "Queue=mxnet_names.unlisted.datasets:Queue "
        "SimpleQueue=mxnet_names.unlisted.datasets:SimpleQueue "
        "reduce_ndarray=mxnet_names.unlisted.datasets:reduce_ndarray "
        "reduce_np_ndarray=mxnet_names.unlisted.datasets:reduce_ndarray"
    ),
    "gluon.data.dataset": (
        "ndarray=ndarray recordio=recordio "
        "_DownloadedDataset=mxnet_names.unlisted.datasets:DownloadedDataset "
        "_FilteredDataset=mxnet_names.unlisted.datasets:FilteredDataset "
        "_TransformFirstClosure=gluon.data.dataset:FirstOnly"
    ),
    "gluon.data.vision.datasets": (
        "base=base dataset=gluon.data.dataset image=image nd=ndarray recordio=recordio"
    ),
    "gluon.data.vision.transforms": "image=image",
    "engine": "_BulkScope=engine:bulk",
    "symbol.executor": "ndarray=ndarray",
    "mxnet_names.executor_manager": (
        "nd=ndarray _load_general=mxnet_names.unlisted.devices:load_rows "
        "_load_data=mxnet_names.unlisted.devices:load_batch_data "
        "_load_label=mxnet_names.unlisted.devices:load_batch_label"
    ),
    "gluon.block": "initializer=initializer ndarray=ndarray symbol=symbol",
    "gluon.utils": "ndarray=ndarray",
    "image": "io=io nd=ndarray recordio=recordio",
    "image.detection": "io=io nd=ndarray",
    "initializer": "ndarray=ndarray registry=registry",
    "kvstore.kvstore": "opt=optimizer",
    "gluon.loss": "ndarray=ndarray",
    "metric": (
        "ndarray=ndarray registry=registry "
        "_BinaryClassificationMetrics=mxnet_names.unlisted.confusion:BinaryClassificationMetrics"
    ),
    "module.feed_forward": (
        "io=io kvs=kvstore metric=metric nd=ndarray opt=optimizer sym=symbol "
        "_create_sparse_kvstore=mxnet_names.unlisted.devices:create_sparse_kvstore "
        "_multiple_callbacks=mxnet_names.unlisted.devices:call_all "
        "_update_params_on_kvstore_nccl=module.store_updates:update_in_store"
    ),
    "model_zoo.model_store": "base=base",
    "model_zoo.vision.alexnet": "base=base nn=gluon.nn",
    "model_zoo.vision.densenet": (
        "base=base nn=gluon.nn _make_dense_block=mxnet_names.unlisted.zoo:dense_block "
        "_make_dense_layer=model_zoo.vision.densenet:dense_layer "
        "_make_transition=model_zoo.vision.densenet:transition"
    ),
    "model_zoo.vision.inception": (
        "base=base nn=gluon.nn _make_basic_conv=mxnet_names.unlisted.zoo:inception_conv "
        "_make_branch=mxnet_names.unlisted.zoo:inception_branch"
    ),
    "model_zoo.vision.mobilenet": (
        "base=base nn=gluon.nn _add_conv=mxnet_names.unlisted.zoo:append_conv "
        "_add_conv_dw=mxnet_names.unlisted.zoo:append_separable"
    ),
    "model_zoo.vision.resnet": "base=base nn=gluon.nn",
    "model_zoo.vision.squeezenet": (
        "base=base nn=gluon.nn _make_fire=mxnet_names.unlisted.zoo:fire "
        "_make_fire_conv=model_zoo.vision.squeezenet:convolution"
    ),
    "model_zoo.vision.vgg": "base=base nn=gluon.nn",
    "module.base_module": "metric=metric ndarray=ndarray",
    "module.bucketing_module": "ctx=context nd=ndarray sym=symbol",
    "module.executor_group": (
        "ctx=context nd=ndarray _load_general=mxnet_names.unlisted.devices:load_general "
        "_load_data=mxnet_names.unlisted.devices:load_data "
        "_load_label=mxnet_names.unlisted.devices:load_label "
        "_merge_multi_context=mxnet_names.unlisted.devices:merge_multi_context "
        "_prepare_group2ctxs=module.device_arrays:groups_of"
    ),
    "module.module": "ctx=context nd=ndarray opt=optimizer",
    "module.python_module": "nd=ndarray",
    "module.monitor": "ndarray=ndarray",
    "ndarray.contrib": "mx=. ndarray=ndarray.ndarray",
    "ndarray.ndarray": "op=ndarray.op",
    "ndarray.sparse": "op=ndarray.op",
    "gluon.nn.activations": "initializer=initializer",
    "gluon.nn.basic_layers": "nd=ndarray sym=symbol _BatchNorm=gluon.nn.batch_norm:BatchNormLayer",
    "gluon.nn.conv_layers": (
        "symbol=symbol _Conv=gluon.nn.conv_layer:ConvLayer _Pooling=gluon.nn.pooling:PoolingLayer"
    ),
    "mxnet_names.numpy_dispatch_protocol": "mx_np=numpy",
    "numpy_extension.image": (
        "det=image.detection detection=image.detection image=image io=io nd=ndarray "
        "recordio=recordio"
    ),
    "mxnet_names.numpy_op_signature": "mx_np=numpy mx_npx=numpy_extension",
    "operator": "context=context symbol=symbol",
    "optimizer.contrib": "contrib=ndarray.contrib",
    "optimizer.optimizer": "sparse=ndarray.sparse",
    "gluon.parameter": (
        "autograd=autograd context=context initializer=initializer ndarray=ndarray symbol=symbol"
    ),
    "gluon.rnn.rnn_cell": (
        "_format_sequence=mxnet_names.unlisted.cells:format_sequence "
        "_get_begin_state=mxnet_names.unlisted.cells:begin_state "
        "_mask_sequence_variable_length=mxnet_names.unlisted.cells:mask_sequence_variable_length "
        "_reverse_sequences=mxnet_names.unlisted.cells:reverse_sequences "
        "_cells_state_info=mxnet_names.unlisted.cells:state_infos "
        "_cells_begin_state=mxnet_names.unlisted.cells:begin_states"
    ),
    "gluon.rnn.rnn_layer": "_RNNLayer=gluon.rnn.recurrent_layer:RecurrentLayer",
    "rnn": "init=initializer ndarray=ndarray symbol=symbol",
    "rnn.io": "ndarray=ndarray",
    "rnn.rnn_cell": (
        "init=initializer ndarray=ndarray symbol=symbol "
        "_cells_state_shape=mxnet_names.unlisted.cells:state_shapes "
        "_cells_state_info=mxnet_names.unlisted.cells:symbolic_state_infos "
        "_cells_begin_state=mxnet_names.unlisted.cells:symbolic_begin_states "
        "_cells_unpack_weights=mxnet_names.unlisted.cells:unpacked_weights "
        "_cells_pack_weights=mxnet_names.unlisted.cells:packed_weights "
        "_normalize_sequence=rnn.base_cell:normalized"
    ),
    "rnn.rnn_layer": "ndarray=ndarray rnn_cell=rnn.rnn_cell symbol=symbol",
    "symbol.contrib": "symbol=symbol.symbol",
    "symbol.symbol": (
        "op=symbol.op var=symbol:var Variable=symbol:Variable Group=symbol:Group "
        "load=symbol:load load_json=symbol:load_json pow=symbol:pow power=symbol:power "
        "maximum=symbol:maximum minimum=symbol:minimum hypot=symbol:hypot eye=symbol:eye "
        "zeros=symbol:zeros ones=symbol:ones full=symbol:full arange=symbol:arange "
        "linspace=symbol:linspace histogram=symbol:histogram split_v2=symbol:split_v2"
    ),
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
    "gluon.trainer": "opt=optimizer",
    "mxnet_names.unlisted.rows": (
        "_init_data=mxnet_names.unlisted.rows:init_data "
        "_has_instance=mxnet_names.unlisted.rows:has_instance "
        "_getdata_by_idx=mxnet_names.unlisted.rows:rows_of_numbers"
    ),
}

# Modules of MXNet without a counterpart, as aliases of the module with the names that programs
# import; a line is a package with pairs, as above.
MODULES = {
    "": "misc=mxnet_names.unlisted.schedules",
    "io": "utils=mxnet_names.unlisted.rows",
    "ndarray": (
        "utils=ndarray gen__internal=ndarray._internal gen_contrib=ndarray.contrib "
        "gen_image=ndarray.image gen_linalg=ndarray.linalg gen_op=ndarray.op "
        "gen_random=ndarray.random gen_sparse=ndarray.sparse"
    ),
    "ndarray.numpy": "_op=ndarray.numpy",
    "ndarray.numpy_extension": "_op=ndarray.numpy_extension",
    "numpy": (
        "_op=numpy arrayprint=numpy fallback_linalg=numpy.linalg function_base=numpy io=numpy "
        "multiarray=numpy stride_tricks=numpy utils=numpy"
    ),
    "numpy_extension": "_op=numpy_extension utils=numpy_extension",
    "symbol": (
        "gen__internal=symbol._internal gen_contrib=symbol.contrib gen_image=symbol.image "
        "gen_linalg=symbol.linalg gen_op=symbol.op gen_random=symbol.random "
        "gen_sparse=symbol.sparse"
    ),
    "symbol.numpy": "_op=symbol.numpy _symbol=symbol.numpy",
    "symbol.numpy_extension": "_op=symbol.numpy_extension",
}


def imported_modules() -> dict[str, dict[str, str]]:
    """Return `IMPORTED` and `MODULES` with full names: attributes and targets by module."""
    found: dict[str, dict[str, str]] = {}
    for module, pairs in (*_pairs(IMPORTED), *_pairs(MODULES)):
        real = table.MODULES.get(module, module)
        found.setdefault(f"gluonish.{real}".rstrip("."), {}).update(pairs)
    return found


def further_modules() -> dict[str, str]:
    """Return the full names of `MODULES` and of their targets."""
    return {
        f"gluonish.{package}.{name}".replace("..", "."): target
        for package, pairs in _pairs(MODULES)
        for name, target in pairs.items()
    }


def _pairs(table: Mapping[str, str]) -> Iterator[tuple[str, dict[str, str]]]:
    for module, line in table.items():
        yield (
            module,
            {
                name: target[1:] if target[0] == "/" else f"gluonish.{target}".rstrip(".")
                for name, _, target in (part.partition("=") for part in line.split())
            },
        )


def starred_modules() -> frozenset[str]:
    """Return `STARRED` with full names."""
    return frozenset(f"gluonish.{module}" for module in STARRED)
