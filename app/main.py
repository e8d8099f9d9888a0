"""The entry script: which pages there are, the frame around them, and the guard of all of them."""

import streamlit as st

from app.errors import AppError, NoStoreError, UnreadableStoreError
from app.widgets.brand import FAVICON, show_logo
from app.widgets.sidebar import show_sidebar
from app.widgets.trouble import show_failure, show_trouble, wait_for_store

PAGES = {
    "Study": [
        st.Page(
            "screens/campaigns.py",
            title="Campaigns",
            icon=":material/folder_open:",
            url_path="campaigns",
            default=True,
            help="All campaigns with their progress, worst cell and verdicts.",
        ),
        st.Page(
            "screens/matrix.py",
            title="Matrix",
            icon=":material/grid_on:",
            url_path="matrix",
            help="One campaign: every arm at every concurrency, with counts and intervals.",
        ),
    ],
    "Dig": [
        st.Page(
            "screens/run.py",
            title="Run",
            icon=":material/monitoring:",
            url_path="run",
            help="One run, live and afterwards: counts, sessions, metrics, log events.",
        ),
        st.Page(
            "screens/session.py",
            title="Session",
            icon=":material/forum:",
            url_path="session",
            visibility="hidden",
            help="One session turn by turn: what was due, what came, where they part.",
        ),
        st.Page(
            "screens/compare.py",
            title="Compare",
            icon=":material/compare_arrows:",
            url_path="compare",
            help="Two runs side by side: what differs in configuration, and in counts.",
        ),
    ],
    "Start": [
        st.Page(
            "screens/new.py",
            title="New",
            icon=":material/add:",
            url_path="new",
            help="Queue a campaign file that lies on the server, after seeing what it will do.",
        ),
    ],
}

st.set_page_config(
    page_title="Decisive", page_icon=FAVICON, layout="wide", initial_sidebar_state=208
)
show_logo()
page = st.navigation(PAGES)
show_sidebar()
try:
    page.run()
except (NoStoreError, UnreadableStoreError) as error:
    show_trouble(error)
    wait_for_store()
except AppError as error:
    show_trouble(error)
except Exception as error:
    show_failure(error)
