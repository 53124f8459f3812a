import logging
import os
import threading

import mxnet as mx
import numpy as onp
from mxnet import autograd, gluon, np, npx
from mxnet.gluon import nn

from tests.programs_2_0.errors import error


def devices():
    a, b = mx.cpu(), mx.gpu(1)
    return str(a), repr(b), a == mx.cpu(0), a != b, a.device_type, b.device_id, a.device_typeid


def device_class():
    return (
        str(mx.Device("cpu", 0)),
        mx.Device("cpu") == mx.cpu(),
        str(mx.Context("cpu", 0)),
        hash(mx.cpu()) == hash(mx.cpu(0)),
    )


def device_scopes():
    with mx.cpu(0):
        a = str(mx.current_device()), str(np.ones(1).device)
    with mx.Device("cpu", 0):
        b = str(mx.device.current_device())
    return a, b, str(mx.current_context())


def numbers_of_gpus():
    return mx.device.num_gpus(), npx.num_gpus()


def array_on_missing_gpu():
    return error(lambda: np.ones(1, device=mx.gpu(0)))


def unknown_device():
    return error(mx.Device, "abacus", 0)


def cpu_pinned():
    return str(mx.cpu_pinned()), mx.cpu_pinned() == mx.cpu()


def versions():
    return mx.__version__.startswith("2.0"), isinstance(mx.libinfo.__version__, str)


def features():
    f = mx.runtime.Features()
    return f.is_enabled("CPU_SSE") in (True, False), error(f.is_enabled, "NOTHING"), "CUDA" in f


def feature_lists():
    return len(mx.runtime.feature_list()) > 10, f"{mx.runtime.Features()['OPENMP'].name}"


def bulk_scope():
    with mx.engine.bulk(10):
        x = np.ones(2)
        for _ in range(5):
            x = x + 1
    return x, mx.engine.set_bulk_size(15) >= 0


def environment_helpers():
    os.environ["MXNET_SOME_NAME"] = "1"
    found = mx.util.getenv("MXNET_SOME_NAME")
    mx.util.setenv("MXNET_SOME_NAME", "2")
    return found, mx.util.getenv("MXNET_SOME_NAME")


def attribute_scopes():
    with mx.AttrScope(a="1"), mx.AttrScope(b="2"):
        s = mx.sym.var("x")
    return s.attr("a"), s.attr("b"), error(lambda: mx.AttrScope(a=1))


def name_manager():
    with mx.name.NameManager():
        return [mx.sym.relu(mx.sym.var("x")).name for _ in range(2)]


def factor_scheduler():
    s = mx.lr_scheduler.FactorScheduler(step=3, factor=0.5, stop_factor_lr=0.1, base_lr=1.0)
    return [s(i) for i in range(1, 16)]


def multi_factor_scheduler():
    s = mx.lr_scheduler.MultiFactorScheduler(step=[2, 5], factor=0.1, base_lr=1.0)
    return [s(i) for i in range(1, 9)]


def poly_and_cosine():
    a = mx.lr_scheduler.PolyScheduler(max_update=6, base_lr=1.0, pwr=2, final_lr=0.1)
    b = mx.lr_scheduler.CosineScheduler(max_update=6, base_lr=1.0, final_lr=0.1)
    return [a(i) for i in range(9)], [b(i) for i in range(9)]


def warm_up():
    found = []
    for mode in ("linear", "constant"):
        s = mx.lr_scheduler.CosineScheduler(
            10, base_lr=1.0, warmup_steps=4, warmup_begin_lr=0.2, warmup_mode=mode
        )
        found.append([s(i) for i in range(12)])
    return found


def scheduler_errors():
    return (
        error(mx.lr_scheduler.FactorScheduler, step=0),
        error(mx.lr_scheduler.FactorScheduler, step=1, factor=2),
        error(mx.lr_scheduler.MultiFactorScheduler, step=[5, 2]),
        error(mx.lr_scheduler.PolyScheduler, max_update=0),
        error(mx.lr_scheduler.CosineScheduler, 5, warmup_steps=9, warmup_mode="what"),
    )


def own_scheduler():
    class Triangle(mx.lr_scheduler.LRScheduler):
        def __call__(self, n):
            return self.base_lr * (1 - abs(n % 4 - 2) / 2)

    s = Triangle(base_lr=2.0)
    return [s(i) for i in range(6)]


