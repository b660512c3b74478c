"""The setting “layer” of lessons, and the slider for it."""

from playground.lessons.lesson import Setting, Subject
from playground.lessons.parts import Slider
from playground.pack import upper_layer

MOST_LAYERS = 64
UPPER = -1  # default of the setting “layer”: a layer whose number depends on the model's depth
LAYER = Setting(UPPER, range(UPPER, MOST_LAYERS), range(UPPER, 6))  # the folder has our small model of six layers


def setting_of_layer(layer: int, subject: Subject) -> int:
    return UPPER if layer == upper_layer(subject.vit.config.depth) else layer


def choice_of_layer(subject: Subject, setting: str = "layer", label: str = "Layer") -> Slider:
    layers = range(subject.vit.config.depth)
    return Slider(setting, label, {setting_of_layer(layer, subject): str(layer) for layer in layers})


def layer_of(key: int, subject: Subject) -> int:
    depth = subject.vit.config.depth
    return key if 0 <= key < depth else upper_layer(depth)
