"""What a server does once, when it starts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from playground.errors import PlaygroundError
from playground.serving import models, pictures, settings


def check_settings() -> None:
    """Raises PlaygroundError if a setting is mistyped, or names a model, a folder or a device that there is not.
    Imports torch only for what needs it."""
    wanted = settings.now()
    with _blaming("MODELS_DIR"):
        if wanted.models_dir:
            from playground.models import model_file

            model_file.in_folder(wanted.models_dir)
    with _blaming("MODELS"):
        for name in wanted.models or ():
            models.check_offered(name)
    with _blaming("CIFAR"):
        pictures.labelled_set()
    if wanted.device not in (None, "cpu"):
        import torch

        try:
            torch.empty(0, device=wanted.device)
        except (RuntimeError, AssertionError):
            raise PlaygroundError(
                f"PLAYGROUND_DEVICE is {wanted.device}, which this machine does not have; leave it out, or say cpu."
            ) from None


@contextmanager
def _blaming(setting: str) -> Iterator[None]:
    try:
        yield
    except PlaygroundError as error:
        raise PlaygroundError(f"PLAYGROUND_{setting}: {error}") from None
