"""A port that cannot be is refused where it is given."""

import pytest

from runner.testbed.launch_options import parse_launch_options


@pytest.mark.parametrize("option", ["--port", "--prefill-port", "--decode-port"])
@pytest.mark.parametrize("port", ["99999", "-1"])
def test_a_number_that_is_no_port_is_refused(
    option: str, port: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        parse_launch_options([f"{option}={port}"])

    assert ended.value.code == 2
    assert f"{port} is no port: ports go from 0 to 65535" in capsys.readouterr().err


def test_the_highest_port_and_a_free_one_are_taken() -> None:
    assert parse_launch_options(["--port=65535"]).port == 65_535
    assert parse_launch_options(["--port=0"]).port == 0