def kvstore_local():
    kv = mx.kv.create("local")
    kv.init(3, np.ones((2,)))
    out = np.zeros((2,))
    kv.pull(3, out=out)
    a = out.copy()
    kv.push(3, np.ones((2,)) * 8)
    kv.pull(3, out=out)
    return a, out, kv.type, kv.rank, kv.num_workers


def kvstore_sums_lists():
    kv = mx.kv.create("local")
    kv.init("w", np.zeros(2))
    kv.push("w", [np.ones(2), np.ones(2) * 2])
    out = np.zeros(2)
    kv.pull("w", out)
    return out


def kvstore_updater():
    kv = mx.kv.create("local")
    kv.init(0, np.ones(2))
    kv._set_updater(lambda key, value, stored: stored.__iadd__(value * 2))
    kv.push(0, np.ones(2))
    out = np.zeros(2)
    kv.pull(0, out=out)
    return out


def kvstore_broadcast():
    kv = mx.kv.create("local")
    outs = [np.zeros(2), np.zeros(2)]
    kv.broadcast("k", np.ones(2) * 4, outs)
    return outs


def kvstore_errors():
    kv = mx.kv.create("local")
    return error(mx.kv.create, "nothing"), error(kv.pull, 9, np.ones(1)), error(mx.kv.create, 5)


def kvstore_with_optimizer():
    kv = mx.kv.create("local")
    kv.set_optimizer(mx.optimizer.SGD(learning_rate=0.1))
    kv.init(0, np.ones(2))
    kv.push(0, np.ones(2))
    out = np.zeros(2)
    kv.pull(0, out=out)
    return out, kv.is_capable("optimizer")


def profiler_writes_a_file():
    mx.profiler.set_config(profile_all=True, filename="p.json", aggregate_stats=True)
    mx.profiler.set_state("run")
    np.dot(np.ones((4, 4)), np.ones((4, 4))).wait_to_read()
    mx.profiler.set_state("stop")
    table = mx.profiler.dumps()
    mx.profiler.dump()
    return os.path.exists("p.json"), isinstance(table, str)


def profiler_objects():
    domain = mx.profiler.Domain("mine")
    task, counter = domain.new_task("t"), domain.new_counter("c", 5)
    task.start()
    counter += 3
    counter -= 1
    task.stop()
    return str(domain), str(task), str(counter)


def profiler_scopes():
    with mx.profiler.scope("part:"):
        x = np.ones(2) * 2
    return x


def loggers():
    log = (
        mx.log.get_logger("mine", level=logging.INFO)
        if hasattr(mx, "log")
        else logging.getLogger("mine")
    )
    return log.name, log.level


def threads_have_own_recording():
    found = []

    def work():
        found.append(autograd.is_recording())

    with autograd.record():
        t = threading.Thread(target=work)
        t.start()
        t.join()
    return found


def threads_compute():
    found = {}

    def work(i):
        found[i] = (np.ones(3) * i).sum()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return [found[i] for i in range(4)]


def amp_lists():
    from mxnet import amp

    return (
        isinstance(amp.list_lp16_ops("float16"), list),
        isinstance(amp.list_fp32_ops("float16"), list),
        "FullyConnected" in amp.list_lp16_ops("float16"),
    )


def loss_scaler():
    from mxnet.amp.loss_scaler import LossScaler

    s = LossScaler()
    return s.loss_scale


def util_functions():
    return (
        mx.util.is_np_array(),
        mx.util.is_np_shape(),
        mx.util.is_np_default_dtype(),
        mx.util.np_ufunc_legal_option("dtype", "float32"),
    )


def use_np_of_class():
    @mx.util.use_np
    class Net(nn.HybridBlock):
        def forward(self, x):
            return x * 2

    return Net()(np.ones(1)), Net.__name__


def wrap_of_functions():
    @mx.util.use_np
    def double(x):
        """Twice."""
        return x * 2

    return double.__name__, double.__doc__, double(np.ones(1))


def set_module_decorator():
    @mx.util.set_module("mine")
    def f():
        return 1

    return f.__module__


