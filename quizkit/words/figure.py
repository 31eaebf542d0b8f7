"""What each number of a calculator is, by `<sheet>_<figure>`."""

from quizkit.words import Words

WORDS: Words = {}
