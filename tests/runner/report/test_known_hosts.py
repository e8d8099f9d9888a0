import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.report.known_hosts import hosts_in


@pytest.mark.parametrize(
    ("value", "hosts"),
    [
        ({"host": "gpu-7", "port": 3000}, ["gpu-7"]),
        ({"internal_states": [{"bootstrap_host": "athena"}]}, ["athena"]),
        (["serve", "--dist-init-addr", "gpu-7:5000"], ["gpu-7"]),
        (["serve", "--host=gpu-7"], ["gpu-7"]),
        (["/usr/bin/ssh", "-o", "BatchMode=yes", "-A", "-p", "22", "athena", "ls"], ["athena"]),
        (["ssh", "ops@athena"], ["athena", "athena"]),
        ({"MASTER_ADDR": "athena"}, ["athena"]),
        ({"base_url": "http://athena:30000/v1"}, ["athena"]),
        ({"host": "0.0.0.0", "node": "", "machine": "x86_64"}, []),
        (["ssh"], []),
        ([], []),
    ],
)
def test_a_name_is_a_host_by_its_place(value: object, hosts: list[str]) -> None:
    assert list(hosts_in(value)) == hosts


@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=9) | st.sampled_from(["ssh", "--host", "-p"]),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(st.sampled_from(["host", "x"]), inner, max_size=3)
        ),
        max_leaves=9,
    )
)
def test_facts_of_any_shape_are_searched(value: object) -> None:
    assert all(host.strip() for host in hosts_in(value))
