"""What `prove` says."""

from quizkit.words import Words

WORDS: Words = {
    "proved": {"zh": "已证明", "en": "proved "},
    "failed": {"zh": "不成立", "en": "FAILED "},
    "skipped": {"zh": "没有跑", "en": "skipped"},
    "sourced": {"zh": "凭出处", "en": "sourced"},
    "survived": {"zh": "改了答案仍然成立：{what}", "en": "survives a changed key: {what}"},
    "counts": {
        "zh": "已证明 {proved}，不成立 {failed}，没有跑 {skipped}，凭出处 {sourced}",
        "en": "{proved} proved, {failed} failed, {skipped} skipped, {sourced} sourced",
    },
    "mutants": {
        "zh": "改动答案：{killed} 个被证明识破，{survived} 个没有",
        "en": "changed keys: {killed} noticed by the proof, {survived} not",
    },
}
