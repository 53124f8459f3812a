"""GluonNLP 0.10.0: models with fixed values, short trainings, samplers, losses, vocabularies."""

import gluonnlp as nlp
import mxnet as mx
import numpy as np
from corpus_cases import arrays, fill
from mxnet import autograd, gluon, nd

WORDS = [f"w{i}" for i in range(60)]


def _vocab():
    return nlp.Vocab(nlp.data.count_tokens(WORDS * 2))


def _twice(net, *inputs):
    """The outputs imperatively, and hybridized; they must agree."""
    net.initialize()
    net(*inputs)
    fill(net.collect_params(), 0.02)
    one = _flat(net(*inputs))
    net.hybridize()
    two = _flat(net(*inputs))
    for a, b in zip(one, two):
        np.testing.assert_allclose(a.asnumpy(), b.asnumpy(), rtol=1e-3, atol=1e-4)
    return two


def _flat(value):
    if isinstance(value, (list, tuple)):
        return [array for one in value for array in _flat(one)]
    return [value]


def _ids(shape, top=60, seed=0):
    return nd.array(np.random.RandomState(seed).randint(0, top, shape))


def _bert(name, **options):
    model, _ = nlp.model.get_model(
        name, dataset_name=None, vocab=_bert_vocab(), pretrained=False, **options
    )
    return model


def _bert_vocab():
    return nlp.vocab.BERTVocab(nlp.data.count_tokens(WORDS))


def case_bert_base():
    model = _bert("bert_12_768_12", use_decoder=False, use_classifier=False, dropout=0.0)
    return _twice(model, _ids((2, 8)), nd.zeros((2, 8)), nd.array([8, 5]))


def case_bert_pretraining_heads():
    model = _bert("bert_12_768_12", use_decoder=True, use_classifier=True, dropout=0.0)
    return _twice(
        model, _ids((2, 8)), nd.zeros((2, 8)), nd.array([8, 5]), nd.array([[1, 3], [2, 4]])
    )


def case_roberta():
    model, _ = nlp.model.get_model(
        "roberta_12_768_12", dataset_name=None, vocab=_vocab(), pretrained=False, use_decoder=False
    )
    return _twice(model, _ids((2, 8)), nd.array([8, 5]))


def case_distilbert():
    model = _bert("distilbert_6_768_12")
    return _twice(model, _ids((2, 8)), nd.array([8, 5]))


def case_ernie():
    model, _ = nlp.model.get_model(
        "ernie_12_768_12",
        dataset_name=None,
        vocab=_bert_vocab(),
        pretrained=False,
        use_decoder=False,
        use_classifier=False,
    )
    return _twice(model, _ids((2, 8)), nd.zeros((2, 8)), nd.array([8, 5]))


def case_bert_classifier_trains():
    bert = nlp.model.BERTModel(
        nlp.model.BERTEncoder(
            units=16, hidden_size=32, num_layers=2, num_heads=2, max_length=12, dropout=0.0
        ),
        vocab_size=64,
        token_type_vocab_size=2,
        units=16,
        embed_size=16,
        use_decoder=False,
        use_classifier=False,
    )
    net = nlp.model.BERTClassifier(bert, num_classes=3, dropout=0.0)
    net.initialize(mx.init.Normal(0.02))
    net.hybridize(static_alloc=True)
    trainer = gluon.Trainer(
        net.collect_params(), "bertadam", {"learning_rate": 1e-3, "epsilon": 1e-6}
    )
    loss = gluon.loss.SoftmaxCELoss()
    for step in range(4):
        with autograd.record():
            value = loss(
                net(_ids((4, 10), seed=step), nd.zeros((4, 10)), nd.array([10, 8, 6, 10])),
                nd.array([0, 1, 2, 0]),
            ).mean()
        value.backward()
        trainer.allreduce_grads()
        nlp.utils.clip_grad_global_norm(
            [p for p in net.collect_params().values() if p.grad_req != "null"], 1
        )
        trainer.update(1)
    return bool(np.isfinite(value.asscalar()))


