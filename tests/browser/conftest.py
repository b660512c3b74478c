from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

from browser.chromium import find, install
from browser.server import running
from browser.visitor import LAUNCH, Visitor

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items):
    for item in items:
        if HERE in item.path.parents:
            item.add_marker("browser")


@pytest.fixture(scope="package")
def server():
    with running() as url:
        yield url


@pytest.fixture(scope="package")
def chromium():
    path = find() or install()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=LAUNCH)
        yield browser
        browser.close()


@pytest.fixture
def visit(chromium, server):
    """visit("sample=flock", color_scheme="dark") gives a visitor who has the picture before them."""
    visitors = []

    def new(address="", **options) -> Visitor:
        visitors.append(Visitor(chromium, server, **options))
        return visitors[-1].open(address)

    yield new
    for visitor in visitors:
        visitor.check()
        visitor.close()


@pytest.fixture(scope="module")
def _stayed(chromium, server):
    visitor = Visitor(chromium, server).open()
    yield visitor
    visitor.close()


@pytest.fixture
def visitor(_stayed):
    """Somebody on the first page, who stays for all tests of a module and starts each with nothing chosen."""
    _stayed.start_again()
    yield _stayed
    _stayed.check()
