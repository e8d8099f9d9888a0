from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from runner.evidence.wedge_incidents import Incident, merge_incidents


def test_signs_that_no_quiet_gap_parts_are_one_incident() -> None:
    signs = [300.0, 10.0, 40.0, 95.0, 301.0]

    assert merge_incidents(signs, quiet_gap_s=60) == (
        Incident(10.0, 95.0, 3),
        Incident(300.0, 301.0, 2),
    )


def test_a_gap_of_exactly_the_limit_does_not_part() -> None:
    assert len(merge_incidents([0.0, 60.0], quiet_gap_s=60)) == 1


@given(st.lists(st.floats(0, 1e6), max_size=60), st.floats(0.1, 1e4))
def test_every_sign_is_in_one_incident_and_incidents_lie_apart(
    signs: list[float], gap_s: float
) -> None:
    incidents = merge_incidents(signs, quiet_gap_s=gap_s)

    assert sum(incident.signs for incident in incidents) == len(signs)
    for earlier, later in pairwise(incidents):
        assert later.began_s - earlier.ended_s > gap_s
