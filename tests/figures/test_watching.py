"""While a training is watched, each moment is a trace with the weights of its step, and the training is unchanged."""

import copy
import subprocess
import sys
import warnings

import pytest
import timm
import torch
from conftest import scramble
from torchvision import transforms

import playground
from playground import PlaygroundError
from playground.errors import PlaygroundWarning
from playground.figures import watching

MODEL_OPTIONS = {"img_size": 64, "depth": 3, "embed_dim": 48, "num_heads": 4, "num_classes": 5, "drop_rate": 0.2}


@pytest.fixture
def model():
    return scramble(timm.create_model("vit_tiny_patch16_224", **MODEL_OPTIONS)).train()


TRANSFORM = transforms.Compose(
    [transforms.Resize((64, 64)), transforms.ToTensor(), transforms.Normalize([0.5] * 3, [0.5] * 3)]
)


def train(model, steps, before_step=lambda step: None):
    torch.manual_seed(4)
    optimiser = torch.optim.SGD(model.parameters(), lr=0.05)
    for step in range(steps):
        before_step(step)
        loss = model(torch.randn(2, 3, 64, 64)).square().mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()


def test_each_moment_is_of_the_weights_at_that_step_and_the_training_is_as_without(model, picture, tmp_path):
    unwatched_model, models_by_step = copy.deepcopy(model), {}
    train(unwatched_model, 5, lambda step: models_by_step.update({step: copy.deepcopy(unwatched_model)}))
    models_by_step[5] = unwatched_model
    run_file = tmp_path / "run.trace"
    with playground.watch(model, picture, every=2, out=run_file, transform=TRANSFORM):
        train(model, 5)
    for watched_tensor, expected_tensor in zip(model.parameters(), unwatched_model.parameters(), strict=True):
        assert torch.equal(watched_tensor, expected_tensor), "dropout, too, drew the same numbers"
    assert model.training
    watched_run = playground.watched(run_file)
    assert watched_run.steps == (0, 2, 4, 5)
    for step, seen in zip(watched_run.steps, watched_run.traces, strict=True):
        expected = playground.trace(models_by_step[step], picture, transform=TRANSFORM)
        torch.testing.assert_close(seen.row(2, 1, (1, 2)), expected.row(2, 1, (1, 2)), atol=0.02, rtol=0.1)
    rows = watched_run.row(2, 1, (1, 2))
    assert rows.shape == (4, 17)
    assert (rows[0] - rows[-1]).abs().max() > 1e-3


def test_a_model_of_transformers_with_joined_matrices_is_watched_too(picture, tmp_path):
    transformers = pytest.importorskip("transformers")
    config = transformers.ViTConfig(
        hidden_size=48, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96, image_size=64, num_labels=5
    )
    hf_model = scramble(transformers.ViTForImageClassification(config)).train()
    with playground.watch(hf_model, picture, every=1, out=tmp_path / "run.trace"):
        for _ in range(2):
            hf_model(torch.randn(1, 3, 64, 64))
            with torch.no_grad():
                for name, p in hf_model.named_parameters():
                    if "query" in name or "q_proj" in name:
                        p.mul_(3)
    rows = playground.watched(tmp_path / "run.trace").row(0, 1, (1, 1))
    assert (rows[0] - rows[1]).abs().max() > 1e-3


def test_an_evaluation_is_no_step(model, picture, tmp_path):
    def evaluate(step):
        with torch.no_grad():
            model(torch.randn(1, 3, 64, 64))
        model.eval()(torch.randn(1, 3, 64, 64))
        model.train()

    with playground.watch(model, picture, every=2, out=tmp_path / "a.trace"):
        train(model, 3, evaluate)
    assert playground.watched(tmp_path / "a.trace").steps == (0, 2, 3)


def test_the_model_s_own_tensors_are_traced_without_building_a_model(model, picture, tmp_path, monkeypatch):
    watcher = playground.watch(model, picture, every=1, out=tmp_path / "run.trace", transform=TRANSFORM)
    monkeypatch.setattr(watching, "build", lambda source: pytest.fail("its tensors are ours already"))
    with watcher:
        train(model, 2)
    rows = playground.watched(tmp_path / "run.trace").row(2, 1, (1, 2))
    assert (rows[0] - rows[1]).abs().max() > 1e-4


