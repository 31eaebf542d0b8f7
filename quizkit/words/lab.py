"""What is said about demos and their runs."""

from quizkit.words import Words

WORDS: Words = {
    "demo_meant": {"zh": "{name}：也就是 demo {demo}", "en": "{name}: this is demo {demo}"},
    "timeline_virtual": {
        "zh": "{schedule}：虚拟时钟上共 {span} 个单位，各 rank 空闲占整步时间的 {idle}%",
        "en": "{schedule}: {span} units on the virtual clock, ranks idle for {idle}% of the step",
    },
    "timeline_wall": {
        "zh": "{schedule}：实际用时 {span} 秒，各 rank 空闲占整步时间的 {idle}%",
        "en": "{schedule}: {span} s on the wall clock, ranks idle for {idle}% of the step",
    },
    "timeline_simulated": {
        "zh": "{schedule}：模拟得到，不是实测；共 {span} 个时间单位，各 rank 空闲占整步时间的 {idle}%",
        "en": "{schedule}: simulated, not measured; {span} units of time, ranks idle for {idle}% of the step",
    },
    "watch_time": {"zh": "时刻 {at}，共 {span}", "en": "at {at} of {span}"},
    "watch_block": {"zh": "（第 {block}/{blocks} 段）", "en": " (part {block} of {blocks})"},
    "watch_idle": {"zh": "空闲", "en": "idle"},
    "watch_letter": {"zh": "{name}：{words}", "en": "{name} {words}"},
    "watch_letters": {"zh": "；", "en": ", "},
    "watch_gets": {"zh": "，收到 rank {rank} 的 {name}", "en": ", gets {name} from rank {rank}"},
    "watch_sends": {"zh": "，发 {name} 给 rank {rank}", "en": ", sends {name} to rank {rank}"},
    "timeline_folded": {
        "zh": "时间轴分成 {blocks} 段，自上而下接着看。",
        "en": "Time goes on in the rows below: {blocks} stretches.",
    },
    "letters_whole": {
        "zh": "F 前向，B 反向（输入和权重的梯度一起算）",
        "en": "F forward, B backward (gradients of input and weights)",
    },
    "letters_split": {
        "zh": "F 前向，B 算输入的梯度，W 算权重的梯度",
        "en": "F forward, B gradient of the input, W gradient of the weights",
    },
    "letters_both": {
        "zh": "F 前向，B 反向；有 W 的地方，B 只算输入的梯度，W 算权重的梯度",
        "en": "F forward, B backward; where there is a W, B is the gradient of the input alone, W that of the weights",
    },
    "timeline_shares": {
        "zh": "操作太多，写不下编号：每列是 {span} 个时间单位，写的是这段时间里做得最多的一类操作，{idle} 表示多半空闲。加 --svg 看全图",
        "en": "Too many operations to number: a column is {span} units of time and shows what the rank did most in it, {idle} where it was mostly idle. --svg draws all of them.",
    },
    "timeline_rounded": {
        "zh": "宽度有限，时间按列取整。",
        "en": "Times are rounded to the columns there are.",
    },
    "timeline_unnumbered": {
        "zh": "宽度不够，有些编号没有写出；加宽终端，或用 quizkit demo 的 --svg。",
        "en": "Too narrow for every number: widen the terminal, or use quizkit demo --svg.",
    },
    "timeline_narrow": {
        "zh": "太窄，画不下；只列出每个 rank 的执行顺序。",
        "en": "Too narrow for a picture; the order on each rank instead.",
    },
    "picture_title": {"zh": "{title}（{unit}）", "en": "{title} ({unit})"},
    "picture_staircase": {
        "zh": "{title}（{unit}）：{steps}。",
        "en": "{title} ({unit}): {steps}.",
    },
    "picture_budget": {"zh": "| 上限 {budget}", "en": "| budget {budget}"},
    "picture_messages": {
        "zh": "{title}：有 {pairs} 对 rank 之间发了消息，共 {total}，最多的一对 {most}（{unit}）：{arrows}。",
        "en": "{title}: {pairs} pairs of ranks talk, {total} in all, {most} on the busiest ({unit}): {arrows}.",
    },
    "picture_ring": {"zh": "一个环：{way}", "en": "one ring: {way}"},
    "picture_nodes": {
        "zh": "节点内 {within}，跨节点 {between}",
        "en": "within nodes {within}, between nodes {between}",
    },
    "picture_ranks": {"zh": "rank", "en": "rank"},
    "picture_sent": {"zh": "发了", "en": "sent"},
    "picture_within": {"zh": "节点内", "en": "within nodes"},
    "picture_between": {"zh": "跨节点", "en": "between nodes"},
    "picture_axis": {
        "zh": "{axis} 组 {groups}，共发 {within}",
        "en": "{axis} groups {groups} sent {within}",
    },
    "picture_axis_nodes": {
        "zh": "{axis} 组 {groups}，节点内 {within}，跨节点 {between}",
        "en": "{axis} groups {groups}, {within} within nodes, {between} between",
    },
    "picture_apart": {"zh": "；", "en": "; "},
    "picture_more_groups": {"zh": " 等，还有 {count} 组", "en": " and {count} more"},
    "picture_shades": {
        "zh": "行发给列；. 没发，- 不到最多的三分之一，+ 不到三分之二，# 更多；最多 {most}",
        "en": "rows send to columns; . nothing, - up to a third of the most, + up to two, # more; most {most}",
    },
    "picture_axes": {"zh": "竖：{down}；横：{across}", "en": "down: {down}; across: {across}"},
    "picture_tiles": {
        "zh": "{title}：竖 {rows} 格（{down}），横 {columns} 格（{across}）：{counts}。",
        "en": "{title}: {rows} down ({down}), {columns} across ({across}): {counts}.",
    },
    "picture_curve": {
        "zh": "{title}（横轴 {x}，纵轴 {y}）：{lines}。",
        "en": "{title} ({y} over {x}): {lines}.",
    },
    "picture_line": {
        "zh": "{label} 从 {start} 处的 {first} 到 {end} 处的 {last}，最小 {low}，最大 {high}",
        "en": "{label} from {first} at {start} to {last} at {end}, lowest {low}, highest {high}",
    },
    "picture_log": {"zh": "{y}（对数刻度）", "en": "{y} (logarithmic)"},
    "svg_title": {"zh": "{demo}，{ranks} 个 rank", "en": "{demo} on {ranks} ranks"},
    "svg_caption": {
        "zh": "每一处都来自实测事件（{backend}，{device}）；把鼠标停在条上看起止时间",
        "en": "Every mark is a measured event ({backend}, {device}); hover over one for its times",
    },
    "svg_simulated": {
        "zh": "每一条都是模拟出来的，不是实测；把鼠标停在宽的条上看起止时间",
        "en": "Every bar is simulated, none is measured; hover over a wide one for its times",
    },
    "state": {
        "zh": "{ranks} 个 rank · {how}（{reason}）· {seconds} 秒",
        "en": "{ranks} ranks, {how} ({reason}), {seconds} s",
    },
    "state_alone": {
        "zh": "{ranks} 个 rank · {how}（{reason}）· {seconds} 秒",
        "en": "{ranks} rank, {how} ({reason}), {seconds} s",
    },
    "state_recorded": {
        "zh": "随软件附带的记录：用 torch {torch} 在 {device} 上的 {backend} 跑的；没有在这台机器上跑",
        "en": "recorded with torch {torch} on {backend}, {device}; not run here",
    },
    "state_nccl": {
        "zh": "nccl × {ranks}，每个 rank 一张 GPU",
        "en": "nccl x {ranks}, one GPU each",
    },
    "state_staged": {
        "zh": "cuda 共用 GPU，消息经主机由 gloo 中转",
        "en": "cuda, shared, messages staged through the host by gloo",
    },
    "state_host": {"zh": "{device} 上的 {backend}", "en": "{backend} on {device}"},
    "reason_no_gpu": {"zh": "没有找到 CUDA GPU", "en": "no CUDA GPU found"},
    "reason_asked": {"zh": "指定了 --device cpu", "en": "--device cpu was asked for"},
    "reason_one_each": {
        "zh": "找到 {gpus} 张 CUDA GPU，够 {ranks} 个 rank 各用一张",
        "en": "{gpus} CUDA GPUs found, one for each of {ranks} ranks",
    },
    "reason_shared": {
        "zh": "{ranks} 个 rank 共用 {gpus} 张 CUDA GPU",
        "en": "{gpus} CUDA GPUs shared by {ranks} ranks",
    },
    "reason_few": {
        "zh": "只有 {gpus} 张 CUDA GPU，不够 {ranks} 个 rank；--device cuda 可以共用",
        "en": "{gpus} CUDA GPUs for {ranks} ranks; --device cuda would share them",
    },
    "checks": {"zh": "检查", "en": "Checks"},
    "metrics": {"zh": "测得", "en": "Measured"},
    "ok": {"zh": "通过", "en": "ok"},
    "fails": {"zh": "不成立", "en": "FAILS"},
    "how_counted": {"zh": "计数", "en": "counted"},
    "how_compared": {"zh": "对照", "en": "compared"},
    "how_identical": {"zh": "逐位", "en": "bit by bit"},
    "how_clocked": {"zh": "计时", "en": "clocked"},
    "how_computed": {"zh": "公式", "en": "computed"},
    "break": {"zh": "埋下的 bug：{name}", "en": "Planted break: {name}"},
    "expected": {"zh": "应当这样露馅：{what}", "en": "It should give itself away: {what}"},
    "expect_check": {"zh": "检查“{name}”不成立", "en": 'the check "{name}" fails'},
    "expect_hangs": {"zh": "卡死，到时限被停下", "en": "the run hangs until its deadline"},
    "expect_crashes": {"zh": "抛出 {cause} 崩溃", "en": "the run crashes with {cause}"},
    "about_break": {"zh": "{expected}。{source}", "en": "{expected}. {source}"},
    "source": {"zh": "怎么来的：{source}", "en": "Where it comes from: {source}"},
    "break_shown": {
        "zh": "埋下的 bug 如预期露馅。",
        "en": "The planted break showed itself as declared.",
    },
    "break_hidden": {
        "zh": "埋下的 bug 没有按预期露馅：这个检查抓不住它。",
        "en": "The planted break did not show itself as declared: nothing here would catch it.",
    },
    "verdict_pass": {"zh": "通过", "en": "pass"},
    "verdict_fail": {"zh": "不通过", "en": "fail"},
    "verdict_error": {"zh": "出错", "en": "error"},
    "all_hold": {"zh": "所有检查都成立", "en": "every check holds"},
    "failing": {"zh": "不成立的检查：{names}", "en": "failing: {names}"},
    "outcome_finished": {
        "zh": "跑完了，但结果不能用",
        "en": "it finished, but its result is no good",
    },
    "outcome_crashed": {"zh": "崩溃", "en": "it crashed"},
    "outcome_hung": {"zh": "卡死", "en": "it hung"},
    "outcome_killed": {"zh": "被取消", "en": "it was cancelled"},
    "outcome_refused": {"zh": "这个设置跑不了", "en": "it refuses this setting"},
    "stack": {"zh": "rank {rank} 停在：", "en": "rank {rank} was at:"},
    "starting": {
        "zh": "正在启动 {demo} 的 {ranks} 个 rank……",
        "en": "starting {ranks} ranks of {demo} ...",
    },
    "all_done": {
        "zh": "共运行 {runs} 次，其中 {wrong} 次结果和应有的不符。",
        "en": "{runs} runs, {wrong} of them other than they should be.",
    },
    "list_first": {"zh": "先看这五个：{names}", "en": "Five to start with: {names}"},
    "list_hint": {
        "zh": "运行：quizkit demo NAME --gpus 4；细节：quizkit demo NAME --help；只看一个专题：quizkit demo --topic pp",
        "en": "Run one: quizkit demo NAME --gpus 4; more about it: quizkit demo NAME --help; one topic: quizkit demo --topic pp",
    },
    "page_hint": {
        "zh": "运行：quizkit demo {name} --gpus 4；埋一个 bug：--break NAME；源码：--show",
        "en": "Run it: quizkit demo {name} --gpus 4; plant a bug: --break NAME; its source: --show",
    },
    "options": {"zh": "选项", "en": "Options"},
    "watch": {"zh": "运行会报告", "en": "What a run reports"},
    "breaks": {"zh": "可以埋的 bug", "en": "Bugs to plant"},
    "default": {"zh": "默认 {value}", "en": "default {value}"},
    "shared": {"zh": "（整次运行一个值）", "en": "(one for the whole run)"},
}
