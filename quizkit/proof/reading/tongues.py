"""The two languages of an option, a point or a sentence with gaps say the same relation.

Each is read for words that compare. Where one language knows one direction and the other another,
one of the two keys is wrong.
"""

import re
from collections.abc import Iterator, Mapping

from quizkit.bank.entry import points_of
from quizkit.bank.model import Bug, Choice, Cloze, Essay, Question, Text

Rule = tuple[str, str]
Words = Mapping[str, re.Pattern[str]]

_EN: Words = {
    "more": re.compile(
        r"\b(?:more|larger|longer|higher|bigger|greater|grows?|rises?|increases?)\b"
    ),
    "less": re.compile(r"\b(?:fewer|less|smaller|shorter|lower|shrinks?|decreases?)\b"),
    "equal": re.compile(
        r"\b(?:the same|equal(?:ly|s)?|unchanged|alike|identical|"
        r"as (?:many|much|large|long|fast|often|far|high|short|small)(?: as)?)\b"
    ),
}
_ZH: Words = {
    "more": re.compile(
        r"[更较][多长大高]|变[多长大高]|增[加大多长]|上升|"
        r"^[^，。；]{0,16}(?<![最至差许])[多长大高]$"
    ),
    "less": re.compile(
        r"[更较][少短小低]|变[少短小低]|减少|减小|缩短|下降|降低|"
        r"^[^，。；]{0,16}(?<![最至])[少短小低]$"
    ),
    "equal": re.compile(r"一样|相同|相等|不变|同样|等[长大量多]|一致"),
}
_SPEED: tuple[Words, Words] = (
    {"faster": re.compile(r"\bfaster\b"), "slower": re.compile(r"\bslow(?:er|ly)\b")},
    {
        "faster": re.compile(r"[更较变]快|^[^，。；]{0,16}快$"),
        "slower": re.compile(r"[更较变]慢|^[^，。；]{0,16}慢$"),
    },
)
_NOT = re.compile(
    r"\b(?:not?|never|nothing|neither|nor|without|cannot|no longer|than|times|"
    r"half|at (?:most|least))\b"
    r"|n't\b|twice|[不没无]|[于倍半]"
)


def tongues(question: Question) -> Iterator[Rule]:
    """Yield (place, message) of texts whose two languages compare in opposite directions."""
    for place, text in _texts(question):
        zh, en = text.zh.strip(" 。\n"), text.en.lower()
        for english, chinese in ((_EN, _ZH), _SPEED):
            said = {name for name, pattern in english.items() if pattern.search(en)}
            also = {name for name, pattern in chinese.items() if pattern.search(zh)}
            if len(said) == len(also) == 1 and said != also:
                one, other = said.pop(), also.pop()
                if not (_NOT.search(en) or _NOT.search(zh)):
                    yield place, f"en says `{one}`, and zh `{other}`"


def _texts(question: Question) -> Iterator[tuple[str, Text]]:
    match question:
        case Choice(options=options):
            for index, option in enumerate(options):
                yield f"options.{index}.text", option.text
        case Essay() | Bug():
            for place, point in points_of(question):
                yield f"{place}.says", point.says
        case Cloze(text=text):
            zh, en = re.split(r"[。；]", text.zh), re.split(r"[.;](?=\s|$)", text.en)
            if len(zh) == len(en):
                for pair in zip(zh, en, strict=True):
                    yield "text", Text(*pair)
        case _:
            pass
