import mxnet as mx
import numpy as onp
from mxnet import gluon, np
from mxnet.gluon import metric

from tests.programs_2_0.errors import error

PROBS = onp.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6], [0.2, 0.5, 0.3], [0.3, 0.3, 0.4]], "float32")
LABELS = [0, 2, 0, 1]


def _after(m, labels, preds, times=2):
    """Name and value before, after one and after several updates, and after a reset."""
    found = [m.get()]
    for _ in range(times):
        m.update(labels, preds)
        found.append(m.get())
    m.reset()
    return [*found, m.get()]


def accuracy():
    return _after(metric.Accuracy(), np.array(LABELS), np.array(PROBS))


def accuracy_of_lists():
    m = metric.Accuracy()
    m.update([np.array([0, 1]), np.array([2])], [np.array([0, 1]), np.array([1])])
    return m.get(), m.get_name_value()


def accuracy_axis_and_names():
    m = metric.Accuracy(axis=1, name="mine")
    m.update(np.array([[0, 1]]), np.array([[[0.9, 0.4], [0.1, 0.6]]]))
    return m.get()


def top_k():
    return _after(metric.TopKAccuracy(top_k=2), np.array(LABELS), np.array(PROBS))


def top_k_of_one():
    return error(metric.TopKAccuracy, top_k=1)


def f1_binary():
    preds = np.array([[0.3, 0.7], [0.8, 0.2], [0.4, 0.6], [0.9, 0.1]])
    return _after(metric.F1(), np.array([1, 0, 0, 1]), preds)


def f1_of_averages():
    preds = np.array(PROBS)
    found = []
    for kind, average in (("multiclass", "macro"), ("multiclass", "micro")):
        m = metric.F1(class_type=kind, average=average)
        m.update(np.array(LABELS), preds)
        found.append(m.get())
    return found


def f1_multilabel():
    m = metric.F1(class_type="multilabel", threshold=0.4)
    m.update(np.array([[1, 0], [0, 1]]), np.array([[0.6, 0.5], [0.1, 0.9]]))
    return m.get()


def fbeta():
    preds = np.array([[0.3, 0.7], [0.8, 0.2], [0.4, 0.6]])
    return _after(metric.Fbeta(beta=2), np.array([1, 0, 0]), preds)


def binary_accuracy():
    return _after(
        metric.BinaryAccuracy(threshold=0.6), np.array([1, 0, 1]), np.array([0.7, 0.7, 0.2])
    )


def matthews():
    preds = np.array([[0.3, 0.7], [0.8, 0.2], [0.4, 0.6], [0.9, 0.1]])
    return _after(metric.MCC(), np.array([1, 0, 0, 1]), preds)


def pearson():
    m = metric.PearsonCorrelation()
    return _after(m, np.array([1.0, 2.0, 4.0]), np.array([1.1, 1.9, 3.0]))


def phi_coefficient():
    return _after(metric.PCC(), np.array(LABELS), np.array(PROBS))


def errors_of_regression():
    y, p = np.array([1.0, 2.0, 4.0]), np.array([1.5, 2.0, 3.0])
    return [_after(m, y, p) for m in (metric.MAE(), metric.MSE(), metric.RMSE())]


def errors_of_two_dimensions():
    y, p = np.array([[1.0], [2.0]]), np.array([[1.5], [4.0]])
    return [_after(m, y, p, 1) for m in (metric.MAE(), metric.MSE(), metric.RMSE())]


def errors_over_different_batches():
    m = metric.RMSE()
    m.update(np.array([1.0, 2.0]), np.array([2.0, 4.0]))
    m.update(np.array([1.0]), np.array([1.0]))
    return m.get()


def cross_entropy():
    return _after(metric.CrossEntropy(), np.array(LABELS), np.array(PROBS))


def perplexity():
    return _after(metric.Perplexity(ignore_label=None), np.array(LABELS), np.array(PROBS))


def perplexity_with_ignored_label():
    return _after(metric.Perplexity(ignore_label=0), np.array(LABELS), np.array(PROBS))


