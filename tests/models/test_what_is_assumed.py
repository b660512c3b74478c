"""A file of weights does not say the mean of its normalisation, the activation of its MLPs, the number of its heads, or
what its labels are read from. Where nobody says these, the app says what it assumes, and hides labels that may be
wrong."""

import json
import re
import warnings

import pytest
import timm
import timm.data
import torch
from conftest import scramble
from safetensors.torch import save_file
from timm.models import save_for_hf

import playground
from models.parity import assert_equal, attentions
from playground import PlaygroundError
from playground.errors import PlaygroundWarning

NAME = "vit_tiny_patch16_224"
IMAGENET = {"mean": (0.485, 0.456, 0.406), "std": (0.229, 0.224, 0.225)}
UNSEEN_CHANGES = {  # changes of the model that its weights do not show
    "the mean and the largest of the patches": {"global_pool": "avgmax"},
    "the largest of the patches": {"global_pool": "max"},
    "the class token, normed behind": {"fc_norm": True},
    "another activation": {"act_layer": "relu"},
    "the mean and the largest, normed before": {"global_pool": "avgmax", "fc_norm": False},
}
NO_CHANGE = ("nothing", {})


def model(**changes) -> torch.nn.Module:
    return scramble(timm.create_model(NAME, depth=2, num_classes=7, **changes))


@pytest.fixture
def write_bare(tmp_path):
    def write(reference: torch.nn.Module, name: str = "mine.safetensors", **metadata: str):
        state = {key: value.clone().contiguous() for key, value in reference.state_dict().items()}
        save_file(state, tmp_path / name, metadata=metadata)
        return tmp_path / name

    return write


def load_quietly(*arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PlaygroundWarning)
        return playground.load(*arguments, device="cpu", **options)


def random_input() -> torch.Tensor:
    return torch.randn(1, 3, 224, 224, generator=torch.Generator().manual_seed(1))


def row_difference(reference: torch.nn.Module, our_vit) -> float:
    image = random_input()
    with torch.no_grad():
        _, expected = attentions(reference, image)
    trace = playground.trace(our_vit, pixel_values=image)
    return max(float((trace.weights(i) - weights[0]).abs().max()) for i, weights in enumerate(expected))


# Labels ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("change", [*UNSEEN_CHANGES, NO_CHANGE[0]])
def test_labels_that_weights_alone_may_have_wrong_are_not_shown(change, write_bare):
    reference = model(**UNSEEN_CHANGES.get(change, NO_CHANGE[1]))
    with pytest.warns(PlaygroundWarning, match="Its rows are shown, its labels are not: they depend on act_layer= and"):
        our_vit = playground.load(NAME, weights=write_bare(reference), device="cpu")
    with torch.no_grad():
        logit_error = float((our_vit(random_input()) - reference(random_input())).abs().max())
    print(f"{change}: logits that are not shown would be off by {logit_error:.2f}")
    assert (logit_error > 0.05) == (change in UNSEEN_CHANGES)
    trace = playground.trace(our_vit, "meadow")
    assert (trace.logits, trace.predictions, our_vit.classes) == (None, (), 0)
    reason = "labels of vit_tiny_patch16_224 are not shown: they depend on .* such as act_layer='gelu', global_pool="
    for request in (lambda: trace.answers(), lambda: trace.label(3), lambda: trace.relevance(label=3)):
        with pytest.raises(PlaygroundError, match=reason):
            request()
    if change != "another activation":
        assert row_difference(reference, our_vit) < 1e-5


