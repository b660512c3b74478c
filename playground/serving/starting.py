"""What a server does once, when it starts: it checks its settings, and warms up until /readyz says yes."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from playground.errors import PlaygroundError
from playground.serving import app, cache, effort, models, pictures, prepared, routes_traces, settings

# Makes torch's threads sleep while they wait for each other; read when torch is imported. By default they spin: on two
# busy cores, a pass of DINOv2 S took 2 s of processor instead of 0.6, and three times as long.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

is_warm = app.part(threading.Event)
log = logging.getLogger("playground")


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


def warm_up() -> None:
    """Does what the first photograph would otherwise wait for; then prepares the samples, after all requests."""
    try:
        pictures.workers().warm_up()
        _warm_up_models()
        cache.freeze_objects()
    except Exception:  # a damaged file, say: what needs it says so, and all else works
        log.exception("the warm-up ended early")
    is_warm().set()
    prepared.prepare_behind_everybody()
    try:
        routes_traces.look_at_first_picture()
    except PlaygroundError as error:
        log.info("the first picture is traced on demand: %s", error)


def _warm_up_models() -> None:
    import playground.lessons.registry
    import playground.tracing  # noqa: F401
    from playground.models.source import best_device

    effort.multiplications_per_second(settings.now().device or best_device())  # measured while the server is idle
    models.load(models.default())
    if models.has_photographs():
        models.load(models.PHOTOGRAPH_MODEL)
