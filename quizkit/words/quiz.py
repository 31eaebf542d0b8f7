"""How a calculator asks: the prompt `<sheet>`, and what each trap forgot."""

from quizkit.words import Words

WORDS: Words = {}
