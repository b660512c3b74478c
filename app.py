"""The web app: its pages, its frame and its routes. Start it with `make run` or `streamlit run app.py`."""

import streamlit as st

if __name__ == "__main__":  # Streamlit runs this file for each visitor, again and again
    from playground.ui import toolbar
    from playground.ui.frame import frame
    from playground.ui.pages import MICROSCOPE, PAGES

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
else:  # its server imports it once, and takes `app` out of it
    from playground.serving import memory

    memory.give_back()  # before there are threads: each would bring an arena of its own

    from starlette.middleware import Middleware

    from playground.serving import base_path
    from playground.serving.compressing import Compressed
    from playground.serving.routes import ROUTES
    from playground.ui import sockets, streamlit_private
    from playground.ui.ahead import Ahead
    from playground.ui.headers import Headers
    from playground.ui.known_hosts import KnownHosts
    from playground.ui.left_pages import LeftPages
    from playground.ui.lifespan import lifespan
    from playground.ui.socket_limits import Sockets

    sockets.use()
    streamlit_private.use_our_pages()
    base = base_path.read(st.get_option("server.baseUrlPath"))
    parts = (Headers, Sockets, Compressed, Ahead, LeftPages)
    middleware = [Middleware(KnownHosts), Middleware(base_path.BasePath, base=base), *map(Middleware, parts)]
    app = st.App(__file__, middleware=middleware, routes=base_path.under(base, ROUTES), lifespan=lifespan)
