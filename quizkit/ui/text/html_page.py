"""The frame of a page that stands alone: one file, no script, nothing from the network."""

from collections.abc import Iterable
from html import escape

from quizkit.words import Lang


def html_page(title: str, style: str, body: Iterable[str], lang: Lang) -> str:
    """Write the whole file around lines of HTML."""
    tongue = "zh-CN" if lang == "zh" else "en"
    return (
        f'<!doctype html>\n<html lang="{tongue}">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        + "\n".join(body)
        + "\n</body>\n</html>\n"
    )
