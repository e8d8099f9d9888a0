"""A fault of the dashboard itself: one sentence on the page, the traceback in the log."""

import logging

import pytest
from streamlit.testing.v1 import AppTest


def _broken_page() -> None:
    from app.widgets.trouble import show_failure

    try:
        {}["missing"]
    except KeyError as error:
        show_failure(error)


def test_a_fault_is_told_in_one_sentence(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR, logger="decisive.dashboard"):
        page = AppTest.from_function(_broken_page).run()

    assert not page.exception
    assert "fault of the dashboard" in page.error[0].value
    assert "KeyError" in caplog.text
