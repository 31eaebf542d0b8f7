"""Say what a proof says, in both languages at once: whoever shows it picks one."""

from quizkit.bank.model import Text
from quizkit.words import say


def both(key: str, **values: object) -> Text:
    """Say a sentence of `quizkit.words` in both languages; a text among the values, in its own."""
    said = {
        name: value if isinstance(value, Text) else Text(str(value), str(value))
        for name, value in values.items()
    }
    zh = {name: value.zh for name, value in said.items()}
    return Text(say(key, "zh", **zh), say(key, "en", **{n: v.en for n, v in said.items()}))


def plain(text: str) -> Text:
    """Return a text that is the same in both languages: words of an error, a place, a rule."""
    return Text(text, text)
