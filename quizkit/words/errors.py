"""What went wrong, and what to do next."""

from quizkit.words import Words

WORDS: Words = {
    "home": {
        "zh": "无法创建用户目录 {folder}：{reason}。请换一个可写的目录：export QUIZKIT_HOME=…",
        "en": "Cannot make the user folder {folder}: {reason}. Choose a writable one: export QUIZKIT_HOME=...",
    },
}
