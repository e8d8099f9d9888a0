"""The heat map: cells that return the click, hatching that Plotly draws, text that is escaped."""

from typing import Any

from app.figures.heat_legend import heat_legend
from app.figures.heat_map import AxisLabel, CellView, Fill, heat_map
from app.palette import DARK, LIGHT, Palette


def cell(**columns: Any) -> CellView:
    values: dict[str, Any] = {
        "arm_id": 7,
        "row": 0,
        "column": 0,
        "headline": "5/80",
        "detail": "6.3 % [2.7–100]",
        "silent": "",
        "note": "",
        "fill": Fill.RATE,
    }
    return CellView(**{**values, **columns})


def drawn(
    *cells: CellView,
    selected: int | None = None,
    palette: Palette = LIGHT,
    corner: str = "index_keys",
) -> Any:
    return heat_map(
        cells,
        rows=[AxisLabel("bf16 · on · fp8-sized", "baseline")],
        columns=[AxisLabel("C = 80")],
        corner=corner,
        palette=palette,
        steps=palette.rate_steps,
        selected_arm=selected,
    )


def test_each_cell_is_a_bar_that_knows_its_arm() -> None:
    figure = drawn(cell(arm_id=7), cell(arm_id=8, column=1))

    assert [trace.type for trace in figure.data] == ["bar", "bar"]
    assert [trace.customdata[0] for trace in figure.data] == [7, 8]


def test_a_click_on_one_cell_does_not_fade_the_others() -> None:
    figure = drawn(cell(), cell(silent_share=0.5))

    assert all(trace.unselected.marker.opacity == 1 for trace in figure.data)


def test_the_silent_share_is_a_strip_of_its_width() -> None:
    figure = drawn(cell(silent_share=0.5))

    strip = figure.data[1]
    assert strip.width == 0.97 * 0.5
    assert strip.marker.color == LIGHT.silent


def test_a_few_sessions_are_hatched_grey() -> None:
    (trace,) = drawn(cell(fill=Fill.FEW)).data

    assert trace.marker.pattern.shape == "/"
    assert trace.marker.pattern.fgcolor == LIGHT.hatch
    assert trace.marker.pattern.bgcolor == LIGHT.rate_steps[0]


def test_both_limits_show_in_the_two_tones_of_the_hatch() -> None:
    (trace,) = drawn(cell(fill=Fill.LIMITS, low_step=2, high_step=5)).data

    assert trace.marker.pattern.bgcolor == LIGHT.rate_steps[2]
    assert trace.marker.pattern.fgcolor == LIGHT.rate_steps[5]


def test_hatching_shows_even_where_both_limits_have_one_colour() -> None:
    (trace,) = drawn(cell(fill=Fill.LIMITS, low_step=5, high_step=5)).data

    assert trace.marker.pattern.fgcolor != trace.marker.pattern.bgcolor


def test_a_cell_without_evidence_has_no_colour_and_a_dashed_outline() -> None:
    figure = drawn(cell(fill=Fill.ABSENT, headline="invalid"))

    assert figure.data[0].marker.color == LIGHT.background
    assert figure.layout.shapes[0].line.dash == "dash"


def test_the_chosen_cell_is_outlined() -> None:
    assert len(drawn(cell(arm_id=7), selected=7).layout.shapes) == 1
    assert len(drawn(cell(arm_id=7), selected=8).layout.shapes) == 0


def test_names_from_files_are_escaped() -> None:
    figure = heat_map(
        [cell(headline="<a href='x'>")],
        rows=[AxisLabel("<script>")],
        columns=[AxisLabel("<b>")],
        corner="<i>",
        palette=LIGHT,
        steps=LIGHT.rate_steps,
        selected_arm=None,
    )

    texts = [annotation.text for annotation in figure.layout.annotations]
    assert not any("<a " in text or "<script" in text or "<b><b>" in text for text in texts)


def test_text_on_the_strongest_steps_is_dark_in_both_themes() -> None:
    for palette in (LIGHT, DARK):
        figure = drawn(cell(low_step=5), palette=palette)

        assert figure.layout.annotations[0].font.color == palette.on_strong


def test_the_legend_shows_six_steps_and_both_hatches() -> None:
    figure = heat_legend(LIGHT.rate_steps, words="% corrupt", palette=LIGHT)

    patterned = [trace for trace in figure.data if trace.marker.pattern.shape]
    assert len(patterned) == 2
    assert [annotation.text for annotation in figure.layout.annotations][:6] == [
        "0",
        "<5",
        "<15",
        "<30",
        "<50",
        "≥50",
    ]


def test_there_is_room_above_the_cells_for_every_factor_of_the_rows() -> None:
    few, many = (
        drawn(cell()),
        drawn(cell(), corner="index_keys · hicache · host_pool · gate · spec"),
    )

    lines = max(text["text"].count("<br>") + 1 for text in many.layout.annotations)
    assert many.layout.margin.t >= 14 * lines > few.layout.margin.t
    assert many.layout.height - many.layout.margin.t == few.layout.height - few.layout.margin.t
