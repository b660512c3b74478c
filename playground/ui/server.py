"""Assembles the server: the learner's page and its API, and at /workbench the Streamlit app of app.py."""

from __future__ import annotations

from playground.serving import cache

cache.keep_few_arenas()  # before threads start, because each would get a memory arena of its own

import os  # noqa: E402

from starlette.applications import Starlette  # noqa: E402
from starlette.middleware import Middleware  # noqa: E402

from playground.serving import hosts  # noqa: E402
from playground.serving.app import PROCESS, App, Bound, bound  # noqa: E402
from playground.serving.routes import ROUTES  # noqa: E402
from playground.ui import workbench  # noqa: E402
from playground.ui.headers import Headers, KnownHosts  # noqa: E402
from playground.ui.lifespan import lifespan  # noqa: E402
from playground.ui.pieces import Pieces  # noqa: E402
from playground.ui.site import served  # noqa: E402


def server_of(kept: App) -> Starlette:
    """The server that keeps its state in this App."""
    with bound(kept):
        base = hosts.base_path(os.environ.get(hosts.BASE_PATH_OPTION))
        server = Starlette(
            routes=[*workbench.mount(base), *hosts.below_base(base, [*ROUTES, *served.ROUTES])],
            middleware=[Middleware(Bound), Middleware(KnownHosts), Middleware(Headers, base=base), Middleware(Pieces)],
            lifespan=lifespan,
        )
    server.state.kept = kept
    return server


app = server_of(PROCESS)
