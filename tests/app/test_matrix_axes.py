"""Any factor can lie in rows, columns or facets, and every arm keeps a cell of its own."""

from hypothesis import given
from hypothesis import strategies as st

from app.cell_reading import read_cells
from app.heat_cells import lay_out, wait_labels
from app.links import Metric
from app.matrix_axes import Axes, choose_axes, facets
from db.reads.sessions import Waited
from db.vocabulary import Outcome
from tests.app.values import CORRUPT, arm_facts, run_counts

ARMS = [
    arm_facts(
        number,
        name=f"{keys} · {cache} · C={load}",
        concurrency=load,
        levels={"index_keys": keys, "hicache": cache, "pages": 120, "concurrency": load},
    )
    for number, (keys, cache, load) in enumerate(
        (
            (keys, cache, load)
            for keys in ("fp8", "bf16")
            for cache in ("off", "on")
            for load in (1, 80)
        ),
        start=1,
    )
]


def test_by_default_columns_are_concurrencies_and_rows_all_other_factors() -> None:
    assert choose_axes(ARMS).axes == Axes(("index_keys", "hicache", "pages"), "concurrency")


def test_the_named_factor_leads_the_rows() -> None:
    assert choose_axes(ARMS, rows="hicache").axes.rows == ("hicache", "index_keys", "pages")


def test_a_facet_and_a_column_leave_the_rows() -> None:
    chosen = choose_axes(ARMS, columns="index_keys", facet="hicache")

    assert chosen.axes == Axes(("concurrency", "pages"), "index_keys", "hicache")
    assert chosen.ignored == ()


def test_what_is_no_factor_or_taken_twice_is_ignored_and_named() -> None:
    chosen = choose_axes(ARMS, rows="colour", columns="hicache", facet="hicache")

    assert chosen.axes.facet is None
    assert chosen.ignored == ("rows=colour", "facet=hicache")


def test_each_level_of_the_facet_is_a_matrix_with_its_title() -> None:
    readings = read_cells(ARMS, [], CORRUPT)

    found = facets(readings, choose_axes(ARMS, facet="hicache").axes)

    assert [title for title, _ in found] == ["hicache off", "hicache on"]
    assert [len(cells) for _, cells in found] == [4, 4]


FACTORS = st.sampled_from(["index_keys", "hicache", "pages", "concurrency", "nonsense"])


@given(rows=st.none() | FACTORS, columns=st.none() | FACTORS, facet=st.none() | FACTORS)
def test_no_two_arms_share_a_cell_whatever_is_chosen(
    rows: str | None, columns: str | None, facet: str | None
) -> None:
    axes = choose_axes(ARMS, rows=rows, columns=columns, facet=facet).axes
    placed = [
        (title, cell.row, cell.column)
        for title, cells in facets(read_cells(ARMS, [], CORRUPT), axes)
        for cell in lay_out(cells, Metric.CORRUPT, axes=axes).cells
    ]

    assert len(placed) == len(ARMS)
    assert len(set(placed)) == len(ARMS)


def test_waits_show_the_quantile_with_its_n_and_are_hatched_below_a_hundred() -> None:
    runs = [run_counts(number, arm_id=number, counts={Outcome.DONE: 80}) for number in (1, 2)]
    readings = read_cells(ARMS[:2], runs, CORRUPT)

    laid = lay_out(readings, Metric.TTFT, waits={1: Waited(4.0, 240), 2: Waited(1.0, 60)})

    assert [(cell.headline, cell.detail) for cell in laid.cells] == [
        ("4.00 s", "p99 of 240"),
        ("1.00 s", "p99 of 60"),
    ]
    assert [cell.fill.value for cell in laid.cells] == ["rate", "few"]
    assert laid.cells[0].low_step > laid.cells[1].low_step


def test_the_legend_of_waits_counts_seconds() -> None:
    assert wait_labels(10.0) == ("0", "<2.0", "<4.0", "<6.0", "<8.0", "≥8.0")
