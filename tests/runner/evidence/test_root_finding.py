from math import sqrt

import pytest

from runner.evidence.root_finding import root_between


def test_a_root_is_found_to_the_precision_that_is_asked_for() -> None:
    assert root_between(lambda x: x * x - 2, 0.0, 2.0) == pytest.approx(sqrt(2), rel=1e-12)
    assert root_between(lambda x: x * x - 2, 0.0, 2.0, precision=1e-3) == pytest.approx(
        sqrt(2), abs=4e-3
    )


def test_without_a_change_of_sign_there_is_no_root_to_find() -> None:
    with pytest.raises(ValueError, match="sign"):
        root_between(lambda x: x * x + 1, 0.0, 2.0)