@pytest.mark.parametrize(
    ("changes", "options"),
    [
        ({}, {}),
        ({"act_layer": "relu"}, {"act_layer": "relu"}),
        ({"fc_norm": True}, {"global_pool": "token"}),
        ({"global_pool": "avg"}, {"global_pool": "avg"}),
        ({"global_pool": "avg", "fc_norm": False}, {"global_pool": "avg"}),
        ({"embed_dim": 384, "num_heads": 2}, {"num_heads": 2}),
    ],
)
def test_with_the_right_options_the_trained_model_and_its_labels_are_exact(changes, options, write_bare):
    reference = model(**changes)
    options = {"act_layer": "gelu", "global_pool": "token"} | options
    our_vit = load_quietly(NAME, weights=write_bare(reference), **options)
    assert_equal(reference, our_vit, (224, 224))
    trace = playground.trace(our_vit, pixel_values=random_input())
    with torch.no_grad():
        torch.testing.assert_close(trace.logits, reference(random_input())[0], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("pool", ["max", "avgmax"])
@pytest.mark.parametrize("where", ["said", "a folder"])
def test_a_model_with_an_unknown_pool_shows_its_rows_and_no_labels(pool, where, write_bare, tmp_path):
    reference = model(global_pool=pool)
    if where == "said":
        our_vit = load_quietly(NAME, weights=write_bare(reference), act_layer="gelu", global_pool=pool)
    else:
        save_for_hf(reference, tmp_path / "folder", model_args={"depth": 2}, safe_serialization=True)
        our_vit = load_quietly(tmp_path / "folder")
    trace = playground.trace(our_vit, "meadow")
    assert trace.logits is None
    with pytest.raises(PlaygroundError, match=f"not shown: they are read out by '{pool}', which"):
        trace.relevance(label=0)
    assert row_difference(reference, our_vit) < 1e-5


def test_a_folder_and_a_model_object_state_all_that_labels_depend_on(tmp_path):
    reference = model()
    save_for_hf(reference, tmp_path, model_args={"depth": 2}, safe_serialization=True)
    for our_vit in (load_quietly(tmp_path), load_quietly(tmp_path / "model.safetensors"), playground.load(reference)):
        assert playground.trace(our_vit, "meadow").logits is not None
    described_model = load_quietly(NAME, weights=tmp_path / "model.safetensors")
    assert not described_model.assumed, "the config.json beside the file is of the model that was named"
    other_model = load_quietly("vit_small_patch16_224", weights=tmp_path / "model.safetensors")
    assert [assumption.word for assumption in other_model.assumed][:2] == ["mean", "std"], (
        "that config.json is of another one"
    )


# Normalisation --------------------------------------------------------------------------------------------------------


def test_a_given_mean_and_deviation_give_the_rows_of_timm_s_own_transform(write_bare, picture):
    reference = model()
    picture = picture.resize((224, 224))
    transform = timm.data.create_transform((3, 224, 224), crop_pct=1.0, interpolation="bicubic", **IMAGENET)
    with torch.no_grad():
        _, expected = attentions(reference, transform(picture)[None])
    our_vit = load_quietly(NAME, weights=write_bare(reference), **IMAGENET)
    trace = playground.trace(our_vit, picture)
    for layer, weights in enumerate(expected):
        torch.testing.assert_close(trace.weights(layer), weights[0], atol=1e-5, rtol=0)
    assumed_trace = playground.trace(load_quietly(NAME, weights=write_bare(reference)), picture)
    row_error = (assumed_trace.weights(1) - expected[1][0]).abs().sum(-1).amax() / 2
    print(f"with the mean and deviation that the name has a row is off by {row_error:.2f}")
    assert row_error > 0.05


def test_assumptions_are_reported_with_their_numbers_and_given_options_are_not(write_bare):
    file = write_bare(model())
    with pytest.warns(PlaygroundWarning) as caught_warnings:
        our_vit = playground.load(NAME, weights=file, device="cpu")
    (message,) = {str(item.message) for item in caught_warnings}
    assert message.startswith(
        f"Assumed of {NAME}: mean 0.5 0.5 0.5, std 0.5 0.5 0.5, 3 heads of 64, the activation gelu, the class token "
        "read out. mean=, std=, num_heads=, act_layer=, global_pool= say otherwise."
    )
    assert [item.word for item in our_vit.assumed] == ["mean", "std", "num_heads", "act_layer", "global_pool"]
    with warnings.catch_warnings():
        warnings.simplefilter("error", PlaygroundWarning)
        all_options = {**IMAGENET, "num_heads": 3, "act_layer": "gelu", "global_pool": "token"}
        assert playground.load(NAME, weights=file, device="cpu", **all_options).assumed == ()
        for name in ("bundled", "untrained", "ViT-Ti/16"):
            assert playground.load(name, device="cpu").assumed == ()


def test_the_normalisation_of_a_model_object_is_assumed_and_can_be_given():
    """A timm model carries the normalisation of the published weights, but may have been trained with another since."""
    with pytest.warns(PlaygroundWarning, match=r"Assumed of .*: mean 0\.5 0\.5 0\.5, std 0\.5 0\.5 0\.5\."):
        playground.load(model())
    our_vit = playground.load(model(), **IMAGENET)
    assert (our_vit.config.mean, our_vit.assumed) == (IMAGENET["mean"], ())
    with pytest.raises(PlaygroundError, match="mean= is said where a model is loaded, and this one is loaded"):
        playground.load(our_vit, mean=IMAGENET["mean"])


@pytest.mark.parametrize("kind", [".safetensors", ".pth"])
def test_a_json_of_the_same_name_beside_the_file_gives_the_options(kind, write_bare, tmp_path):
    reference = model()
    file = write_bare(reference, arch=NAME)
    if kind == ".pth":
        file = tmp_path / "mine.pth"
        torch.save({"arch": NAME, "state_dict": reference.state_dict()}, file)
    settings = {**IMAGENET, "act_layer": "gelu", "global_pool": "token", "num_heads": 3}
    (tmp_path / "mine.json").write_text(json.dumps(settings))
    our_vit = playground.load(file, device="cpu")
    assert (our_vit.config.std, our_vit.assumed) == (IMAGENET["std"], ())
    assert_equal(reference, our_vit, (224, 224))
    if kind == ".pth":  # a pickled file takes seconds to read
        return
    assert playground.load(file, device="cpu", std=(0.5, 0.5, 0.5)).config.std == (0.5, 0.5, 0.5)
    (tmp_path / "mine.json").write_text('{"std": [0, 1, 1]}')
    with pytest.raises(PlaygroundError, match=r"mine\.json can't be loaded: std is a number for red"):
        playground.load(file)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"mean": 0.5}, "mean is a number for red, green and blue"),
        ({"mean": "0.5,0.5"}, "mean is a number for red"),
        ({"mean": (float("nan"), 0, 0)}, "mean is a number for red"),
        ({"std": (58.4, 57.1, 57.4)}, "std is a number for red"),
        ({"std": (0.2, 0.0, 0.2)}, "std is a number for red, green and blue, .* all greater than 0"),
        ({"num_heads": 0}, "num_heads goes from 1 to 256"),
        ({"num_heads": "many"}, "num_heads goes from 1"),
        ({"num_heads": 5}, "width of 192 can't be shared out evenly among 5 heads"),
        ({"act_layer": "elu"}, "act_layer is one of relu, gelu"),
        ({"global_pool": "sum"}, "global_pool is one of token, avg"),
    ],
)
def test_an_impossible_option_is_refused_in_a_sentence(options, sentence, write_bare):
    with pytest.raises(PlaygroundError, match=sentence) as refusal:
        playground.load(NAME, weights=write_bare(model()), **options)
    assert not re.search(r"\.\.$", str(refusal.value))