def test_tensors_that_are_replaced_are_found(model, picture, tmp_path):
    with playground.watch(model, picture, every=1, out=tmp_path / "run.trace", transform=TRANSFORM):
        train(model, 1)
        model.load_state_dict(copy.deepcopy(scramble(model)).state_dict(), assign=True)
        with torch.no_grad():
            model.blocks[2].attn.qkv.weight.mul_(3)
    expected = playground.trace(model.eval(), picture, transform=TRANSFORM)
    last_trace = playground.watched(tmp_path / "run.trace").traces[-1]
    torch.testing.assert_close(last_trace.row(2, 1, (1, 2)), expected.row(2, 1, (1, 2)), atol=0.02, rtol=0.1)


def test_a_trainer_s_steps_are_counted_as_it_counts_them(model, picture, tmp_path):
    """Calls the callback as the Trainer of transformers does."""
    trainer = pytest.importorskip("transformers.trainer_callback", reason="transformers is not installed")
    from transformers import TrainingArguments

    watcher = playground.watch(model, picture, every=2, out=tmp_path / "run.trace", transform=TRANSFORM)
    state, control = trainer.TrainerState(), trainer.TrainerControl()
    handler = trainer.CallbackHandler([watcher.callback()], model, None, None, None)
    arguments = object.__new__(TrainingArguments)
    handler.on_train_begin(arguments, state, control)
    state.global_step = 3  # as if the run were resumed at step 3

    def count_step(step):
        handler.on_step_begin(arguments, state, control)
        state.global_step += 1

    train(model, 4, count_step)
    handler.on_train_end(arguments, state, control)
    watched_run = playground.watched(tmp_path / "run.trace")
    assert watched_run.steps == (4, 6, 7)
    torch.testing.assert_close(
        watched_run.traces[-1].row(2, 1, (1, 2)),
        playground.trace(model.eval(), picture, transform=TRANSFORM).row(2, 1, (1, 2)),
        atol=0.02, rtol=0.1,
    )  # fmt: skip


def test_without_transformers_the_callback_says_what_to_install(model, picture, tmp_path, monkeypatch):
    watcher = playground.watch(model, picture, out=tmp_path / "run.trace")
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(PlaygroundError, match=r"attention-playground\[trainer\]"):
        watcher.callback()


def steps_after_one_warning(model, picture, out, before_step, sentence):
    with warnings.catch_warnings(record=True) as caught_warnings:
        warnings.simplefilter("always")
        with playground.watch(model, picture, every=1, out=out):
            train(model, 4, before_step)
    (message,) = [
        str(warning.message) for warning in caught_warnings if issubclass(warning.category, PlaygroundWarning)
    ]
    assert "the training goes on" in message
    assert sentence in message
    return playground.watched(out).steps


def test_a_full_disk_is_said_once_and_the_training_goes_on(model, picture, tmp_path, monkeypatch):
    def fill_disk(step):
        if step == 2:
            disk_full = OSError(28, "No space left on device")
            monkeypatch.setattr(watching.zipfile.ZipFile, "writestr", lambda *_: (_ for _ in ()).throw(disk_full))

    steps = steps_after_one_warning(model, picture, tmp_path / "run.trace", fill_disk, "No space left on device")
    monkeypatch.undo()
    assert steps == (0, 1)


def test_a_model_that_changes_its_shape_is_said_once(model, picture, tmp_path):
    def drop_layers(step):
        if step == 2:
            model.blocks = model.blocks[:2]

    assert steps_after_one_warning(
        model, picture, tmp_path / "b.trace", drop_layers, "another depth, width or patch size"
    ) == (0, 1)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"every": 0}, r"every=0"),
        ({"out": "there.trace"}, r"there\.trace is there already"),
        ({"out": "no/folder/run.trace"}, r"can't be written: No such file"),
    ],
)
def test_what_can_t_be_watched_is_refused_in_a_sentence(model, picture, tmp_path, monkeypatch, options, sentence):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there.trace").touch()
    with pytest.raises(PlaygroundError, match=sentence):
        playground.watch(model, picture, **options)


def test_another_file_is_refused_in_a_sentence(tmp_path):
    (tmp_path / "x.trace").write_text("no")
    with pytest.raises(PlaygroundError, match="no file that watch wrote"):
        playground.watched(tmp_path / "x.trace")


class SummaryWriter:  # the signatures below are those of TensorBoard, Lightning 2.5 and W&B 0.2x
    def __init__(self):
        self.calls = []

    def add_scalar(self, tag, scalar_value, global_step=None, walltime=None, new_style=False):
        self.calls.append((tag, scalar_value, global_step))


class LightningLogger:
    def __init__(self):
        self.calls = []

    def log_metrics(self, metrics, step=None):
        self.calls += [(name, value, step) for name, value in metrics.items()]


