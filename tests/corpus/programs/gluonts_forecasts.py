"""GluonTS 0.15.1: estimators trained for a few batches, and distributions."""

import mxnet as mx
import numpy as np
from corpus_cases import arrays
from gluonts.dataset.artificial import constant_dataset
from gluonts.evaluation import Evaluator
from gluonts.evaluation.backtest import make_evaluation_predictions
from gluonts.mx.trainer import Trainer
from mxnet import autograd, nd

INFO, TRAIN, TEST = constant_dataset()
FREQ, LENGTH = INFO.metadata.freq, INFO.prediction_length
SHORT = {"epochs": 1, "num_batches_per_epoch": 3, "learning_rate": 1e-3}


def _forecast(estimator):
    predictor = estimator.train(TRAIN)
    forecasts, series = make_evaluation_predictions(
        dataset=TEST, predictor=predictor, num_samples=10
    )
    forecasts, series = list(forecasts), list(series)
    figures, _ = Evaluator(num_workers=None)(
        iter(series), iter(forecasts), num_series=len(forecasts)
    )
    return (
        len(forecasts),
        list(forecasts[0].samples.shape) if hasattr(forecasts[0], "samples") else None,
        np.isfinite(figures["MSE"]),
    )


def case_deepar():
    from gluonts.mx.model.deepar import DeepAREstimator

    return _forecast(
        DeepAREstimator(freq=FREQ, prediction_length=LENGTH, num_cells=8, trainer=Trainer(**SHORT))
    )


def case_deepar_not_hybridized():
    from gluonts.mx.model.deepar import DeepAREstimator

    return _forecast(
        DeepAREstimator(
            freq=FREQ,
            prediction_length=LENGTH,
            num_cells=8,
            trainer=Trainer(hybridize=False, **SHORT),
        )
    )


def case_simple_feedforward():
    from gluonts.mx.model.simple_feedforward import SimpleFeedForwardEstimator

    return _forecast(SimpleFeedForwardEstimator(prediction_length=LENGTH, trainer=Trainer(**SHORT)))


def case_transformer():
    from gluonts.mx.model.transformer import TransformerEstimator

    return _forecast(
        TransformerEstimator(
            freq=FREQ,
            prediction_length=LENGTH,
            model_dim=8,
            num_heads=2,
            inner_ff_dim_scale=2,
            trainer=Trainer(**SHORT),
        )
    )


def case_wavenet():
    from gluonts.mx.model.wavenet import WaveNetEstimator

    return _forecast(
        WaveNetEstimator(
            freq=FREQ,
            prediction_length=LENGTH,
            num_bins=16,
            dilation_depth=2,
            n_stacks=1,
            trainer=Trainer(**SHORT),
        )
    )


def case_seq2seq_quantiles():
    from gluonts.mx.model.seq2seq import MQCNNEstimator

    return _forecast(
        MQCNNEstimator(
            freq=FREQ,
            prediction_length=LENGTH,
            channels_seq=[4, 4],
            dilation_seq=[1, 2],
            kernel_size_seq=[3, 3],
            decoder_mlp_dim_seq=[8],
            trainer=Trainer(**SHORT),
        )
    )


def case_deep_state():
    from gluonts.mx.model.deepstate import DeepStateEstimator

    return _forecast(
        DeepStateEstimator(
            freq="D",
            prediction_length=LENGTH,
            cardinality=[1],
            use_feat_static_cat=False,
            num_cells=8,
            num_layers=1,
            past_length=4,
            trainer=Trainer(**SHORT),
        )
    )


def case_deep_factor():
    from gluonts.mx.model.deep_factor import DeepFactorEstimator

    return _forecast(
        DeepFactorEstimator(freq=FREQ, prediction_length=LENGTH, trainer=Trainer(**SHORT))
    )


def case_lstnet_and_nbeats():
    from gluonts.mx.model.n_beats import NBEATSEstimator

    return _forecast(
        NBEATSEstimator(
            freq=FREQ,
            prediction_length=LENGTH,
            num_stacks=2,
            num_blocks=[1],
            widths=[8],
            trainer=Trainer(**SHORT),
        )
    )


def case_temporal_fusion():
    from gluonts.mx.model.tft import TemporalFusionTransformerEstimator

    return _forecast(
        TemporalFusionTransformerEstimator(
            freq=FREQ, prediction_length=LENGTH, hidden_dim=8, num_heads=2, trainer=Trainer(**SHORT)
        )
    )


def case_gaussian_process():
    from gluonts.mx.model.gp_forecaster import GaussianProcessEstimator

    return _forecast(
        GaussianProcessEstimator(
            freq=FREQ, prediction_length=LENGTH, cardinality=len(TRAIN), trainer=Trainer(**SHORT)
        )
    )


def case_canonical_rnn():
    from gluonts.mx.model.canonical import CanonicalRNNEstimator

    return _forecast(
        CanonicalRNNEstimator(
            freq=FREQ,
            prediction_length=LENGTH,
            num_cells=8,
            cardinality=[1],
            embedding_dimension=2,
            context_length=LENGTH,
            trainer=Trainer(**SHORT),
        )
    )


def case_save_and_load():
    import tempfile
    from pathlib import Path

    from gluonts.model.predictor import Predictor
    from gluonts.mx.model.simple_feedforward import SimpleFeedForwardEstimator

    predictor = SimpleFeedForwardEstimator(
        prediction_length=LENGTH, trainer=Trainer(**SHORT)
    ).train(TRAIN)
    with tempfile.TemporaryDirectory() as folder:
        predictor.serialize(Path(folder))
        again = Predictor.deserialize(Path(folder))
    return len(list(again.predict(TEST)))


def _distributions():
    from gluonts.mx import distribution as d

    mu, sigma = nd.array(arrays((3, 2))), nd.array(np.abs(arrays((3, 2), 1)) + 0.5)
    yield "gaussian", d.Gaussian(mu, sigma), mu
    yield "laplace", d.Laplace(mu, sigma), mu
    yield "student", d.StudentT(mu, sigma, nd.ones((3, 2)) * 4), mu
    yield "gamma", d.Gamma(sigma, sigma + 1), sigma
    yield "beta", d.Beta(sigma, sigma + 1), nd.sigmoid(mu)
    yield "poisson", d.Poisson(sigma * 3), nd.round(sigma)
    yield "negative binomial", d.NegativeBinomial(sigma, sigma + 1), nd.round(sigma)
    yield "uniform", d.Uniform(mu, mu + sigma), mu + sigma * 0.5
    yield (
        "categorical",
        d.Categorical(nd.log_softmax(nd.array(arrays((3, 4))))),
        nd.array([0, 3, 1]),
    )


def case_distributions():
    results = {}
    for name, distribution, x in _distributions():
        x.attach_grad()
        with autograd.record():
            value = distribution.log_prob(x)
        value.backward()
        sample = distribution.sample(num_samples=4)
        results[name] = [
            value,
            list(sample.shape),
            distribution.mean if name != "categorical" else None,
        ]
    return results


def case_kernels():
    from gluonts.mx.kernels import PeriodicKernel, RBFKernel

    x = nd.array(arrays((1, 5, 1)))
    rbf = RBFKernel(nd.ones((1, 1, 1)), nd.ones((1, 1, 1)) * 0.7)
    periodic = PeriodicKernel(nd.ones((1, 1, 1)), nd.ones((1, 1, 1)), nd.ones((1, 1, 1)) * 0.7)
    return rbf.kernel_matrix(x, x), periodic.kernel_matrix(x, x), mx.__name__ is not None