# The model's input ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["a tensor", "an array", "what a processor gives"])
def test_pixel_values_go_into_the_model_as_they_are(form):
    reference, pixels = model(dynamic_img_size=True), random_input()[:, :, :96, :160] * 3
    pixel_input = {"a tensor": pixels, "an array": pixels.numpy(), "what a processor gives": {"pixel_values": pixels}}[
        form
    ]
    trace = playground.trace(reference, pixel_values=pixel_input)
    assert torch.equal(trace.input, pixels)
    assert trace.grid == (6, 10)
    with torch.no_grad():
        torch.testing.assert_close(trace.logits, reference(pixels)[0], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        (torch.zeros(3, 224, 224), r"pixel_values are pictures of one size, .*given was \(3, 224, 224\)"),
        (torch.zeros(2, 3, 224, 224), "pixel_values holds 2 pictures"),
        (torch.zeros(1, 3, 225, 224), "225 × 224 can't be cut into patches of 16"),
        (torch.full((1, 3, 224, 224), torch.nan), "given were NaN or infinite"),
        (torch.zeros(1, 3, 224, 224, dtype=torch.uint8), "given were uint8"),
        ("cat.jpg", "given was str"),
        ({"input_ids": torch.zeros(1)}, "given was NoneType"),
    ],
)
def test_pixel_values_that_no_model_takes_are_refused_in_a_sentence(values, sentence):
    vit = playground.load("ViT-Ti/16", device="cpu")
    with pytest.raises(PlaygroundError, match=sentence):
        playground.trace(vit, pixel_values=values)


