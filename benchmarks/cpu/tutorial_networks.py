"""The networks of the tutorials in PyTorch, on the same data in the same order.

    PYTHON -m benchmarks.cpu.tutorial_networks vit --seed 1 [--quick] [--data FOLDER]

runs in an environment of PyTorch, without gluonish, and prints the last held-out loss of a tutorial
that `tutorial_losses` compares. Each function follows its tutorial section by section: batches,
learning rates, initial weights (drawn from the same distributions), dropout, decay and clipping are
the tutorial's.
"""

import argparse
import email
import math
import re
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

ROOT = Path(__file__).resolve().parents[2]


def cosine(step: int, steps: int, base: float, final: float, warmup: int) -> float:
    """Return the learning rate of a step (from 1 on), as `mx.lr_scheduler.CosineScheduler` does."""
    if step < warmup:
        return base * step / warmup
    progress = min(1.0, (step - warmup) / (steps - warmup))
    return final + (base - final) * (1 + math.cos(math.pi * progress)) / 2


def normal(weight: Any) -> None:
    """Draw a weight as `mx.init.Normal(0.02)` does."""
    nn.init.normal_(weight, 0, 0.02)


def initialized(net: nn.Module, draw: Callable[[Any], Any] = normal) -> nn.Module:
    """Draw all weights of two axes and more; biases are 0, and scales of norms 1."""
    for parameter in net.parameters():
        if parameter.ndim > 1:
            draw(parameter)
    for name, parameter in net.named_parameters():
        if name.endswith("bias"):
            nn.init.zeros_(parameter)
    return net


def train(
    net: nn.Module,
    losses: Iterable[Callable[[], Any]],
    rate: Callable[[int], float],
    decay: float,
    clip: float | None = None,
    beta2: float = 0.999,
) -> None:
    """Train with AdamW; each item of ``losses`` gives the loss of a step.

    Biases and norms, which have one axis, do not decay. Without decay, AdamW is Adam.
    """
    chosen = [x for x in net.parameters() if x.requires_grad]
    groups = [
        {"params": [x for x in chosen if x.ndim > 1], "weight_decay": decay},
        {"params": [x for x in chosen if x.ndim == 1], "weight_decay": 0.0},
    ]
    optimizer = torch.optim.AdamW(groups, lr=1.0, betas=(0.9, beta2), eps=1e-6)
    net.train()
    for step, loss_of in enumerate(losses, 1):
        for group in optimizer.param_groups:
            group["lr"] = rate(step)
        optimizer.zero_grad()
        loss_of().backward()
        if clip is not None:
            torch.nn.utils.clip_grad_norm_(chosen, clip)
        optimizer.step()
    net.eval()


def rotated(x: Any) -> Any:
    """Rotate heads (N, H, T, C) by their positions, as `gluon.nn.RotaryEmbedding` does."""
    half = x.shape[-1] // 2
    angles = torch.arange(x.shape[2])[:, None] * 10000.0 ** (-torch.arange(half) / half)
    cos, sin = angles.cos(), angles.sin()
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


class Attention(nn.Module):
    """Self-attention of several heads, as `gluon.nn.MultiHeadAttention` computes it."""

    def __init__(self, units: int, heads: int, causal: bool, rotary: bool) -> None:
        super().__init__()
        self.qkv, self.output = nn.Linear(units, 3 * units), nn.Linear(units, units)
        self.heads, self.causal, self.rotary = heads, causal, rotary

    def forward(self, x: Any) -> Any:
        """Return features (N, T, units)."""
        n, t, units = x.shape
        q, k, v = self.qkv(x).view(n, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        if self.rotary:
            q, k = rotated(q), rotated(k)
        made = functional.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        return self.output(made.transpose(1, 2).reshape(n, t, units))


class Layer(nn.Module):
    """A layer that normalizes its inputs: `gluon.nn.TransformerEncoderLayer(norm_first=True)`."""

    def __init__(
        self,
        units: int,
        heads: int,
        causal: bool,
        dropout: float,
        gelu: str = "none",
        rotary: bool = False,
    ) -> None:
        super().__init__()
        self.attention_norm, self.hidden_norm = nn.LayerNorm(units), nn.LayerNorm(units)
        self.attention = Attention(units, heads, causal, rotary)
        self.hidden, self.output = nn.Linear(units, 4 * units), nn.Linear(4 * units, units)
        self.gelu, self.dropout = nn.GELU(gelu), nn.Dropout(dropout)

    def forward(self, x: Any) -> Any:
        """Return features (N, T, units)."""
        x = x + self.dropout(self.attention(self.attention_norm(x)))
        return x + self.dropout(self.output(self.gelu(self.hidden(self.hidden_norm(x)))))


class GPT(nn.Module):
    """The network of gpt_from_scratch.py, and, with vectors of positions, of lora.py."""

    def __init__(
        self,
        words: int,
        units: int,
        heads: int,
        layers: int,
        positions: int | None,
        dropout: float = 0.1,
        gelu: str = "none",
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, units)
        self.position = None if positions is None else nn.Embedding(positions, units)
        self.dropout = nn.Dropout(dropout)
        rotary = positions is None
        self.layers = nn.Sequential(
            *(Layer(units, heads, True, dropout, gelu, rotary) for _ in range(layers))
        )
        self.norm, self.decoder = nn.LayerNorm(units), nn.Linear(units, words, bias=False)

    def forward(self, words: Any) -> Any:
        """Return scores (N, T, words)."""
        x = self.embedding(words)
        if self.position is not None:
            x = x + self.position.weight[: words.shape[1]]
        return self.decoder(self.norm(self.layers(self.dropout(x))))


class ViT(nn.Module):
    """The network of vit.py."""

    def __init__(self, patch: int, patches: int, units: int, heads: int, layers: int) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, units, patch, patch)
        self.position = nn.Embedding(patches, units)
        self.layers = nn.Sequential(*(Layer(units, heads, False, 0.0) for _ in range(layers)))
        self.norm, self.output = nn.LayerNorm(units), nn.Linear(units, 10)

    def forward(self, images: Any) -> Any:
        """Return scores (N, 10)."""
        x = self.patches(images).flatten(2).transpose(1, 2) + self.position.weight
        return self.output(self.norm(self.layers(x)).mean(1))


