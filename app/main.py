"""The entry script: which pages there are, the frame around them, and the guard of all of them."""

import streamlit as st

from app.errors import AppError, NoStoreError, UnreadableStoreError
from app.widgets.brand import FAVICON, show_focus, show_logo
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
            "screens/overview.py",
            title="Overview",
            icon=":material/dashboard:",
            url_path="overview",
            help="One campaign at a glance: state, rates, verdicts, what to look at next.",
        ),
        st.Page(
            "screens/matrix.py",
            title="Matrix",
            icon=":material/grid_on:",
            url_path="matrix",
            help="One campaign: every arm at every concurrency, with counts and intervals.",
        ),
        st.Page(
            "screens/verdicts.py",
            title="Verdicts",
            icon=":material/gavel:",
            url_path="verdicts",
            help="Each hypothesis: what was predicted, what was judged, why, what to run next.",
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
            "screens/sessions.py",
            title="Sessions",
            icon=":material/manage_search:",
            url_path="sessions",
            help="All sessions of one campaign under a filter.",
        ),
        st.Page(
            "screens/arm.py",
            title="Arm",
            icon=":material/stacks:",
            url_path="arm",
            visibility="hidden",
            help="One arm: rates, drift over its runs, waits, and its sessions.",
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
        st.Page(
            "screens/logs.py",
            title="Logs",
            icon=":material/subject:",
            url_path="logs",
            help="The log of one run on its clock: density, kinds of event, lines.",
        ),
    ],
    "Run": [
        st.Page(
            "screens/new.py",
            title="New",
            icon=":material/add:",
            url_path="new",
            help="Queue a campaign file that lies on the server, after seeing what it will do.",
        ),
    ],
    "Keep": [
        st.Page(
            "screens/report.py",
            title="Report",
            icon=":material/description:",
            url_path="report",
            help="The report on a campaign, byte for byte what the command line writes.",
        ),
        st.Page(
            "screens/system.py",
            title="System",
            icon=":material/dns:",
            url_path="system",
            help="The store, the workers with their heartbeats, the queue, the versions.",
        ),
    ],
}

st.set_page_config(
    page_title="Decisive", page_icon=FAVICON, layout="wide", initial_sidebar_state=208
)
show_logo()
show_focus()
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
