"""Get an answer out of a terminal, for every kind of question, key by key or typed."""

from collections.abc import Sequence
from dataclasses import replace

from quizkit.bank.model import Bug, Choice, Cloze, Essay, Numeric, Order
from quizkit.tutor.desk import Command, Given, Moment
from quizkit.ui.screens.parts import bracketed
from quizkit.ui.screens.question_screen import pre_ticked, rubric
from quizkit.ui.screens.verdict_screen import Section
from quizkit.ui.terminal.draft import Draft, draft_of, found_line
from quizkit.ui.terminal.hand import Hand, Press
from quizkit.ui.terminal.keymap import State
from quizkit.ui.terminal.keys import Keyboard
from quizkit.ui.terminal.view import View
from quizkit.words import say


class Asking:
    """One question in front of one learner. Whatever ends it, the draft goes along."""

    def __init__(self, view: View, keyboard: Keyboard, moment: Moment) -> None:
        self.moment = moment
        self.hand = Hand(view, keyboard, moment)
        # Whether an answer was handed in by leaving while its points were being ticked.
        self.left = False

    def answer(self) -> Given | Command:
        """Show the question and wait for an answer or a command."""
        draft = draft_of(self.moment)
        match self.moment.question:
            case Choice() as question:
                with self.hand.keyboard:
                    return self._several(draft) if question.several else self._single(draft)
            case Order():
                with self.hand.keyboard:
                    return self._order(draft)
            case Cloze() as question:
                return self._cloze(draft, [*question.gaps])
            case Bug():
                with self.hand.keyboard:
                    return self._bug(draft)
            case Essay():
                return self._essay(draft)
            case _:
                return self._one_line(draft)

    def verdict(self, opened: Sequence[Section]) -> Command:
        """Show the verdict and wait for what is to happen next."""
        self.hand.opened = opened
        while True:
            pressed = self.hand.press("verdict", Draft(), 4)
            if isinstance(pressed, Command):
                return pressed

    def _single(self, draft: Draft) -> Given | Command:
        order = self.moment.asked.order
        while True:
            pressed = self.hand.press("pick", draft, len(order))
            if isinstance(pressed, Command):
                return pressed
            if pressed[0] == "pick":
                return Given([order[pressed[1] - 1]])
            if self.hand.gives_up():
                return _unknown(draft)

    def _several(self, draft: Draft) -> Given | Command:
        order = self.moment.asked.order
        while True:
            pressed = self.hand.press("tick", draft, len(order))
            if isinstance(pressed, Command):
                return pressed
            if pressed[0] != "submit":
                place, at = _moved(pressed, draft.place, len(order))
                picked = draft.picked if at is None else _toggled(draft.picked, order[at])
                draft = draft.but(value=picked, place=place)
            elif draft.picked:
                return Given(sorted(draft.picked))
            elif self.hand.gives_up():
                return _unknown(draft)

    def _order(self, draft: Draft) -> Given | Command:
        question, order = self.moment.question, self.moment.asked.order
        assert isinstance(question, Order)
        while True:
            pressed = self.hand.press("order", draft, len(order))
            if isinstance(pressed, Command):
                return pressed
            chosen = draft.steps
            left = len(order) - len(chosen)
            if pressed[0] == "place":
                step = question.steps[order[pressed[1] - 1]].id
                draft = draft.but(value=chosen if step in chosen else [*chosen, step])
            elif pressed[0] == "back":
                draft = draft.but(value=chosen[:-1])
            elif not left:
                return Given(chosen)
            elif chosen:
                self.hand.notice = say("ui.order_short", self.moment.lang, left=left)
            elif self.hand.gives_up():
                return _unknown(draft)

    def _bug(self, draft: Draft) -> Given | Command:
        if draft.stage == "reasons":
            return self._reasons(draft)
        code = self.moment.asked.code
        last = len(code.lines) if code else 0
        while True:
            lang = self.moment.lang
            asked = say("ui.line_asked", lang) + bracketed([f"1-{last}"], lang)
            pressed = self.hand.press("line", draft, 9, f"{asked}> {draft.typed}")
            if isinstance(pressed, Command):
                return pressed
            if pressed[0] == "digit":
                typed = (draft.typed + str(pressed[1])).lstrip("0")
                draft = draft.but(typed=typed[: len(str(last))])
            elif pressed[0] == "back":
                draft = draft.but(typed=draft.typed[:-1])
            elif draft.typed and 1 <= int(draft.typed) <= last:
                chosen = Draft({"line": int(draft.typed), "reasons": []}, "reasons")
                self._has_been_told()
                return self._reasons(chosen)
            elif draft.typed:
                self.hand.notice = say("ui.line_unknown", self.moment.lang, last=last)
            elif self.hand.gives_up():
                return _unknown(draft)

    def _has_been_told(self) -> None:
        """Drop the message told with the question, so that the rubric does not repeat it."""
        self.hand.moment = replace(self.hand.moment, message=None)

    def _tick(self, draft: Draft, part: str, state: State) -> Given | Command | Draft:
        """The rubric: which points were said, then which of the things that are false.

        An essay's learner may go back to the text: then it is the draft to write on from.
        """
        points, vetoes, rows = rubric(self.moment, True)
        self.hand.show = "ticks"
        while rows:
            try:
                pressed = self.hand.press(state, draft, len(rows))
            except KeyboardInterrupt:
                # The answer was handed in before: it is kept, with the ticks it has by now.
                self.left = True
                break
            if isinstance(pressed, Command) and pressed.name != "quit":
                return pressed
            if isinstance(pressed, Command) or pressed[0] == "submit":
                self.left = isinstance(pressed, Command)
                break
            if pressed[0] == "rewrite":
                return Draft(typed=str(draft.parts["text"]))
            place, at = _moved(pressed, draft.place, len(rows))
            draft = draft.but(place=place)
            if at is not None and at < len(points):
                draft = draft.holding(**{part: _toggled(draft.ticks(part), at)})
            elif at is not None and vetoes:
                ticked = _toggled(draft.ticks("vetoes"), at - len(points))
                draft = draft.holding(vetoes=ticked)
        return Given(draft.parts)

    def _one_line(self, draft: Draft) -> Given | Command:
        question, lang = self.moment.question, self.moment.lang
        label = say("ui.answer", lang)
        if isinstance(question, Numeric) and question.unit:
            label = say("ui.answer_in", lang, unit=question.unit)
        while True:
            typed = self.hand.type("type", draft, label)
            if isinstance(typed, Command):
                return typed
            draft = draft.but(typed=typed)
            if typed.strip():
                return Given(typed.strip())
            if self.hand.gives_up():
                return _unknown(draft)

    def _cloze(self, draft: Draft, names: Sequence[str]) -> Given | Command:
        if not draft.typed and draft.value and not draft.stage:
            draft = draft.but(typed=str(draft.parts.get(names[draft.place], "")))
        while True:
            if draft.stage == "review":
                edited = self._review(draft, names)
                if not isinstance(edited, Draft):
                    return edited
                draft = edited
            gap = names[draft.place]
            label = say("ui.gap", self.moment.lang, number=draft.place + 1)
            typed = self.hand.type("type", draft, label)
            if isinstance(typed, Command):
                return typed
            draft = draft.holding(**{gap: typed.strip()}).but(typed="", cursor=None)
            missing = [at for at, name in enumerate(names) if name not in draft.parts]
            if missing:
                draft = draft.but(place=missing[0])
            elif len(names) > 1:
                draft = draft.but(stage="review")
            elif typed.strip():
                return Given(draft.parts)
            elif self.hand.gives_up():
                return _unknown(draft)

    def _review(self, draft: Draft, names: Sequence[str]) -> Given | Command | Draft:
        """All gaps are filled: hand them in, or go back to one."""
        with self.hand.keyboard:
            while True:
                pressed = self.hand.press("review", draft, len(names))
                if isinstance(pressed, Command):
                    return pressed
                if pressed[0] == "edit":
                    at = pressed[1] - 1
                    return draft.but(stage="", place=at, typed=str(draft.parts[names[at]]))
                if any(draft.parts.values()):
                    return Given(draft.parts)
                if self.hand.gives_up():
                    return _unknown(draft)

    def _reasons(self, draft: Draft) -> Given | Command:
        if not found_line(self.moment, draft):
            return Given(draft.parts)
        told = self._tick(draft, "reasons", "tick")
        assert not isinstance(told, Draft)  # from here on the line is known to be right
        return told

    def _essay(self, draft: Draft) -> Given | Command:
        while True:
            while draft.stage != "rubric":
                typed = self.hand.type("compose", draft, "", multiline=True)
                if isinstance(typed, Command):
                    return typed
                if typed.strip():
                    draft = pre_ticked(self.moment, typed.strip())
                    self._has_been_told()
                elif self.hand.gives_up():
                    return _unknown(draft)
            with self.hand.keyboard:
                told = self._tick(draft, "points", "rubric")
            if not isinstance(told, Draft):
                return told
            draft = told


def _moved(pressed: Press, place: int, count: int) -> tuple[int, int | None]:
    """Return where the cursor goes, and which line is ticked, in a list of `count`."""
    command, digit = pressed
    if command == "up":
        return (place - 1) % count, None
    if command == "down":
        return (place + 1) % count, None
    return (place, place) if command == "mark" else (digit - 1, digit - 1)


def _toggled(chosen: Sequence[int], one: int) -> list[int]:
    return [each for each in chosen if each != one] if one in chosen else sorted([*chosen, one])


def _unknown(draft: Draft) -> Command:
    """The learner does not know, and wants to be shown."""
    return Command("continue", draft=draft)
