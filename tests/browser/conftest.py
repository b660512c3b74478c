from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

from browser.chromium import find, install
from browser.server import serving
from browser.visitor import LAUNCH, Visitor

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items):
    for item in items:
        if HERE in item.path.parents:
            item.add_marker("browser")


@pytest.fixture(scope="session")
def server():
    """One for all tests that do not need one of their own."""
    with serving() as running:
        yield running


@pytest.fixture(scope="session")
def chromium():
    path = find() or install()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=LAUNCH)
        yield browser
        browser.close()


@pytest.fixture
def arrive(chromium):
    """arrive(Visitor, url) is somebody with a browser of their own. At the end nothing may have gone wrong there."""
    with ExitStack() as end:

        def new(kind: type[Visitor], *arguments, **options) -> Visitor:
            visitor = kind(chromium, *arguments, **options)
            end.callback(visitor.close)
            end.callback(visitor.check)
            return visitor

        yield new


@pytest.fixture
def visit(arrive, server):
    """visit("sample=flock", color_scheme="dark") gives a visitor who has the picture before them."""
    return lambda address="", **options: arrive(Visitor, server.url, **options).open(address)


@pytest.fixture(scope="module")
def _stayed(chromium, server):
    visitor = Visitor(chromium, server.url).open()
    yield visitor
    visitor.close()


@pytest.fixture
def visitor(_stayed):
    """Somebody on the first page, who stays for all tests of a module and starts each with nothing chosen."""
    _stayed.start_again()
    yield _stayed
    _stayed.check()
