"""Comparing words: whether two spellings are one answer, and which keywords a text holds."""

import re
import unicodedata
from collections.abc import Iterable
from functools import cache

_EDGES = " \t\n.,;:!?。，；：！？、'\"`“”‘’「」『』()[]$"
_JOINT = re.compile(r"(?<=[^\W\d_])[-_](?=[^\W\d_])")


def folded(text: str) -> str:
    """Strip a text of what does not count: width, case, spaces, dashes inside words, quotes."""
    text = unicodedata.normalize("NFKC", text).casefold().translate({0x2212: "-", 0x2013: "-"})
    return _JOINT.sub("", "".join(text.split()).strip(_EDGES))


def evidence(text: str, keywords: Iterable[str]) -> tuple[str, ...]:
    """Return the keywords that the text holds: a reason to tick a point, never a verdict."""
    text = unicodedata.normalize("NFKC", text).casefold()
    return tuple(keyword for keyword in keywords if _pattern(keyword).search(text))


@cache
def _pattern(keyword: str) -> re.Pattern[str]:
    keyword = unicodedata.normalize("NFKC", keyword).casefold().strip()
    # The keyword "all-reduce" is in "all reduce" and "allreduce"; "pp" is not in "apply".
    parts = [re.escape(part) for part in re.split(r"[-_\s]+", keyword) if part]
    body = r"[-_\s]*".join(parts) or r"(?!)"
    before = r"(?<![a-z0-9])" if re.match(r"[a-z0-9]", keyword) else ""
    after = r"(?:e?s)?(?![a-z0-9])" if re.search(r"[a-z0-9]$", keyword) else ""
    return re.compile(before + body + after)
