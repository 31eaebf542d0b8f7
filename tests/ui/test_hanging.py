"""Recorded lines on a screen that is narrower than they are."""

from quizkit.ui.text.hanging import refilled

LOG = """\
rank 0  rows.1  rows.2  gradient.3  gradient.4
        gradient.7  spikes.8
rank 1  rows.1"""


def test_a_log_that_fits_stays_as_it_was_recorded():
    assert refilled(LOG, 46) == LOG.split("\n")


def test_what_is_too_long_is_filled_anew_by_field():
    assert refilled(LOG, 36) == [
        "rank 0  rows.1  rows.2  gradient.3",
        "        gradient.4  gradient.7",
        "        spikes.8",
        "rank 1  rows.1",
    ]


def test_lines_without_fields_are_left_to_be_folded():
    stack = "File one line 12, in main\n    step(of everything)"
    assert refilled(stack, 12) == stack.split("\n")
