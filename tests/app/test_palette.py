"""Colours mean the same in both themes, stand out from the page, and are never red or green."""

import colorsys

import pytest

from app.palette import DARK, LIGHT, Palette, palette_for, rate_step


@pytest.mark.parametrize(
    ("rate", "step"),
    [(0, 0), (0.001, 1), (0.0499, 1), (0.05, 2), (0.15, 3), (0.26, 3), (0.3, 4), (0.5, 5), (1, 5)],
)
def test_rates_fall_into_six_steps(rate: float, step: int) -> None:
    assert rate_step(rate) == step


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_text_and_meanings_stand_out_from_the_page(palette: Palette) -> None:
    for colour in (palette.text, palette.muted):
        assert contrast(colour, palette.background) >= 4.5
    for colour in (palette.clean, palette.corrupt, palette.silent, palette.ours):
        assert contrast(colour, palette.background) >= 3


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_text_can_be_read_on_every_step(palette: Palette) -> None:
    for step, colour in enumerate(palette.rate_steps):
        ink = palette.on_strong if step >= 4 else palette.text
        assert contrast(ink, colour) >= 4.5


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_no_meaning_is_plain_red_or_green(palette: Palette) -> None:
    for colour in (palette.clean, palette.corrupt, palette.silent):
        hue, _, saturation = colorsys.rgb_to_hls(*rgb(colour))
        degrees = hue * 360
        is_vivid = saturation > 0.4
        assert not (is_vivid and (degrees < 12 or degrees > 345 or 80 < degrees < 165))


def test_an_unknown_theme_is_drawn_light() -> None:
    assert palette_for(None) is LIGHT
    assert palette_for("dark") is DARK


def rgb(colour: str) -> tuple[float, float, float]:
    red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return red, green, blue


def contrast(one: str, other: str) -> float:
    """The contrast ratio of WCAG 2, https://www.w3.org/TR/WCAG21/#dfn-contrast-ratio."""
    lights = sorted((luminance(one), luminance(other)), reverse=True)
    return (lights[0] + 0.05) / (lights[1] + 0.05)


def luminance(colour: str) -> float:
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in rgb(colour)
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
