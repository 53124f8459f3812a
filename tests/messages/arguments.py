"""Names of arguments in PyTorch and Keras."""

from tests.messages.mistake import Mistake

MISTAKES = {
    "Conv stride": Mistake(
        """
        nn.Conv2D(3, 3, stride=2)
        """,
        TypeError,
        "'stride' | strides",
    ),
    "Dropout p": Mistake(
        """
        nn.Dropout(p=0.5)
        """,
        TypeError,
        "'p' | rate",
    ),
    "BatchNorm num_features": Mistake(
        """
        nn.BatchNorm(num_features=3)
        """,
        TypeError,
        "'num_features' | in_channels",
    ),
    "BatchNorm eps": Mistake(
        """
        nn.BatchNorm(eps=1e-5)
        """,
        TypeError,
        "'eps' | epsilon",
    ),
    "LSTM batch_first": Mistake(
        """
        rnn.LSTM(4, batch_first=True)
        """,
        TypeError,
        "'batch_first' | layout='NTC'",
    ),
    "Embedding num": Mistake(
        """
        nn.Embedding(num_embeddings=3, embedding_dim=3)
        """,
        TypeError,
        "'num_embeddings' | input_dim",
    ),
    "Dense bias": Mistake(
        """
        nn.Dense(3, bias=False)
        """,
        TypeError,
        "'bias' | use_bias",
    ),
    "Dense in_features": Mistake(
        """
        nn.Dense(3, in_features=3)
        """,
        TypeError,
        "'in_features' | in_units",
    ),
    "MaxPool2D size": Mistake(
        """
        nn.MaxPool2D(kernel_size=2)
        """,
        TypeError,
        "'kernel_size' | pool_size",
    ),
    "Flatten start": Mistake(
        """
        nn.Flatten(start_dim=1)
        """,
        TypeError,
        "'start_dim' | reshape((0, 0, -1))",
    ),
    "MHA embed_dim": Mistake(
        """
        nn.MultiHeadAttention(embed_dim=12, num_heads=3)
        """,
        TypeError,
        "'embed_dim' | units",
    ),
    "model zoo weights": Mistake(
        """
        mx.gluon.model_zoo.vision.get_model('resnet18_v1', weights='IMAGENET')
        """,
        TypeError,
        "'weights' | pretrained=True",
    ),
    "softmax dim": Mistake(
        """
        nd.softmax(nd.ones((2, 3)), dim=1)
        """,
        ValueError,
        "'dim' | its name here is axis",
    ),
    "np softmax dim": Mistake(
        """
        npx.softmax(np.ones((2, 3)), dim=1)
        """,
        ValueError,
        "'dim' | its name here is axis",
    ),
    "sum dim": Mistake(
        """
        nd.ones((2, 3)).sum(dim=1)
        """,
        ValueError,
        "'dim' | its name here is axis",
    ),
    "nd.sum dim": Mistake(
        """
        nd.sum(nd.ones((2, 3)), dim=1)
        """,
        ValueError,
        "'dim' | its name here is axis",
    ),
    "keepdim": Mistake(
        """
        nd.ones((2, 3)).sum(axis=1, keepdim=True)
        """,
        ValueError,
        "'keepdim' | its name here is keepdims",
    ),
    "concat axis": Mistake(
        """
        nd.concat(nd.ones((2, 3)), nd.ones((2, 3)), axis=1)
        """,
        ValueError,
        "'axis' | its name here is dim",
    ),
    "random normal size": Mistake(
        """
        nd.random.normal(size=(2, 3))
        """,
        ValueError,
        "'size' | its name here is shape",
    ),
}
