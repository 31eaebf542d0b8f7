"""What stands around the options on a page of help: titles, values, bounds."""

from quizkit.words import Words

WORDS: Words = {
    "usage": {"zh": "用法：{line}", "en": "Usage: {line}"},
    "any_options": {"zh": "选项", "en": "OPTIONS"},
    "a_command": {"zh": "命令", "en": "COMMAND"},
    "arguments": {"zh": "参数", "en": "Arguments"},
    "options": {"zh": "选项", "en": "Options"},
    "commands": {"zh": "命令", "en": "Commands"},
    "required": {"zh": "必填", "en": "required"},
    "repeatable": {"zh": "可以写多次", "en": "may be repeated"},
    "default": {"zh": "默认 {value}", "en": "default {value}"},
    "whole": {"zh": "整数", "en": "a whole number"},
    "number": {"zh": "数", "en": "a number"},
    "least": {"zh": "至少为 {least}", "en": "at least {least}"},
    "between": {"zh": "{least} 到 {most}", "en": "{least} to {most}"},
    "bounded": {"zh": "{bounds} 的{noun}", "en": "{noun}, {bounds}"},
}
