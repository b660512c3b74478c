"""The threshold of each class is moved to one half, and nothing else of the model changes."""

import torch
from tiny_runs import TINY

from playground.models import loading, model_file
from playground.scenes import generate
from playground.training.evaluate import f1
from playground.vit import VisionTransformer
from workshop import thresholds


def test_a_label_s_best_threshold_is_moved_to_zero():
    features = torch.linspace(-3, 3, 601)[:, None].expand(-1, 3)
    borders = torch.tensor([-1.5, 0.0, 1.2])
    class_shifts = thresholds.best_shifts(features, features > borders)
    assert torch.allclose(class_shifts, -borders, atol=0.051)
    assert f1(features + class_shifts > 0, features > borders).min() > 0.98


def test_answers_are_the_model_s_for_each_scene_by_itself():
    vit = VisionTransformer(TINY, 1).eval()
    first_number = generate.FIRST_HELD_OUT - 7
    logits, labels = thresholds.answers(vit, first_number, 3)
    for i in range(3):
        scene = generate.scene(first_number + i, TINY.image_size[0])
        image = (torch.from_numpy(scene.image).float() / 255 - 0.5) / 0.5
        assert torch.allclose(logits[i], vit(image.permute(2, 0, 1)[None])[0], atol=1e-4)
        assert labels[i].tolist() == (thresholds.presence(scene) > 0).tolist()


def test_only_the_biases_of_the_class_head_move(tmp_path, monkeypatch):
    monkeypatch.setattr(thresholds, "SCENE_COUNT", 20)
    vit = VisionTransformer(TINY, 2)
    model_file.save(vit, tmp_path / "model.safetensors", torch.float32)
    old_state = loading.load(str(tmp_path / "model.safetensors"), device="cpu").state_dict()
    thresholds.move_thresholds(tmp_path)
    new_state = loading.load(str(tmp_path / "model.safetensors"), device="cpu").state_dict()
    assert {name for name in old_state if not torch.allclose(old_state[name], new_state[name], atol=1e-3)} == {
        "head.bias"
    }