def case_transformer_translation():
    encoder, decoder, one_step = nlp.model.transformer.get_transformer_encoder_decoder(
        num_layers=2,
        num_heads=2,
        units=16,
        hidden_size=32,
        max_src_length=12,
        max_tgt_length=12,
        dropout=0.0,
    )
    net = nlp.model.translation.NMTModel(
        src_vocab=_vocab(),
        tgt_vocab=_vocab(),
        encoder=encoder,
        decoder=decoder,
        one_step_ahead_decoder=one_step,
        embed_size=16,
        prefix="transformer_",
    )
    net.initialize(mx.init.Xavier())
    src, tgt, src_len, tgt_len = (
        _ids((3, 9)),
        _ids((3, 7), seed=1),
        nd.array([9, 5, 7]),
        nd.array([7, 7, 4]),
    )
    net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 1e-3})
    loss = nlp.loss.MaskedSoftmaxCELoss()
    for _ in range(3):
        with autograd.record():
            outputs, _ = net(src, tgt, src_len, tgt_len)
            value = loss(outputs, tgt, tgt_len).mean()
        value.backward()
        trainer.step(1)
    return list(outputs.shape)


def case_beam_search():
    model, vocab = nlp.model.get_model(
        "standard_lstm_lm_200", dataset_name=None, vocab=_vocab(), pretrained=False
    )
    model.initialize()

    class Decoder:
        def __call__(self, inputs, states):
            outputs, states = model(nd.expand_dims(inputs, axis=0), states)
            return outputs[0], states

        def state_info(self, *args, **kwargs):
            return model.state_info(*args, **kwargs)

    scorer = nlp.model.BeamSearchScorer(alpha=0, K=5, from_logits=False)
    sampler = nlp.model.BeamSearchSampler(
        beam_size=3, decoder=Decoder(), eos_id=vocab[vocab.eos_token], scorer=scorer, max_length=5
    )
    samples, scores, lengths = sampler(nd.array([5, 6]), model.begin_state(batch_size=2))
    return list(samples.shape[:2]), list(scores.shape), list(lengths.shape)


def case_language_models():
    results = []
    for name in ("standard_lstm_lm_200", "standard_lstm_lm_650", "awd_lstm_lm_600"):
        model, _ = nlp.model.get_model(name, dataset_name=None, vocab=_vocab(), pretrained=False)
        model.initialize()
        x = _ids((5, 3))
        state = model.begin_state(func=nd.zeros, batch_size=3)
        model(x, state)
        fill(model.collect_params(), 0.02)
        output, state = model(x, state)
        results.append([output, *_flat(state)])
    return results


def case_language_model_trains_with_carried_states():
    model, _ = nlp.model.get_model(
        "awd_lstm_lm_600", dataset_name=None, vocab=_vocab(), pretrained=False
    )
    model.initialize(mx.init.Xavier())
    model.hybridize(static_alloc=True)
    trainer = gluon.Trainer(model.collect_params(), "sgd", {"learning_rate": 0.1})
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    state = model.begin_state(func=nd.zeros, batch_size=3)
    data = _ids((21, 3))
    for i in range(0, 20, 5):
        with autograd.record():
            output, state = model(data[i : i + 5], state)
            value = loss(output.reshape((-3, -1)), data[i + 1 : i + 6].reshape((-1,))).mean()
        value.backward()
        state = (
            nlp.model.train.detach(state)
            if hasattr(nlp.model.train, "detach")
            else [
                [s.detach() for s in one] if isinstance(one, list) else one.detach()
                for one in state
            ]
        )
        trainer.step(1)
    return bool(np.isfinite(value.asscalar()))


def case_big_language_model():
    model = nlp.model.language_model.BigRNN(60, 8, 16, 1, 8, 0.0, 0.0)
    model.initialize()
    model(_ids((4, 2)), model.begin_state(batch_size=2, func=nd.zeros))
    fill(model.collect_params(), 0.02)
    output, _ = model(_ids((4, 2)), model.begin_state(batch_size=2, func=nd.zeros))
    return output


def case_elmo():
    model = nlp.model.ELMoBiLM(
        rnn_type="lstmpc",
        output_size=8,
        char_vocab_size=262,
        filters=[[1, 4], [2, 4]],
        char_embed_size=4,
        num_highway=1,
        conv_layer_activation="relu",
        max_chars_per_token=10,
        input_size=8,
        hidden_size=16,
        proj_size=8,
        num_layers=2,
        cell_clip=3,
        proj_clip=3,
        skip_connection=True,
    )
    model.initialize()
    x = _ids((2, 5, 10), 200) + 1
    mask = nd.array([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]])
    state = model.begin_state(mx.nd.zeros, batch_size=2)
    model(x, state, mask)
    fill(model.collect_params(), 0.02)
    outputs, _ = model(x, state, mask)
    return outputs


