"""What each input of a calculator is: `<name>`, or `<sheet>_<name>` where one sheet means something else by it."""

from quizkit.words import Words

WORDS: Words = {}
