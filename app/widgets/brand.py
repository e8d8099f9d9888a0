"""The mark of Decisive for the theme that is shown, and the ring around what has the focus."""

from pathlib import Path

import streamlit as st

from app.palette import palette_for

_MARK = (
    '<rect x="1" y="1" width="16" height="16" rx="3" fill="none" stroke="{ink}" '
    'stroke-width="1.6"/>'
    '<path d="M1.5 12.5 12.5 1.5" stroke="{corrupt}" stroke-width="2.2"/>'
    '<path d="M5.5 16.5 16.5 5.5" stroke="{clean}" stroke-width="2.2"/>'
)

FAVICON = str(Path(__file__).parents[1] / "pictures" / "favicon.png")

_FOCUS_STYLE = Path(__file__).parents[1] / "focus.css"


def show_focus() -> None:
    """So that who goes by Tab sees where they are; the style is a file of ours."""
    st.html(_FOCUS_STYLE)


def show_logo() -> None:
    palette = palette_for(st.context.theme.type)
    mark = _MARK.format(ink=palette.text, corrupt=palette.corrupt, clean=palette.clean)
    word = (
        '<text x="25" y="14.3" font-family="Helvetica, Arial, sans-serif" font-weight="700" '
        f'font-size="14.5" fill="{palette.text}">Decisive</text>'
    )
    st.logo(_svg(mark + word, width=92), icon_image=_svg(mark, width=18))


def _svg(content: str, *, width: int) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="18" '
        f'viewBox="0 0 {width} 18">{content}</svg>'
    )
