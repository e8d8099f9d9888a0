"""The line in which a list is filtered; what is written there stands in the address."""

from collections.abc import Mapping
from dataclasses import replace

import pandas as pd
import streamlit as st

from app.links import ArmPlace, LogsPlace, RunPlace, SessionsPlace
from app.markdown_text import plain, selected
from app.session_filter import (
    ReadFilter,
    chip_numbers,
    picked_chip,
    read_log_filter,
    read_session_filter,
    with_chip,
)
from app.widgets.navigation import stay_at
from app.wording import outcome_word
from db.filters.keys import LOG_KEYS, SESSION_KEYS, Key

_RULES = (
    "All terms must hold. Commas separate alternatives, `-` excludes, numbers take `>=` `<=` `>` "
    '`<`. Words without a key are looked for in what was written; `"with spaces"` in quotation '
    "marks. `decisive sessions --where` reads the same."
)


def session_filter_line(place: ArmPlace | RunPlace | SessionsPlace, *, key: str) -> ReadFilter:
    """Raises nothing: what cannot be read is said beneath the line, and all pass."""
    read = read_session_filter(place.q)
    _line(
        place,
        read,
        SESSION_KEYS,
        placeholder='outcome:leak arm:hicache=on c:>=60 turn:>2 -flag:echo_mismatch "words"',
        key=key,
    )
    return read


def log_filter_line(place: LogsPlace, *, key: str) -> ReadFilter:
    read = read_log_filter(place.q)
    _line(place, read, LOG_KEYS, placeholder='kind:retract class:wedge t:>30 "words"', key=key)
    return read


def outcome_chips(
    place: ArmPlace | RunPlace | SessionsPlace,
    read: ReadFilter,
    matched: Mapping[str, int],
    *,
    is_complete: bool,
    key: str,
) -> None:
    """One chip an outcome with its number, `+` where not everything was looked at."""
    numbers = chip_numbers(matched)
    picked = picked_chip(read.filter)
    options = [*numbers, *([picked] if picked and picked not in numbers else [])]
    more = "" if is_complete else "+"

    def label(chip: str) -> str:
        words = f"{outcome_word(chip)} {numbers.get(chip, 0):,}{more}"
        return selected(words) if chip == picked else words

    key = f"outcome chips {key} {place.q}"

    def remember() -> None:
        chip = st.session_state[key]
        if chip is not None and chip != picked:  # see app.widgets.navigation.stay_at
            stay_at(replace(place, q=with_chip(read.filter, chip).text))

    st.pills(
        "Outcome",
        options,
        default=picked,
        format_func=label,
        label_visibility="collapsed",
        key=key,
        on_change=remember,
    )


def _line(
    place: ArmPlace | RunPlace | SessionsPlace | LogsPlace,
    read: ReadFilter,
    keys: Mapping[str, Key],
    *,
    placeholder: str,
    key: str,
) -> None:
    key = f"filter line {key} {place.q}"

    def remember() -> None:
        if st.session_state[key].strip() != place.q:  # see app.widgets.navigation.stay_at
            stay_at(replace(place, q=st.session_state[key].strip()))

    with st.container(horizontal=True, gap="xsmall", vertical_alignment="center"):
        st.text_input(
            "Filter",
            value=place.q,
            placeholder=placeholder,
            max_chars=1000,
            icon=":material/filter_alt:",
            label_visibility="collapsed",
            key=key,
            on_change=remember,
        )
        _show_keys(keys)
        if place.q:
            unfiltered = replace(place, q="")
            st.button(
                "Clear",
                icon=":material/close:",
                key=f"clear {key}",
                on_click=stay_at,
                args=(unfiltered,),
            )
    if read.fault is not None:
        told = plain(f"{_sentence(read.fault)} Nothing is filtered.", limit=2000)
        st.markdown(f":orange[:material/error:] {told}")


def _sentence(fault: str) -> str:
    sentence = f"{fault[0].upper()}{fault[1:]}"
    return sentence if sentence.endswith("?") else f"{sentence}."


def _show_keys(keys: Mapping[str, Key]) -> None:
    with st.popover("Keys", icon=":material/help:"):
        st.markdown(_RULES)
        rows = [{"key": f"`{key.name}:`", "about": plain(key.about)} for key in keys.values()]
        st.table(pd.DataFrame(rows), border="horizontal", hide_index=True)
