"""What `prove` says."""

from quizkit.words import Words

WORDS: Words = {
    "proved": {"zh": "已证明", "en": "proved "},
    "recorded": {"zh": "按记录", "en": "recorded"},
    "failed": {"zh": "不成立", "en": "FAILED "},
    "skipped": {"zh": "没有跑", "en": "skipped"},
    "sourced": {"zh": "凭出处", "en": "sourced"},
    "survived": {"zh": "改了答案仍然成立：{what}", "en": "survives a changed key: {what}"},
    "counts": {
        "zh": "已证明 {proved}，不成立 {failed}，没有跑 {skipped}，凭出处 {sourced}",
        "en": "{proved} proved, {failed} failed, {skipped} skipped, {sourced} sourced",
    },
    "counts_recorded": {
        "zh": "没有在这里跑、但随软件附带的记录支持答案的 {recorded}",
        "en": "{recorded} not run here, but borne out by the record that ships",
    },
    "runs": {
        "zh": "运行：现在跑了 {ran} 次；{cached} 次以前在这里跑过，代码和参数都没变（--fresh 全部重跑）；{recorded} 次取自记录",
        "en": "Runs: {ran} made now; {cached} remembered, of the same code and arguments (--fresh makes them anew); {recorded} from the record",
    },
    "differs": {
        "zh": "与记录不符：{question}：{what}：记录 {recorded}，现在 {measured}",
        "en": "differs from the record: {question}: {what}: recorded {recorded}, now {measured}",
    },
    "unrecorded": {
        "zh": "记录里没有 {demo} 现在的 {count} 次运行，例如 {question}（{run}）；用 quizkit bank record 补录",
        "en": "not in the record, as {demo} is now: {count} of its runs, as for {question} ({run}); quizkit bank record adds them",
    },
    "uncomparable": {
        "zh": "没有跟记录比较：记录是用 torch {torch}、{backend}、{device} 跑的，这里不是",
        "en": "not compared with the record: it was made with torch {torch}, {backend}, {device}, unlike here",
    },
    "as_recorded": {
        "zh": "与记录一致的运行：{runs} 次",
        "en": "Runs that came out as recorded: {runs}",
    },
    "mutants": {
        "zh": "改动答案：{killed} 个被证明识破，{survived} 个没有",
        "en": "changed keys: {killed} noticed by the proof, {survived} not",
    },
}