def base_names():
    return (
        issubclass(mx.base.MXNetError, RuntimeError),
        mx.MXNetError is mx.base.MXNetError,
        mx.base.string_types,
        [t.__name__ for t in mx.base.numeric_types][:2],
    )


def test_utils_compare():
    from mxnet import test_utils as tu

    tu.assert_almost_equal(np.ones(2), onp.ones(2))
    return (
        tu.almost_equal(np.ones(2), np.ones(2) + 1e-9),
        error(tu.assert_almost_equal, np.ones(2), np.zeros(2)),
        tu.same(onp.ones(2), onp.ones(2)),
        str(tu.default_device()),
    )


def test_utils_arrays():
    from mxnet import test_utils as tu

    return tu.rand_ndarray((2, 3)).shape, len(tu.rand_shape_2d()), tu.rand_shape_nd(4).__len__()


def numeric_gradients():
    from mxnet import test_utils as tu

    x = mx.sym.var("x")
    mx.npx.reset_np()
    tu.check_numeric_gradient(x * x, [onp.array([1.0, 2.0], "float32")], rtol=1e-2, atol=1e-2)
    mx.npx.set_np()
    return "checked"


def download_of_local_file():
    with open("a.txt", "w") as file:
        file.write("text")
    return gluon.utils.check_sha1("a.txt", "372ea08cab33e71c02c651dbc83a474d32c676ea")


def split_rename_utilities():
    return (
        gluon.utils.shape_is_known((2, 3)),
        gluon.utils.shape_is_known((2, -1)),
        gluon.utils.shape_is_known(None),
    )


def global_norm_of_nan():
    import warnings

    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        gluon.utils.clip_global_norm([np.array([onp.nan])], 1.0)
    return len(seen) > 0


def visualization_of_block():
    net = nn.HybridSequential()
    net.add(nn.Dense(2, in_units=3))
    net.initialize()
    net.hybridize()
    net(np.ones((1, 3)))
    return type(mx.viz).__name__


def model_checkpoints():
    s = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=1, name="fc")
    args = {"fc_weight": mx.nd.ones((1, 2)), "fc_bias": mx.nd.zeros((1,))}
    mx.model.save_checkpoint("m", 2, s, args, {})
    t, arg_params, aux = mx.model.load_checkpoint("m", 2)
    return t.list_arguments(), arg_params["fc_weight"], aux, sorted(os.listdir("."))


def callback_functions():
    from collections import namedtuple

    Param = namedtuple("BatchEndParam", ["epoch", "nbatch", "eval_metric", "locals"])
    speed = mx.callback.Speedometer(4, 2)
    for i in range(4):
        speed(Param(0, i, None, None))
    mx.callback.log_train_metric(1)(Param(0, 1, gluon.metric.Accuracy(), None))
    mx.callback.ProgressBar(4)(Param(0, 2, None, None))
    return "called"


def checkpoint_callback():
    s = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=1, name="fc")
    mx.callback.do_checkpoint("c", period=2)(1, s, {"fc_weight": mx.nd.ones((1, 2))}, {})
    return sorted(os.listdir("."))


def estimator_fits():
    from mxnet.gluon.contrib.estimator import Estimator

    net = nn.Dense(2)
    net.initialize(mx.init.Constant(0.1))
    d = gluon.data.ArrayDataset(onp.ones((8, 3), "float32"), onp.array([0, 1] * 4))
    acc = gluon.metric.Accuracy()
    est = Estimator(
        net,
        gluon.loss.SoftmaxCrossEntropyLoss(),
        train_metrics=acc,
        trainer=gluon.Trainer(net.collect_params(), "sgd"),
    )
    est.fit(gluon.data.DataLoader(d, 4), epochs=2)
    return [m.get()[0] for m in est.train_metrics], est.train_metrics[0].get()[1]


def estimator_evaluates():
    from mxnet.gluon.contrib.estimator import Estimator

    net = nn.Dense(2)
    net.initialize(mx.init.Constant(0.1))
    d = gluon.data.ArrayDataset(onp.ones((4, 3), "float32"), onp.array([0, 0, 0, 1]))
    est = Estimator(net, gluon.loss.SoftmaxCrossEntropyLoss(), val_metrics=gluon.metric.Accuracy())
    est.evaluate(gluon.data.DataLoader(d, 2))
    return [m.get() for m in est.val_metrics]


