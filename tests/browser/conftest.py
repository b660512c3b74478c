from pathlib import Path

import pytest

from browser.on_the_site import DATA_SAVER, SiteVisitor
from browser.policy import WATCH_VIOLATIONS
from browser.server import serving
from browser.visitor import Visitor

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items):
    for item in items:
        if HERE in item.path.parents:
            item.add_marker("browser")


@pytest.fixture(scope="session")
def server():
    """The running server that tests share unless they start their own."""
    with serving() as running_server:
        yield running_server


@pytest.fixture
def visit(arrive, server):
    """visit("sample=flock", color_scheme="dark") gives a visitor whose page shows the picture; see Visitor.open."""
    return lambda address="", sentence="", **options: arrive(Visitor, server.url, **options).open(address, sentence)


@pytest.fixture(scope="module")
def _module_visitor(chromium, server):
    visitor = Visitor(chromium, server.url).open()
    yield visitor
    visitor.close()


@pytest.fixture
def visitor(_module_visitor):
    """A Visitor on the first page. One browser serves a whole module; each test starts with nothing chosen."""
    _module_visitor.forgiven_errors = None
    _module_visitor.start_again()
    yield _module_visitor
    _module_visitor.check()


@pytest.fixture
def go(visitor):
    """go("sample=flock") gives the module's `visitor` at that address, twice as fast as `visit`."""
    return visitor.open


@pytest.fixture
def somebody(arrive, host):
    """somebody("#sample=flock") gives a SiteVisitor who has opened the folder that the module's `host` serves."""

    def come(address: str = "", **options) -> SiteVisitor:
        visitor = arrive(SiteVisitor, host, **options)
        visitor.context.add_init_script(WATCH_VIOLATIONS + DATA_SAVER)
        return visitor.arrive(address)

    return come
