"""Addresses are read and written without loss, and nothing in one can break a page."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.links import (
    ArmPlace,
    CampaignsPlace,
    ComparedId,
    ComparePlace,
    ConfigView,
    LogsPlace,
    MatrixPlace,
    Metric,
    NewPlace,
    OverviewPlace,
    Place,
    ReportPlace,
    RunPlace,
    SessionPlace,
    SessionsPlace,
    SystemPlace,
    VerdictsPlace,
    address_of,
    query_of,
    read_place,
)
from db.identifiers import IdKind

IDS = st.none() | st.integers(min_value=1, max_value=10**15)
NAMES = st.none() | st.text(min_size=1)
SECONDS = st.none() | st.integers(-99_999, 99_999).map(lambda tenths: tenths / 10)
FILTERS = st.text()
COMPARED_KINDS = st.sampled_from([IdKind.ARM, IdKind.RUN, IdKind.SESSION])
SIDES = st.none() | st.builds(ComparedId, COMPARED_KINDS, st.integers(1, 10**15))
PLACES: st.SearchStrategy[Place] = st.one_of(
    st.just(CampaignsPlace()),
    st.builds(OverviewPlace, campaign=IDS),
    st.builds(
        MatrixPlace,
        campaign=IDS,
        arm=IDS,
        metric=st.sampled_from(Metric),
        rows=NAMES,
        cols=NAMES,
        facet=NAMES,
        pick=IDS,
    ),
    st.builds(ArmPlace, arm=IDS, q=FILTERS),
    st.builds(VerdictsPlace, campaign=IDS, hypothesis=IDS),
    st.builds(LogsPlace, run=IDS, q=FILTERS, start=SECONDS, end=SECONDS),
    st.builds(ReportPlace, campaign=IDS),
    st.just(SystemPlace()),
    st.builds(RunPlace, run=IDS, campaign=IDS, q=FILTERS, series=NAMES),
    st.builds(SessionPlace, session=IDS, q=FILTERS),
    st.builds(SessionsPlace, campaign=IDS, q=FILTERS),
    st.builds(ComparePlace, campaign=IDS, a=SIDES, b=SIDES, config=st.sampled_from(ConfigView)),
    st.builds(NewPlace, file=NAMES),
)
KINDS = (
    CampaignsPlace,
    OverviewPlace,
    MatrixPlace,
    ArmPlace,
    VerdictsPlace,
    RunPlace,
    LogsPlace,
    SessionsPlace,
    SessionPlace,
    ComparePlace,
    NewPlace,
    ReportPlace,
    SystemPlace,
)


@given(PLACES)
def test_what_is_written_is_read_again(place: Place) -> None:
    parsed = read_place(type(place), query_of(place))

    assert parsed.place == place
    assert parsed.ignored == ()


@given(st.sampled_from(KINDS), st.dictionaries(st.text(), st.text()))
def test_no_address_breaks_a_page(kind: type[Place], parameters: dict[str, str]) -> None:
    parsed = read_place(kind, parameters)

    assert isinstance(parsed.place, kind)


@given(st.text())
def test_an_unknown_word_leaves_the_default_and_is_named(word: str) -> None:
    parsed = read_place(MatrixPlace, {"metric": word})

    known = word in list(Metric)
    assert parsed.place.metric == (Metric(word) if known else Metric.CORRUPT)
    assert bool(parsed.ignored) is not known


def test_parameters_of_other_pages_are_left_alone() -> None:
    parsed = read_place(MatrixPlace, {"campaign": "c-2", "session": "s-9", "utm": "x"})

    assert parsed.place == MatrixPlace(campaign=2)
    assert parsed.ignored == ()


@pytest.mark.parametrize("text", ["12", "r-12", "c-0", "c-x", "c--1", "", "c-1; drop"])
def test_an_id_of_another_kind_is_ignored_with_a_caption(text: str) -> None:
    parsed = read_place(MatrixPlace, {"campaign": text})

    assert parsed.place.campaign is None
    assert parsed.ignored == (f"campaign={text}",)


def test_addresses_are_short_and_readable() -> None:
    assert address_of(CampaignsPlace()) == "/"
    assert address_of(MatrixPlace(campaign=1, arm=3)) == "/matrix?campaign=c-1&arm=a-3"
    assert address_of(SessionPlace(session=9, q="outcome:leak")) == (
        "/session?session=s-9&q=outcome%3Aleak"
    )


def test_defaults_are_left_out_of_the_address() -> None:
    assert query_of(MatrixPlace(campaign=1)) == {"campaign": "c-1"}
