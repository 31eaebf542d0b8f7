"""The README's pictures are what sessions of today look like, but for dates, times and lengths."""

import re
from html import unescape
from pathlib import Path

import pytest
from make import PICTURES

pytestmark = pytest.mark.demo


def said(picture: str) -> list[str]:
    texts = (unescape(text).strip() for text in re.findall(r"<text [^>]*>([^<]*)</text>", picture))
    masked = (re.sub(r"\d{4}-\d\d-\d\d|\d+\.\d+ s\b|\(\d+ lines", "~", text) for text in texts)
    # How the device is called depends on the machine the picture is made on.
    return [re.sub(r"ranks, .*", "ranks", text) for text in masked]


@pytest.mark.parametrize("name", PICTURES)
def test_the_picture_is_true(name: str):
    stored = (Path(__file__).parent / name).read_text(encoding="utf-8")
    assert said(stored) == said(PICTURES[name]())
