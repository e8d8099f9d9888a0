"""A report document as one HTML file: style and figures inside, no script, nothing fetched.

Every text goes through the template's escaping; the page's own policy forbids scripts besides.
"""

from importlib.resources import files

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from runner.report.document import Figure, ReportDocument, spans_of
from runner.report.drawings import svg_figure
from runner.report.visible_text import visible


def to_html(document: ReportDocument) -> str:
    def drawn(figure: Figure) -> Markup:
        # The element tree that the figure was written from has escaped its texts.
        return Markup(svg_figure(figure, document))

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    environment.filters.update(
        shown=visible, spans=spans_of, kind=lambda block: type(block).__name__, drawn=drawn
    )
    template = environment.from_string(_resource("page.html.j2"))
    return template.render(document=document, style=Markup(_resource("page.css").strip())) + "\n"


def _resource(name: str) -> str:
    return (files("runner.report") / name).read_text(encoding="utf-8")
