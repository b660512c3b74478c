"""The web app: its pages and its frame. Start it with `make run` or `streamlit run app.py`."""

import streamlit as st

if __name__ == "__main__":  # Streamlit runs this file for each visitor, again and again
    from playground.ui.frame import frame
    from playground.ui.pages import MICROSCOPE, PAGES

    frame()
    st.navigation(
        [
            st.Page(page.file, title=page.title, icon=page.icon, url_path=page.name, default=page == MICROSCOPE)
            for page in PAGES.values()
        ],
        position="hidden",
    ).run()
else:  # its server imports it once, and takes `app` out of it
    from playground.serving import memory

    memory.give_back()  # before there are threads: each would bring an arena of its own

    from starlette.middleware import Middleware

    from playground.ui import sockets, streamlit_private, streamlit_runs
    from playground.ui.doors import Doors
    from playground.ui.lifespan import lifespan
    from playground.ui.talk import Sockets
    from playground.ui.uploads import Uploads

    sockets.use()
    streamlit_private.use_our_pages()
    streamlit_private.hear_only()
    streamlit_private.bound_downloads()
    streamlit_runs.lose_nothing()
    app = st.App(__file__, middleware=[Middleware(part) for part in (Doors, Uploads, Sockets)], lifespan=lifespan)
