"""Assembles the web app from its pages, its frame and its routes. `make run` starts the app."""

import streamlit as st

if __name__ == "__main__":  # Streamlit runs this file for each visitor, again and again
    from playground.serving import queue
    from playground.ui import toolbar
    from playground.ui.frame import frame
    from playground.ui.pages import MICROSCOPE, PAGES

    with queue.page():
        frame()
        page = st.navigation(
            [
                st.Page(page.file, title=page.title, icon=page.icon, url_path=page.name, default=page == MICROSCOPE)
                for page in PAGES.values()
            ],
            position="hidden",
        )
        toolbar.draw(PAGES[page.url_path or MICROSCOPE.name])
        page.run()
else:  # the server imports this file once and runs its `app`
    from playground.serving import cache

    cache.keep_few_arenas()  # before threads start, because each would get a memory arena of its own

    from starlette.middleware import Middleware

    from playground.serving import hosts
    from playground.serving.routes import REDIRECTS, ROUTES
    from playground.ui import streamlit_private
    from playground.ui.door import Door
    from playground.ui.headers import Headers, KnownHosts
    from playground.ui.lifespan import LeftPages, lifespan
    from playground.ui.site import served
    from playground.ui.toolbar import EarlyScript

    streamlit_private.use_our_pages()
    base = hosts.base_path(st.get_option("server.baseUrlPath"))
    inner_middleware = (Headers, Door, EarlyScript, LeftPages)
    middleware = [Middleware(KnownHosts), Middleware(hosts.BasePath, base=base), *map(Middleware, inner_middleware)]
    routes = hosts.below_base(base, [*ROUTES, *REDIRECTS, *served.ROUTES])
    app = st.App(__file__, middleware=middleware, routes=routes, lifespan=lifespan)
