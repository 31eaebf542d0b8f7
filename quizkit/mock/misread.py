"""The error for a line that is no answer to what was asked."""

from quizkit.tutor.verdict import Note


class MisreadError(ValueError):
    """The line is no answer to this kind of question; it is asked again, never counted as wrong."""

    def __init__(self, key: str, **values: object) -> None:
        super().__init__(key, values)
        self.note: Note = (key, values)
