import gc
import os
from contextlib import ExitStack

import pytest

# pytest rewrites the asserts of these helpers, too, so that a failed one prints the values that it compared.
pytest.register_assert_rewrite(
    *(f"browser.{name}" for name in ("own_picture", "policy", "server", "stranger", "truth", "visitor")),
    *("fuzz", "hostile", "models", "pictures", "tiny_runs", "waiting"),
)

# Several test processes share the cores. If each used all cores, torch's threads would spin while they wait for each
# other, and the tests would take twice the time. Servers and commands that tests start inherit the number.
if processes := os.environ.get("PYTEST_XDIST_WORKER_COUNT"):
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // int(processes))))

import torch  # noqa: E402
import witnesses  # noqa: E402

import playground  # noqa: E402
from playground.vit import Config, VisionTransformer  # noqa: E402

LONG_FILES = (
    "test_wheel.py", "test_site.py", "test_site_lessons.py", "test_guesses.py", "test_setup.py", "test_proxy.py",
    "test_faults.py", "test_ending.py", "test_lesson_page.py", "test_own_pictures.py", "test_drawings.py",
    "test_shared_page.py", "test_export_sheet.py", "test_one_choice.py", "test_export_commands.py", "test_hub.py",
    "test_hostile.py", "test_borrowed.py", "test_own_models.py", "test_bundled.py", "test_deploy.py",
)  # fmt: skip


def pytest_collection_modifyitems(items):
    """Files with the longest tests come first, so that at the end no process idles while another runs a long file."""
    places = {name: place for place, name in enumerate(LONG_FILES)}
    items.sort(key=lambda item: places.get(item.path.name, len(LONG_FILES)))


def pytest_collection_finish():
    """Exempts the collected tests, which stay in memory to the end, from garbage collection. Tests of memory and the
    app's caches call the collector, which would otherwise spend most of a second on them each time."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure():
    gc.unfreeze()  # otherwise libraries report leaks at exit


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config):
    """As many processes as cores, and for tests in browsers one more, since test and browser wait for each other half
    of the time."""
    return (os.cpu_count() or 1) + config.option.markexpr.startswith("browser")


def pytest_generate_tests(metafunc):
    """Refuses sets as parameters: their order differs between xdist's processes, which must collect the same tests."""
    for mark in metafunc.definition.iter_markers("parametrize"):
        if isinstance(mark.args[1], set | frozenset):
            pytest.fail(f"{mark.args[0]} takes its values from a set, which has no order: sort it", pytrace=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Adds the state of open browsers and running servers to the report of a failed test."""
    report = yield
    if report.failed:
        report.sections += witnesses.hear()
    return report


def scramble(model: torch.nn.Module, seed: int = 0) -> torch.nn.Module:
    """Gives the model random weights. Zero biases, tiny gains or uniform attention could hide errors."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, p in model.named_parameters():
            if p.dim() == 0:  # such as CLIP's temperature
                continue
            noise = torch.randn(p.shape, generator=generator)
            is_gain = p.dim() == 1 and not name.endswith("bias")
            inputs = p[0].numel() if p.dim() in (2, 4) else p.shape[-1]  # the number of inputs that one output sums
            p.copy_(noise * 0.3 + 1 if is_gain else noise * (inputs**-0.5 if p.dim() > 1 else 0.3))
    return model.eval()


SMALL = Config(image_size=(64, 64), patch_size=8, depth=3, width=48, mlp_width=96, heads=4, registers=2, classes=10)


@pytest.fixture
def small() -> VisionTransformer:
    """A small scrambled ViT: 8 × 8 patches, a class token and two registers."""
    return scramble(VisionTransformer(SMALL))


@pytest.fixture
def picture():
    from PIL import Image

    y, x = torch.meshgrid(torch.linspace(-1, 1, 120), torch.linspace(-1, 1, 120), indexing="ij")
    disc = (x**2 + (y - 0.2) ** 2 < 0.2).float()
    pixels = torch.stack([disc, (x + 1) / 2, (y + 1) / 2], dim=-1)
    return Image.fromarray((pixels * 255).byte().numpy())


@pytest.fixture
def small_trace(small, picture):
    return playground.trace(small, picture)


@pytest.fixture(scope="session")
def chromium():
    from browser.chromium import find, install
    from browser.visitor import LAUNCH
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find() or install(), args=LAUNCH)
        yield browser
        browser.close()


@pytest.fixture
def arrive(chromium):
    """arrive(Visitor, url) gives a visitor with a new browser session. The visitor's check() runs after the test."""
    with ExitStack() as exit_stack:

        def new_visitor(kind, *arguments, **options):
            visitor = kind(chromium, *arguments, **options)
            exit_stack.callback(visitor.close)
            exit_stack.callback(visitor.check)
            return visitor

        yield new_visitor


@pytest.fixture
def own_app(monkeypatch):
    """What a server keeps, new for this test and for the threads that it starts."""
    from playground.serving import app

    monkeypatch.setattr(app, "PROCESS", app.App())


@pytest.fixture
def nothing_fetched(own_app, tmp_path, monkeypatch):
    """Simulates a machine that has fetched neither weights nor photographs, with empty caches in memory."""
    from functools import cache

    from playground.serving import pictures

    monkeypatch.setattr(pictures, "sample", cache(pictures.sample.__wrapped__))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "empty"))
    monkeypatch.delenv("PLAYGROUND_BORROWED", raising=False)


@pytest.fixture(scope="session")
def really_here():
    """really_here(name) downloads borrowed weights or photographs once for all tests, or skips the test with the
    reason."""
    from playground.errors import PlaygroundError
    from playground.models import borrowed

    def fetch(group_name: str):
        try:
            borrowed.fetch(borrowed.GROUPS[group_name])
        except PlaygroundError as error:
            pytest.skip(f"{group_name} can't be had here: {error}")

    return fetch