def moby_dick() -> tuple[np.ndarray, np.ndarray, int]:
    """Return the numbers of the characters to learn from, those held out, and how many occur."""
    text = (ROOT / "tutorials" / "moby_dick.txt").read_text("utf-8")
    alphabet = sorted(set(text))
    numbers = np.searchsorted(alphabet, list(text))
    train_text, test_text = np.split(numbers, [len(numbers) * 9 // 10])
    return train_text, test_text, len(alphabet)


def passages(source: np.ndarray, starts: np.ndarray, context: int) -> tuple[Any, Any]:
    """Return passages of a text (N, T), and the characters that follow."""
    places = starts[:, None] + np.arange(context)
    return torch.from_numpy(source[places]), torch.from_numpy(source[places + 1])


def next_loss(net: nn.Module, source: np.ndarray, starts: np.ndarray, context: int) -> Any:
    """Return the mean loss of the next character."""
    words, following = passages(source, starts, context)
    return functional.cross_entropy(net(words).flatten(0, 1), following.flatten())


@torch.no_grad()
def mean_next_loss(net: nn.Module, source: np.ndarray, context: int) -> float:
    """Return the mean loss of the next character of a whole text."""
    starts = np.arange(0, len(source) - context, context)
    parts = np.array_split(starts, -(-len(starts) // 64))
    losses = [float(next_loss(net, source, part, context)) * len(part) for part in parts]
    return sum(losses) / len(starts)


def gpt_from_scratch(options: argparse.Namespace) -> dict[str, float]:
    """Return the held-out loss of gpt_from_scratch.py."""
    layers, units, heads, steps = (2, 64, 4, 90) if options.quick else (3, 128, 4, 700)
    batch, context, rate = 16, 96, 3e-3
    train_text, test_text, characters = moby_dick()
    generator = np.random.default_rng(options.seed)
    starts = generator.integers(0, len(train_text) - context, (steps, batch))
    net = GPT(characters, units, heads, layers, None)
    initialized(net, nn.init.xavier_uniform_)
    train(
        net,
        (partial(next_loss, net, train_text, chosen, context) for chosen in starts),
        lambda step: cosine(step, steps, rate, rate / 10, steps // 20),
        decay=0.1,
        clip=1.0,
        beta2=0.99,
    )
    return {"held-out loss": mean_next_loss(net, test_text, context)}


def _digits(train: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the digits that come with gluonish, as `gluon.data.digits.load_digits` does."""
    with np.load(ROOT / "gluonish" / "gluon" / "data" / "digits.npz") as archive:
        pixels, labels = archive["images"], archive["labels"].astype(np.int64)
    held_out = np.zeros(labels.shape, bool)
    for digit in range(10):
        held_out[np.nonzero(labels == digit)[0][2::5]] = True
    images = pixels[held_out != train, None].astype(np.float32) / 16
    return np.repeat(images * 4 - 2, 3, axis=1), labels[held_out != train]


def _cifar10(folder: Path, train: bool) -> tuple[np.ndarray, np.ndarray]:
    names = [f"data_batch_{n}.bin" for n in range(1, 6)] if train else ["test_batch.bin"]
    records = np.concatenate([np.fromfile(folder / n, np.uint8).reshape(-1, 3073) for n in names])
    images = (records[:, 1:].reshape(-1, 3, 32, 32).astype(np.float32) - 121) / 64
    return images, records[:, 0].astype(np.int64)


def vit(options: argparse.Namespace) -> dict[str, float]:
    """Return the held-out loss of vit.py."""
    side, patch, layers, units, epochs, batch = (
        (8, 2, 2, 48, 8, 32) if options.quick else (32, 4, 3, 96, 1, 50)
    )
    generator = np.random.default_rng(options.seed)
    (images, labels), (test_images, test_labels) = (
        _digits(part) if options.quick else _cifar10(options.data, part) for part in (True, False)
    )
    images, labels = images[:25_000], labels[:25_000]
    net = ViT(patch, (side // patch) ** 2, units, 4, layers)
    initialized(net, nn.init.xavier_uniform_)

    def varied(images: np.ndarray) -> np.ndarray:
        far = side // 8
        padded = np.pad(images, ((0, 0), (0, 0), (far, far), (far, far)), mode="edge")
        result = np.empty_like(images)
        moves = generator.integers(0, 2 * far + 1, (len(images), 2))
        for place, (down, right) in enumerate(moves):
            result[place] = padded[place, :, down : down + side, right : right + side]
        if not options.quick:
            mirrored = generator.random(len(images)) < 0.5
            result[mirrored] = result[mirrored][..., ::-1]
        return result

    def losses() -> Iterable[Callable[[], Any]]:
        for _ in range(epochs):
            order = generator.permutation(len(images))
            for start in range(len(images) // batch):
                chosen = order[start * batch : (start + 1) * batch]
                given = torch.from_numpy(varied(images[chosen]))
                wanted = torch.from_numpy(labels[chosen])
                yield lambda x=given, y=wanted: functional.cross_entropy(net(x), y)

    steps = epochs * (len(images) // batch)
    train(net, losses(), lambda step: cosine(step, steps, 2e-3, 0.0, steps // 10), decay=0.05)
    with torch.no_grad():
        scores = torch.cat([net(x) for x in torch.from_numpy(test_images[:2000]).split(batch)])
        wanted = torch.from_numpy(test_labels[:2000])
        accuracy = (scores.argmax(1) == wanted).float().mean()
        loss = functional.cross_entropy(scores, wanted)
    return {"held-out loss": float(loss), "accuracy": float(accuracy)}


def words_of(file: Path) -> str:
    """Return subject and text of a mail, as fine_tune_bert.py reads it."""
    mail = email.message_from_bytes(file.read_bytes())
    parts = [part for part in mail.walk() if part.get_content_maintype() == "text"]
    raw: Any = parts[0].get_payload(decode=True) if parts else b""
    body = re.sub(
        r"<style.*?</style>|<[^>]*>|&\w+;",
        " ",
        (raw or b"").decode("latin-1"),
        flags=re.DOTALL | re.IGNORECASE,
    )
    return " ".join(f"{mail['subject']}. {body}"[:2000].split())


def fine_tune_bert(options: argparse.Namespace) -> dict[str, float]:
    """Return the held-out losses of fine_tune_bert.py, with the network of transformers."""
    from tokenizers import Tokenizer
    from transformers import BertConfig, BertForSequenceClassification

    count, test_count, epochs = (64, 32, 2) if options.quick else (480, 240, 2)
    batch, length = 16, 48
    generator = np.random.default_rng(options.seed)
    half = (count + test_count) // 2
    chosen: list[tuple[str, int]] = []
    for label, kind in enumerate(("ham", "spam")):
        files = sorted(x for x in options.data.glob(f"*{kind}*/*") if x.suffix != ".json")
        mails = list(dict.fromkeys(words_of(file) for file in files if file.name != "cmds"))
        chosen += [(mails[x], label) for x in generator.permutation(len(mails))[:half]]
    chosen = [chosen[x] for x in generator.permutation(len(chosen))]
    order = np.concatenate([generator.permutation(count) for _ in range(epochs)])
    tokenizer = Tokenizer.from_file(str(options.weights / "tokenizer.json"))
    tokenizer.enable_truncation(length)
    tokenizer.enable_padding(length=length)
    encoded = tokenizer.encode_batch([mail for mail, _ in chosen])
    tokens = torch.tensor([x.ids for x in encoded])
    mask = torch.tensor([x.attention_mask for x in encoded])
    labels = torch.tensor([label for _, label in chosen])
    steps = count * epochs // batch

    def loss_of(net: nn.Module, places: Any) -> tuple[Any, Any]:
        scores = net(tokens[places], attention_mask=mask[places]).logits
        return functional.cross_entropy(scores, labels[places]), scores

    found = {}
    for name in ("random weights", "given weights"):
        settings: dict[str, Any] = {"num_labels": 2}
        if name == "random weights":
            config = BertConfig.from_pretrained(options.weights, **settings)
            net: nn.Module = initialized(BertForSequenceClassification(config))
        else:
            net = BertForSequenceClassification.from_pretrained(options.weights, **settings)
            initialized(net.classifier)
        parts = (order[x * batch : (x + 1) * batch] for x in range(steps))
        train(
            net,
            (lambda part=part, net=net: loss_of(net, part)[0] for part in parts),
            lambda step: cosine(step, steps, 1e-4, 0.0, steps // 10),
            decay=0.01,
            clip=1.0,
        )
        with torch.no_grad():
            places = np.arange(count, count + test_count)
            loss, scores = loss_of(net, places)
        right = (scores.argmax(1) == labels[places]).float().mean()
        found |= {f"{name} loss": float(loss), f"{name} accuracy": float(right)}
    return found


class Adapter(nn.Module):
    """A dense layer with an adapter beside it, as `contrib.lora` computes it."""

    def __init__(self, dense: nn.Linear, rank: int, alpha: float) -> None:
        super().__init__()
        self.dense, self.scale = dense, alpha / rank
        self.a = nn.Parameter(torch.empty(rank, dense.in_features))
        self.b = nn.Parameter(torch.zeros(dense.out_features, rank))
        bound = dense.in_features**-0.5
        nn.init.uniform_(self.a, -bound, bound)

    def forward(self, x: Any) -> Any:
        """Return the layer's output."""
        return self.dense(x) + (x @ self.a.T @ self.b.T) * self.scale


def adapt(net: nn.Module, names: tuple[str, ...], rank: int, alpha: float) -> None:
    """Freeze a network, and add adapters to the dense layers of these names."""
    net.requires_grad_(False)
    for module in list(net.modules()):
        for name in names:
            if isinstance(getattr(module, name, None), nn.Linear):
                setattr(module, name, Adapter(getattr(module, name), rank, alpha))


def lora(options: argparse.Namespace) -> dict[str, float]:
    """Return the held-out losses of lora.py."""
    layers, units, heads, context = 3, 128, 4, 96
    base_steps, steps, base_batch, batch = (60, 30, 16, 8) if options.quick else (500, 200, 16, 8)
    alphabet = "\n" + "".join(map(chr, range(32, 127)))

    def numbers_of(path: Path) -> np.ndarray:
        text = path.read_text("utf-8").encode("ascii", "replace").decode()
        return np.array([alphabet.index(character) for character in text])

    novel = numbers_of(ROOT / "tutorials" / "moby_dick.txt")
    licence = numbers_of(ROOT / "LICENSE")
    first, held_out, last = np.split(licence, [len(licence) // 2, len(licence) * 2 // 3])
    licence = np.concatenate([first, last])
    generator = np.random.default_rng(options.seed)

    def learn(net: nn.Module, source: np.ndarray, starts: np.ndarray, rate: float) -> float:
        warmup = len(starts) // 20
        train(
            net,
            (partial(next_loss, net, source, chosen, context) for chosen in starts),
            lambda step: cosine(step, len(starts), rate, rate / 10, warmup),
            decay=0.0,
            clip=1.0,
            beta2=0.99,
        )
        with torch.no_grad():
            places = np.arange(0, len(held_out) - context, context // 2)
            return float(next_loss(net, held_out, places, context))

    def network() -> nn.Module:
        net = GPT(len(alphabet), units, heads, layers, context, dropout=0.0, gelu="tanh")
        net.decoder.weight = net.embedding.weight
        return net

    base = initialized(network())
    starts = generator.integers(0, len(novel) - context, (base_steps, base_batch))
    found = {"base loss": learn(base, novel, starts, 3e-3)}
    starts = generator.integers(0, len(licence) - context, (steps, batch))
    for name, rate in (("all weights", 1e-3), ("adapter", 1e-2)):
        net = network()
        net.load_state_dict(base.state_dict())
        if name == "adapter":
            adapt(net, ("qkv", "output", "hidden"), rank=4, alpha=8)
        found[f"{name} loss"] = learn(net, licence, starts, rate)
    return found


NETWORKS = {f.__name__: f for f in (gpt_from_scratch, fine_tune_bert, lora, vit)}


def main() -> None:
    """Train one network, and print what became of it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("tutorial", choices=NETWORKS)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--data", type=Path, help="folder of CIFAR-10, or of mails")
    parser.add_argument("--weights", type=Path, help="folder of a BERT")
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    for name, value in NETWORKS[options.tutorial](options).items():
        print(f"{name}: {value:.4f}")


if __name__ == "__main__":
    main()
