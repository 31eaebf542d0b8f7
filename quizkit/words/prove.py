"""What `prove` says."""

from quizkit.words import Words

WORDS: Words = {
    "proved": {"zh": "已证明", "en": "proved "},
    "recorded": {"zh": "按记录", "en": "recorded"},
    "options": {
        "zh": "{word}（{of} 个选项中的 {proved} 个）",
        "en": "{word} {proved} of {of} options",
    },
    "points": {
        "zh": "{word}（{of} 个要点中的 {proved} 个{more}）",
        "en": "{word} {proved} of {of} points{more}",
    },
    "points_more": {"zh": "，另 {count} 个只证了一部分", "en": ", {count} in part"},
    "reasons": {
        "zh": "{word}（{of} 条原因中的 {proved} 条{more}）",
        "en": "{word} {proved} of {of} reasons{more}",
    },
    "reasons_more": {"zh": "，另 {count} 条只证了一部分", "en": ", {count} in part"},
    "weak": {"zh": "不牢靠", "en": "WEAK   "},
    "failed": {"zh": "不成立", "en": "FAILED "},
    "skipped": {"zh": "没有跑", "en": "skipped"},
    "sourced": {"zh": "凭出处", "en": "sourced"},
    "unsaid": {
        "zh": "答案取决于 {name}: {value}，题目的英文里没有它的名字。写进题面或 `assume`；"
        "已经换了说法的，在 `said` 里引出那句英文",
        "en": "the key hangs on {name}: {value}, which no English word names. Say it in the prompt "
        "or in `assume`; if other words do, quote them in `said`",
    },
    "symptom": {
        "zh": "{place}：换成 demo 的别的 bug（{others}）也都成立，只是症状。主张只有这个 bug 才有的事，"
        "或者去掉主张",
        "en": "{place}: is as true with each other bug of the demo ({others}), a symptom. Claim "
        "what this bug alone does, or nothing",
    },
    "undrawn": {
        "zh": "抽到 {drawn} 时答案不成立，`at` 里没有这种情形。加进 `at`，改答案或 `params`",
        "en": "the key does not hold at {drawn}, which learners draw and no row is like. Add it "
        "to `at`, and mend the key or `params`",
    },
    "not_regardless": {
        "zh": "`regardless: [{name}]` 说与它无关，{name}: {value} 时却不成立",
        "en": "fails with {name}: {value}, though `regardless: [{name}]`",
    },
    "survived": {"zh": "改了答案仍然成立：{what}", "en": "survives a changed key: {what}"},
    "no_proof": {
        "zh": "既没有 `proof`，也没有 `sources`",
        "en": "has neither a proof nor sources",
    },
    "key_differs": {
        "zh": "{place}：{numbers}，{runs} 次运行里有 {false} 次不符（{where}），主张 `{claim}`。"
        "改答案，或者改 `proof` 的参数，让它跑的就是题目问的",
        "en": "{place}: {numbers} in {false} of {runs} runs ({where}), by `{claim}`. Mend the key, "
        "or `proof` so that it runs what is asked",
    },
    "claim_false": {
        "zh": "{place}：`{claim}` 在 {runs} 次运行里有 {false} 次为假（{where}）。"
        "是答案错了，还是主张说的不是题目问的？",
        "en": "{place}: `{claim}` is false in {false} of {runs} runs ({where}). Is the key wrong, "
        "or does the claim not say what is asked?",
    },
    "option_stands": {
        "zh": "{place}：`{claim}` 在全部 {runs} 次运行里都为真，错误选项没有被推翻。"
        "这一项其实对，或者要加一行 `at`，让它为假",
        "en": "{place}: `{claim}` is true in every run ({runs}), and should be refuted by one: "
        "the option is right, or `at` lacks the row that refutes it",
    },
    "trap_stands": {
        "zh": "{place}：陷阱 `{trap}` 在全部 {runs} 次运行里和实测一致，没有被推翻。"
        "在 `at` 里加一行，让两者不同",
        "en": "{place}: with answer = {trap} the claims are true in every run ({runs}), and "
        "should be refuted by one: add a row to `at` where they differ",
    },
    "claim_error": {"zh": "{place}：`{claim}`：{error}", "en": "{place}: `{claim}`: {error}"},
    "shows_fails": {
        "zh": "{place}：这次运行填不出这句话（{where}）：{error}。改公式，或者改 `at`",
        "en": "{place}: this run cannot fill the sentence ({where}): {error}. Mend the formula, "
        "or `at`",
    },
    "rounding": {
        "zh": "`{name}` 是 {value}：是舍入，还是差别？要说比特相等，就主张一个 `identical` 的指标；否则说明差在舍入之内，写出大小",
        "en": "`{name}` is {value}: rounding or a difference? For equal bits claim a metric "
        "that is `identical`; else say `up to rounding` and its size",
    },
    "exact": {
        "zh": "{place}：文字说一个比特都不差，`{claim}` 却容得下舍入。主张一个 `identical` 的指标，"
        "或者写明差在舍入之内",
        "en": "{place}: the words say equal bits, and `{claim}` lets rounding by. Claim a metric "
        "that is `identical`, or say `up to rounding`",
    },
    "unmeasured": {
        "zh": "没有用到任何 counted、compared、clocked 或 identical 的指标",
        "en": "rests on no metric that was counted, compared, clocked or identical",
    },
    "loose_still": {
        "zh": "{place}：答案没有挂在实测上。实测值变了，{part} 仍然是 {value}（{where}）。"
        "把 {part} 和一个指标相比",
        "en": "{place}: says nothing about the key: what was measured may change, and {part} stays "
        "{value} ({where}). Compare {part} with a metric",
    },
    "loose_window": {
        "zh": "{place}：{part} = {other} 时主张同样成立，太宽了。把容差或范围收紧",
        "en": "{place}: the claims are as true of {part} = {other}. Narrow the tolerance or window",
    },
    "loose_neutral": {
        "zh": "{place}：答案没有挂在实测上。`{part}` 每次运行都正好抵消，换成别的答案也成立",
        "en": "{place}: says nothing about the key: `{part}` cancels out in every run, and would "
        "beside any other answer",
    },
    "echo": {
        "zh": "{place}：有记录的每次运行里 `{metric}` 都是 {law}，剩下的只是作者自己的公式。"
        "换一个量到答案的指标",
        "en": "{place}: `{metric}` is {law} in every run on record, and what is left is the "
        "author's formula. Claim a metric that measures the answer",
    },
    "whose": {
        "zh": "{place}：`{metric}` 不是题目说的那些 rank（{told}）",
        "en": "{place}: `{metric}` is not of the ranks that the words tell of: {told}",
    },
    "untold": {
        "zh": "{place}：`{part}` 靠文字里没有的倍数才得出这个结果。把倍数写进选项，或者去掉",
        "en": "{place}: `{part}` comes out as it does by a factor that the option does not say. "
        "Say it, or leave it out",
    },
    "computed": {
        "zh": "每个选项都靠 `{metric}`，它是算出来的，不是量出来的。换成量到的指标",
        "en": "every option goes by `{metric}`, which is worked out and not measured. Claim what "
        "was measured",
    },
    "loose_unmeasured": {
        "zh": "{place}：`{part}` 没有和任何实测值相比",
        "en": "{place}: `{part}` compares nothing that was measured",
    },
    "loose_always": {
        "zh": "{place}：无论测到什么，`{part}` 都为真，等于没说",
        "en": "{place}: `{part}` is true whatever is measured, and says nothing",
    },
    "loose_never": {
        "zh": "{place}：无论测到什么，`{claim}` 都为假，推翻不了这个选项",
        "en": "{place}: `{claim}` is false whatever is measured, and refutes nothing",
    },
    "loose_lax": {
        "zh": "{place}：几乎测到什么，`{part}` 都为真。说出是多少，或者和什么相比",
        "en": "{place}: `{part}` is true of almost any measurement. Say how much, or compared with "
        "what",
    },
    "loose_slack": {
        "zh": "{place}：`{part}` 全靠加上去的那个数才成立，实测值本身不分大小。去掉它再比",
        "en": "{place}: `{part}` is true for the number added alone; what was measured is not. "
        "Compare without it",
    },
    "loose_order": {
        "zh": "steps：答案没有挂在实测上。没有一个实测值说明 {first} 在 {second} 之前",
        "en": "steps: says nothing about the key: no measurement puts {first} before {second}",
    },
    "loose_turned": {
        "zh": "steps：顺序换成 {order}，主张同样成立。要让主张只对一种顺序成立",
        "en": "steps: the claims are as true of the order {order}. Compare so that only one order "
        "is true",
    },
    "loose_pair": {
        "zh": "{place}：{other} 时主张同样成立。每个数要分别和实测值相比",
        "en": "{place}: the claims are as true of {other}. Compare each number with what was "
        "measured",
    },
    "loose_repeated": {
        "zh": "{place}：{other} 成立，它就成立，证明不了另一点。主张这一点自己的事，或者去掉主张",
        "en": "{place}: is true wherever {other} is, and proves no other point. Claim what this "
        "point says beyond that, or nothing",
    },
    "loose_declared": {
        "zh": "{place}：这个 bug 本来就声明了运行会怎样结束，等于没说。换成一个指标，或者去掉主张",
        "en": "{place}: how the run ends is what this bug is declared to do, and says nothing. "
        "Claim a metric, or nothing",
    },
    "counts": {
        "zh": "已证明 {proved}（其中 {in_part} 题只证明了一部分），不成立 {failed}，没有跑 {skipped}，"
        "凭出处 {sourced}",
        "en": "{proved} proved ({in_part} of them in part), {failed} failed, {skipped} skipped, "
        "{sourced} sourced",
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
    "near_recorded": {
        "zh": "与记录接近的运行：{runs} 次（记录时的处理器不同或不明，舍入可能不同：结局、结论、检查项都相同，大于 1e-7 的数值相差都在两倍以内）",
        "en": "Runs that came out near the record: {runs} (it was made on another processor, or on one not named, which may round otherwise: the same outcomes, verdicts and checks, no number above 1e-7 more than doubled or halved)",
    },
    "mutants": {
        "zh": "改动答案：{killed} 个被证明识破，{survived} 个没有",
        "en": "changed keys: {killed} noticed by the proof, {survived} not",
    },
}