class Run:
    def __init__(self):
        self.calls = []

    def log(self, data, step=None, commit=None):
        self.calls += [(name, value, step) for name, value in data.items()]


class LightningModule:
    def __init__(self):
        self.calls = []

    def log(self, name, value, prog_bar=False, logger=None, on_step=None):
        self.calls.append((name, value, None))


def of(maker, way):
    keeper = maker()
    return keeper.calls, way(keeper)


LOGS = {
    "a function": lambda: (calls := [], lambda name, value, step: calls.append((name, value, step))),
    "TensorBoard": lambda: of(SummaryWriter, lambda writer: writer),
    "a logger of Lightning": lambda: of(LightningLogger, lambda logger: logger),
    "a run of W&B": lambda: of(Run, lambda run: run),
    "wandb.log": lambda: of(Run, lambda run: run.log),
    "self.log": lambda: of(LightningModule, lambda module: module.log),
}


@pytest.mark.parametrize("name", LOGS)
def test_the_numbers_of_each_layer_go_to_the_log(model, picture, tmp_path, name):
    calls, log = LOGS[name]()
    with playground.watch(model, picture, every=2, out=tmp_path / "run.trace", transform=TRANSFORM, log=log):
        train(model, 3)
    run = playground.watched(tmp_path / "run.trace")
    names = [f"attention/layer {layer}/{what}" for layer in range(3) for what in ("entropy", "prefix")]
    knows_step = name == "self.log"
    steps = (None, None) if knows_step else run.steps
    assert [(name, step) for name, _, step in calls] == [(name, step) for step in steps for name in names]
    values = torch.tensor([value for _, value, _ in calls]).view(len(steps), 3, 2)
    for trace, of_layers in zip(run.traces, values, strict=False):
        for layer, (entropy, prefix) in enumerate(of_layers):
            rows = trace.weights(layer)[:, 1:]
            assert entropy == pytest.approx(float(-(rows * rows.log2()).sum(-1).mean()), abs=0.01)
            assert prefix == pytest.approx(float(rows[..., 0].mean()), abs=0.01)


def test_a_log_that_fails_stops_neither_the_training_nor_the_traces(model, picture, tmp_path):
    def log(name, value, step):
        raise ConnectionError("no network")

    with pytest.warns(PlaygroundWarning, match="stops logging at step 0, and the training goes on: no network"):  # noqa: SIM117
        with playground.watch(model, picture, every=1, out=tmp_path / "run.trace", log=log):
            train(model, 2)
    assert playground.watched(tmp_path / "run.trace").steps == (0, 1, 2)
    with pytest.raises(PlaygroundError, match="log= is a function of"):
        playground.watch(model, picture, out=tmp_path / "other.trace", log="tensorboard")


def test_under_autocast_the_trace_is_that_of_the_weights(model, picture, tmp_path):
    with (
        torch.autocast("cpu", torch.bfloat16),
        playground.watch(model, picture, every=2, out=tmp_path / "run.trace", transform=TRANSFORM),
    ):
        expected = playground.trace(copy.deepcopy(model).eval(), picture, transform=TRANSFORM).to_bytes(numbers="int8")
        train(model, 1)
    first = playground.watched(tmp_path / "run.trace").traces[0]
    assert torch.equal(first.row(2, 1, (1, 2)), playground.Trace.from_bytes(expected).row(2, 1, (1, 2)))


PROCESS = """
import sys, timm, torch, playground
from torch.nn.parallel import DistributedDataParallel

number, folder = int(sys.argv[1]), sys.argv[2]
torch.distributed.init_process_group("gloo", init_method=f"file://{folder}/store", rank=number, world_size=2)
model = timm.create_model("vit_tiny_patch16_224", img_size=64, depth=2, num_classes=5).train()
model, logged = DistributedDataParallel(model), []
with playground.watch(model, "meadow", every=2, out=f"{folder}/run.trace", log=lambda *call: logged.append(call)):
    for _ in range(3):
        model(torch.randn(2, 3, 64, 64)).square().mean().backward()
print(len(logged))
torch.distributed.destroy_process_group()
"""


def test_of_two_processes_that_train_together_one_writes(tmp_path):
    commands = [[sys.executable, "-c", PROCESS, str(number), str(tmp_path)] for number in range(2)]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for command in commands]
    outputs = [process.communicate()[0].strip() for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    assert outputs == [str(3 * 2 * 2), "0"], "three traces of two layers, two numbers each, in the first process"
    assert playground.watched(tmp_path / "run.trace").steps == (0, 2, 3)