def case_attention_cells():
    results = []
    dot = nlp.model.DotProductAttentionCell(scaled=True)
    for cell in (
        nlp.model.MultiHeadAttentionCell(dot, 8, 8, 8, 2),
        nlp.model.MLPAttentionCell(units=8),
        nlp.model.DotProductAttentionCell(units=8, luong_style=True),
    ):
        cell.initialize()
        query, key = nd.array(arrays((2, 3, 8))), nd.array(arrays((2, 5, 8), 1))
        mask = nd.ones((2, 3, 5))
        cell(query, key, key, mask)
        fill(cell.collect_params())
        results.append([*cell(query, key, key, mask)])
    return results


def case_losses():
    prediction, label = nd.array(arrays((2, 4, 6))), _ids((2, 4), 6)
    smoothing = nlp.loss.LabelSmoothing(epsilon=0.1, units=6)
    activation = nlp.loss.ActivationRegularizationLoss(alpha=2)
    temporal = nlp.loss.TemporalActivationRegularizationLoss(beta=1)
    return [
        nlp.loss.MaskedSoftmaxCELoss()(prediction, label, nd.array([4, 2])),
        smoothing(label),
        activation(prediction),
        temporal(prediction),
    ]


def case_highway_and_encoders():
    highway = nlp.model.Highway(input_size=6, num_layers=2)
    encoder = nlp.model.ConvolutionalEncoder(
        embed_size=6, num_filters=(3, 4), ngram_filter_sizes=(1, 2), output_size=5
    )
    one = _twice(highway, nd.array(arrays((3, 6))))
    two = _twice(encoder, nd.array(arrays((5, 3, 6))), nd.ones((5, 3)))
    return one, two


def case_sampled_softmax():
    sampler = nlp.data.candidate_sampler.UnigramCandidateSampler(weights=nd.array(np.arange(1, 21)))
    sampler.initialize()
    return list(sampler(nd.ones((5,))).shape)


def case_optimizers():
    results = []
    for name in ("bertadam", "lamb", "lookahead"):
        if name not in mx.optimizer.Optimizer.opt_registry:
            continue
        layer = gluon.nn.Dense(3, in_units=4)
        layer.initialize()
        fill(layer.collect_params())
        options = (
            {"learning_rate": 0.01}
            if name != "lookahead"
            else {"base_optimizer": mx.optimizer.SGD(learning_rate=0.1)}
        )
        trainer = gluon.Trainer(layer.collect_params(), name, options)
        for _ in range(3):
            with autograd.record():
                value = (layer(nd.array(arrays((5, 4)))) ** 2).sum()
            value.backward()
            trainer.step(1)
        results.append([name, layer.weight.data()])
    return results


def case_vocabulary_and_embedding():
    vocab = _vocab()
    embedding = nlp.embedding.TokenEmbedding(unknown_token="<unk>", allow_extend=True)
    embedding["w1"] = nd.ones(4)
    embedding["w2"] = nd.ones(4) * 2
    vocab.set_embedding(embedding)
    again = nlp.Vocab.from_json(vocab.to_json())
    return vocab.embedding[["w1", "w2", "w9"]], len(again), vocab["w3"] == again["w3"]


def case_samplers_and_batchify():
    lengths = [5, 9, 3, 7, 2, 8, 6, 4]
    samplers = [
        nlp.data.FixedBucketSampler(lengths, batch_size=2, num_buckets=2),
        nlp.data.SortedSampler(lengths),
        nlp.data.SortedBucketSampler(lengths, batch_size=2, mult=4),
    ]
    batchify = nlp.data.batchify.Tuple(
        nlp.data.batchify.Pad(pad_val=0, ret_length=True), nlp.data.batchify.Stack("float32")
    )
    data = [(list(range(n)), n % 2) for n in lengths]
    loader = gluon.data.DataLoader(
        gluon.data.SimpleDataset(data), batch_size=4, batchify_fn=batchify
    )
    return [
        sorted(np.concatenate([np.atleast_1d(one) for one in sampler]).tolist())
        for sampler in samplers
    ], [[x, n, y] for (x, n), y in loader]


def case_tokenizers():
    tokenizer = nlp.data.BERTTokenizer(_bert_vocab(), lower=True)
    transform = nlp.data.BERTSentenceTransform(tokenizer, max_seq_length=8, pair=True)
    return [
        tokenizer("w1 w2, W3!"),
        [part for part in transform(("w1 w2", "w3 w4"))],
        nlp.data.SacreMosesTokenizer.__name__,
    ]