def mean_pairwise_distance():
    m = metric.MeanPairwiseDistance()
    return _after(m, np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[1.0, 1.0], [0.0, 0.0]]))


def mean_cosine_similarity():
    m = metric.MeanCosineSimilarity()
    return _after(m, np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[1.0, 1.0], [1.0, 0.0]]))


def loss_metric():
    return _after(metric.Loss(), None, np.array([1.0, 2.0, 6.0]))


def loss_metric_of_lists():
    m = metric.Loss(name="train")
    m.update(0, [np.array([1.0]), np.array([3.0])])
    m.update(0, np.array(5.0))
    return m.get()


def composite():
    m = metric.CompositeEvalMetric()
    m.add(metric.Accuracy())
    m.add(metric.CrossEntropy())
    return _after(m, np.array(LABELS), np.array(PROBS))


def composite_of_names():
    m = metric.CompositeEvalMetric(["acc", "ce"], name="both")
    m.update(np.array(LABELS), np.array(PROBS))
    return m.get(), m.get_metric(0).get(), error(m.get_metric, 5) if False else 0


def custom_function():
    m = metric.CustomMetric(lambda y, p: float(abs(y - p).max()), name="worst")
    return _after(m, np.array([1.0, 2.0]), np.array([1.5, 1.0]))


def np_wrapper():
    def gap(label, pred):
        return ((label - pred) ** 2).mean()

    m = metric.np(gap)
    m.update(np.array([1.0, 2.0]), np.array([2.0, 2.0]))
    return m.get()


def creation_by_name():
    names = ("acc", "accuracy", "mse", "rmse", "mae", "f1", "ce", "mcc", "loss", "top_k_accuracy")
    return [metric.create(n, **({"top_k": 3} if "top" in n else {})).name for n in names]


def creation_from_lists_and_functions():
    a, b = metric.create(["acc", "mse"]), metric.create(lambda y, p: 1.0)
    return type(a).__name__, type(b).__name__, metric.create(metric.MAE()).name


def creation_unknown():
    return error(metric.create, "not a metric")


def own_metric():
    class Positives(metric.EvalMetric):
        def __init__(self):
            super().__init__("positives")

        def update(self, labels, preds):
            self.sum_metric += int((preds > 0).sum())
            self.num_inst += preds.size

    return _after(Positives(), None, np.array([1.0, -1.0, 2.0, -3.0]))


def registered_metric():
    @metric.register
    class Constant(metric.EvalMetric):
        def __init__(self, name="constant"):
            super().__init__(name)

        def update(self, labels, preds):
            self.sum_metric += 1
            self.num_inst += 2

    m = metric.create("constant")
    m.update(None, None)
    return m.get()


def metric_strings():
    return str(metric.Accuracy()), str(metric.MSE()), metric.Accuracy().get_config()


def update_dict_by_names():
    m = metric.Accuracy(output_names=["out"], label_names=["y"])
    m.update_dict(
        {"y": np.array([1, 0])}, {"out": np.array([[0.1, 0.9], [0.2, 0.8]]), "z": np.ones(1)}
    )
    return m.get()


def wrong_lengths():
    m = metric.Accuracy()
    return error(m.update, [np.array([1])], [np.array([1]), np.array([0])])


def empty_metric():
    return [m.get() for m in (metric.Accuracy(), metric.MSE(), metric.Loss(), metric.F1())]


def accuracy_of_numpy_arrays():
    m = metric.Accuracy()
    m.update(np.array([1, 1], dtype="int32"), np.array([1, 0], dtype="int32"))
    return m.get()


def value_types():
    m = metric.Accuracy()
    m.update(np.array([1, 0]), np.array([1, 0]))
    return type(m.get()[1]).__name__, m.num_inst


def metric_in_loop():
    m = metric.create("mse")
    for i in range(4):
        m.update(np.array([1.0 * i]), np.array([2.0]))
    return m.get(), dict(m.get_name_value())


def metrics_have_left_the_top():
    return hasattr(mx, "metric"), hasattr(gluon, "metric")