def estimator_events():
    from mxnet.gluon.contrib.estimator import Estimator
    from mxnet.gluon.contrib.estimator.event_handler import (
        BatchEnd,
        EpochBegin,
        EpochEnd,
        TrainBegin,
        TrainEnd,
    )

    seen = []

    class Notes(TrainBegin, TrainEnd, EpochBegin, EpochEnd, BatchEnd):
        def train_begin(self, estimator, *args, **kwargs):
            seen.append("train_begin")

        def train_end(self, estimator, *args, **kwargs):
            seen.append("train_end")

        def epoch_begin(self, estimator, *args, **kwargs):
            seen.append("epoch_begin")

        def epoch_end(self, estimator, *args, **kwargs):
            seen.append("epoch_end")

        def batch_end(self, estimator, *args, **kwargs):
            seen.append(kwargs["loss"].__class__.__name__)

    net = nn.Dense(1)
    net.initialize()
    d = gluon.data.ArrayDataset(onp.ones((4, 3), "float32"), onp.ones(4, "float32"))
    est = Estimator(net, gluon.loss.L2Loss(), train_metrics=gluon.metric.MAE())
    est.fit(gluon.data.DataLoader(d, 2), epochs=1, event_handlers=[Notes()])
    return seen


def estimator_checkpoints():
    from mxnet.gluon.contrib.estimator import CheckpointHandler, Estimator

    net = nn.Dense(1)
    net.initialize()
    d = gluon.data.ArrayDataset(onp.ones((4, 3), "float32"), onp.ones(4, "float32"))
    est = Estimator(net, gluon.loss.L2Loss(), train_metrics=gluon.metric.MAE())
    est.fit(gluon.data.DataLoader(d, 2), epochs=2, event_handlers=[CheckpointHandler("out", "net")])
    return sorted(os.listdir("out"))


def estimator_stops_early():
    from mxnet.gluon.contrib.estimator import EarlyStoppingHandler, Estimator

    net = nn.Dense(1)
    net.initialize(mx.init.Zero())
    d = gluon.data.ArrayDataset(onp.zeros((4, 3), "float32"), onp.zeros(4, "float32"))
    mae = gluon.metric.MAE()
    est = Estimator(net, gluon.loss.L2Loss(), train_metrics=mae)
    stop = EarlyStoppingHandler(monitor=est.train_metrics[0], patience=1, mode="min")
    est.fit(gluon.data.DataLoader(d, 2), epochs=10, event_handlers=[stop])
    return stop.stop_training, stop.current_epoch


def model_zoo_names():
    net = gluon.model_zoo.vision.get_model("squeezenet1.0", classes=4)
    net.initialize()
    return net(np.ones((1, 3, 224, 224))).shape, error(gluon.model_zoo.vision.get_model, "nothing")


def model_zoo_resnet():
    net = gluon.model_zoo.vision.resnet18_v1(classes=3)
    net.initialize()
    net.hybridize()
    return (
        net(np.ones((1, 3, 32, 32))).shape,
        list(net.collect_params())[:6],
        len(net.collect_params()),
    )


def contrib_text():
    import collections

    from mxnet.contrib import text

    counter = collections.Counter(["a", "b", "b", "c", "c", "c"])
    v = text.vocab.Vocabulary(counter, min_freq=2, unknown_token="<u>", reserved_tokens=["<p>"])
    return v.idx_to_token, v.to_indices(["c", "z"]), v.to_tokens([2]), len(v)


def subgraph_backends():
    return hasattr(mx.sym.Symbol, "optimize_for"), error(mx.library.load, "/nothing.so")


def rtc_on_cpu():
    return error(mx.rtc.CudaModule, 'extern "C" __global__ void f() {}')


def random_seed_of_device():
    mx.random.seed(5, device=mx.cpu())
    a = np.random.uniform(size=2)
    mx.random.seed(5)
    return bool((np.random.uniform(size=2) == a).all())


def monitor_values():
    seen = []
    net = nn.HybridSequential()
    net.add(nn.Dense(1, in_units=2))
    net.initialize(mx.init.One())
    net[0].register_forward_hook(lambda b, x, y: seen.append(float(np.abs(y).mean())))
    net(np.ones((1, 2)))
    return seen