def test_a_picture_and_the_model_s_input_are_not_both_given():
    with pytest.raises(PlaygroundError, match="leave the picture, size="):
        playground.trace("untrained", "meadow", pixel_values=torch.zeros(1, 3, 112, 112))
    with pytest.raises(PlaygroundError, match="takes a picture, or the model's input as pixel_values="):
        playground.trace("untrained")


def test_a_batch_of_one_picture_keeps_its_grid():
    vit = load_quietly("dinov2-small", pretrained=False)  # its positions are for 37 × 37 patches
    assert playground.trace(vit, torch.rand(1, 3, 224, 224)).grid == (16, 16)
    assert playground.trace(vit, torch.rand(1, 3, 98, 140).numpy()).grid == (7, 10)
    assert playground.trace(vit, torch.rand(1, 3, 224, 224), size=(70, 70)).grid == (5, 5)
    with pytest.raises(PlaygroundError, match="225 × 225 can't be cut into patches of 14 × 14; the nearest is"):
        playground.trace(vit, torch.rand(1, 3, 225, 225))


# Files of a model of which something is assumed ----------------------------------------------------------------------


def test_captions_facts_numbers_and_packs_say_what_was_assumed(write_bare, tmp_path):
    trace = playground.trace(load_quietly(NAME, weights=write_bare(model())), "meadow")
    assumed = "mean 0.5 0.5 0.5, std 0.5 0.5 0.5, 3 heads of 64, the activation gelu"
    for options in ({}, {"layout": "wall"}, {"what": "components"}):
        playground.save(trace, tmp_path / "x.txt", layer=1, **options)
        assert f"Assumed of ViT Ti/16: {assumed}." in (tmp_path / "x.txt").read_text(), options
    playground.save(trace, tmp_path / "x.csv", layer=1)
    assert f"# assumed of it: {assumed}\n" in (tmp_path / "x.csv").read_text()
    trace.save(tmp_path / "x.pack")
    assert playground.Trace.load(tmp_path / "x.pack").assumed == assumed
    bundled_trace = playground.trace("bundled", "meadow")
    playground.save(bundled_trace, tmp_path / "x.txt", layer=1)
    assert "Assumed" not in (tmp_path / "x.txt").read_text()


def test_a_store_of_many_pictures_is_not_continued_by_another_normalisation(write_bare, tmp_path):
    zarr = pytest.importorskip("zarr")
    file, pictures = write_bare(model()), [torch.rand(3, 64, 64)]
    assumed_model, told_model = (load_quietly(NAME, weights=file, **options) for options in ({}, IMAGENET))
    playground.trace_many(pictures, assumed_model, "entropy", size=(64, 64)).write(tmp_path / "out.zarr")
    assert "mean 0.5 0.5 0.5" in zarr.open_group(tmp_path / "out.zarr", mode="r").attrs["assumed"]
    with pytest.raises(PlaygroundError, match="numbers of other pictures, another model"):
        playground.trace_many(pictures, told_model, "entropy", size=(64, 64)).write(tmp_path / "out.zarr")
