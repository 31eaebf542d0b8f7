"""What went wrong, and what to do next."""

from quizkit.words import Words

WORDS: Words = {
    "home": {
        "zh": "无法创建用户目录 {folder}：{reason}。请换一个可写的目录：export QUIZKIT_HOME=…",
        "en": "Cannot make the user folder {folder}: {reason}. Choose a writable one: export QUIZKIT_HOME=...",
    },
    "setting_unknown": {
        "zh": "{place}：没有叫 {name} 的设置。可以试试：{hint}。全部设置：quizkit config",
        "en": "{place}: there is no setting {name}. Try: {hint}. For all of them: quizkit config",
    },
    "setting_which": {
        "zh": "要恢复哪一项？例如：quizkit config lang --unset",
        "en": "Which setting? For instance: quizkit config lang --unset",
    },
    "setting_both": {
        "zh": "要么给新值，要么 --unset，不能两样都要",
        "en": "Either a new value or --unset, not both",
    },
    "setting_value": {
        "zh": "{place}：{name} 不能是 {given}，可以是：{wanted}。改掉，或恢复默认：quizkit config {name} --unset",
        "en": "{place}: {name} cannot be {given}; it can be: {wanted}. Change it, or go back to the default: quizkit config {name} --unset",
    },
    "setting_line": {
        "zh": "{place}：每行写成 `名字: 值`，这一行读不懂：{line}",
        "en": "{place}: a line reads `name: value`; this one does not: {line}",
    },
    "setting_encoding": {
        "zh": "设置文件 {file} 不是 UTF-8 文本，没有动它。用 UTF-8 编码另存，或删掉它",
        "en": "The settings in {file} are no UTF-8 text and were left alone. Save them as UTF-8, or remove the file",
    },
    "demo_unknown": {
        "zh": "没有名为 {name} 的 demo。可以试试：{hint}。全部列表：quizkit demo",
        "en": "There is no demo named {name}. Try: {hint}. For a list: quizkit demo",
    },
    "demo_which": {
        "zh": "叫 {name} 的 demo 不止一个：{hint}。写出要跑哪一个，比如 quizkit demo {first}",
        "en": "Several demos go by {name}: {hint}. Say which to run, as in quizkit demo {first}",
    },
    "demo_topic": {
        "zh": "{name} 是专题，它的 demo 有：{hint}。每个讲什么：quizkit demo --topic {topic}",
        "en": "{name} is a topic; its demos are: {hint}. What each shows: quizkit demo --topic {topic}",
    },
    "demo_topic_alone": {
        "zh": "--topic 用来列出 demo，不和 demo 的名字或 --all 一起写：quizkit demo --topic pp",
        "en": "--topic lists demos and goes with neither a demo's name nor --all: quizkit demo --topic pp",
    },
    "demo_topic_empty": {
        "zh": "专题 {name} 还没有 demo。有 demo 的专题：{hint}",
        "en": "Topic {name} has no demo yet. Topics that have: {hint}",
    },
    "demo_not_yet": {
        "zh": "还没有讲 {name} 的 demo。最接近的：quizkit demo {demo}，题目：quizkit study {question}",
        "en": "There is no demo on {name} yet. The nearest: quizkit demo {demo}; a question: quizkit study {question}",
    },
    "demo_option": {
        "zh": "{command} 自己没有选项 {name}，最接近的是 {hint}；demo 的选项要写在它的名字后面：{command} NAME {name} …",
        "en": "{command} itself has no option {name}, the nearest is {hint}; a demo's own follow its name: {command} NAME {name} ...",
    },
    "demo_option_far": {
        "zh": "{name} 要写在 demo 的名字后面：{command} NAME {name} …。全部列表：{command}",
        "en": "{name} belongs after the name of a demo: {command} NAME {name} ... For a list: {command}",
    },
    "demo_file": {
        "zh": "{file}:{line}: 这个 demo 文件读不了：{reason}",
        "en": "{file}:{line}: this demo cannot be read: {reason}",
    },
    "break_unknown": {
        "zh": "demo {demo} 没有名为 {name} 的 bug 可埋。可以试试：{hint}。",
        "en": "Demo {demo} has no break named {name}. Try: {hint}.",
    },
    "break_elsewhere": {
        "zh": "demo {demo} 的 {name} 不在函数 {function} 里，摘录看不到这个 bug",
        "en": "Break {name} of demo {demo} does not touch the function {function}, so an excerpt cannot show it",
    },
    "function_unknown": {
        "zh": "demo {demo} 里没有函数 {name}。可以试试：{hint}。",
        "en": "Demo {demo} has no function {name}. Try: {hint}.",
    },
    "option_unknown": {
        "zh": "demo {demo} 没有选项 {name}。可以试试：{hint}。全部选项：quizkit demo {demo} --help",
        "en": "Demo {demo} has no option {name}. Try: {hint}. All options: quizkit demo {demo} --help",
    },
    "option_value": {
        "zh": "{name} 要的是 {wanted}，不是 {given}",
        "en": "{name} takes {wanted}, not {given}",
    },
    "option_alone": {
        "zh": "{name} 后面要跟一个值（{wanted}）",
        "en": "{name} needs a value after it ({wanted})",
    },
    "option_stray": {
        "zh": "{given} 前面没有选项名。demo 的名字只写一个，放在最前面：quizkit demo NAME --选项 值",
        "en": "{given} follows no option. Name one demo, before its options: quizkit demo NAME --option value",
    },
    "option_switch": {
        "zh": "{name} 是开关，后面不带值（{given}）",
        "en": "{name} is a switch and takes no value ({given})",
    },
    "usage_option": {
        "zh": "{command} 没有选项 {name}。可以试试：{hint}。全部选项：{command} --help",
        "en": "{command} has no option {name}. Try: {hint}. All options: {command} --help",
    },
    "usage_option_far": {
        "zh": "{command} 没有选项 {name}。全部选项：{command} --help",
        "en": "{command} has no option {name}. All options: {command} --help",
    },
    "usage_option_first": {
        "zh": "{name} 要写在命令后面，例如：{line}",
        "en": "{name} belongs after a command, as in: {line}",
    },
    "usage_command": {
        "zh": "{command} 没有 {name} 这个命令。可以试试：{hint}。全部命令：{command} --help",
        "en": "{command} has no command {name}. Try: {hint}. All commands: {command} --help",
    },
    "usage_command_far": {
        "zh": "{command} 没有 {name} 这个命令。全部命令：{command} --help",
        "en": "{command} has no command {name}. All commands: {command} --help",
    },
    "usage_no_command": {
        "zh": "{command} 后面要跟一个命令：{known}",
        "en": "{command} needs a command after it: {known}",
    },
    "usage_missing": {
        "zh": "{command} 还缺 {name}（{about}）。用法：{line}",
        "en": "{command} needs {name} ({about}). Usage: {line}",
    },
    "usage_extra": {
        "zh": "{command} 用不上 {given}。用法：{line}",
        "en": "{command} has no use for {given}. Usage: {line}",
    },
    "usage_value": {
        "zh": "{name} 不能是 {given}，要的是：{wanted}",
        "en": "{name} takes {wanted}, not {given}",
    },
    "usage_switch": {
        "zh": "{name} 是开关，后面不带值",
        "en": "{name} is a switch and takes no value",
    },
    "option_apart": {
        "zh": "{name} 和 {other} 不能一起用",
        "en": "{name} and {other} exclude each other",
    },
    "option_without": {
        "zh": "{name} 要和 {other} 一起用：quizkit demo --help",
        "en": "{name} means something only with {other}: quizkit demo --help",
    },
    "no_timeline": {
        "zh": "demo {demo} 这次运行没有测出时间线，没有可画的",
        "en": "This run of demo {demo} measured no timeline, so there is nothing to draw",
    },
    "file_write": {"zh": "写不了 {file}：{reason}", "en": "Cannot write {file}: {reason}"},
    "file_read": {"zh": "读不了 {file}：{reason}", "en": "Cannot read {file}: {reason}"},
    "file_kind": {
        "zh": "{file} 不是普通文件（是目录、管道或设备），没有动它。换一个文件名",
        "en": "{file} is no regular file (a folder, a pipe or a device) and was left alone. Name another",
    },
    "file_large": {
        "zh": "{file} 超过 {limit} 字节，没有读",
        "en": "{file} holds more than {limit} bytes and was not read",
    },
    "torch_missing": {
        "zh": "跑 demo 需要 PyTorch，这个环境里没有。请先安装：{python} -m pip install torch numpy",
        "en": "Demos need PyTorch, and this environment has none. Install it: {python} -m pip install torch numpy",
    },
    "bench_died": {
        "zh": "实验台进程意外结束（{how}），没有留下 rank；再运行一次会自动重启。它最后说：{said}",
        "en": "The bench ended unexpectedly ({how}); no rank is left behind, and the next run starts a new one. Its last words: {said}",
    },
    "bench_killed": {
        "zh": "实验台进程被强行结束（SIGKILL），多半是内存不够：系统会先杀占内存最多的进程。没有留下 rank；腾出内存，或减少 rank 再运行一次。",
        "en": "The bench was killed (SIGKILL), most likely because memory ran out: a system ends the largest program first. No rank is left behind; free some memory or take fewer ranks, and run it again.",
    },
    "bench_silent": {
        "zh": "实验台 {seconds} 秒没有回应，已被关闭；再运行一次会自动重启",
        "en": "The bench did not answer for {seconds} s and was closed; the next run starts a new one",
    },
    "bench_usage": {"zh": "{message}", "en": "{message}"},
    "bench_environment": {"zh": "这里跑不了：{message}", "en": "This cannot run here: {message}"},
    "bench_internal": {
        "zh": "实验台内部出错：{message}",
        "en": "The bench itself failed: {message}",
    },
    "report_schema": {
        "zh": "看不懂这份报告：它的 schema 是 {found}，这里只认识 {known}",
        "en": "This report cannot be read: its schema is {found}, known here is {known}",
    },
    "report_field": {
        "zh": "报告的内容不对：{reason}",
        "en": "The report is not as it should be: {reason}",
    },
    "lang": {
        "zh": "没有 {name} 这种语言，可用 zh 或 en",
        "en": "There is no language {name}; choose zh or en",
    },
    "common": {
        "zh": "常见 70 问里没有 {name}。可以试试：{hint}。",
        "en": "None of the common 70 is called {name}. Try: {hint}.",
    },
    "topic": {
        "zh": "没有名为 {name} 的专题。可以试试：{hint}。",
        "en": "There is no topic {name}. Try: {hint}.",
    },
    "topic_not_yet": {
        "zh": "还没有讲 {name} 的专题。最接近的题：quizkit study {question}，能跑的：quizkit demo {demo}",
        "en": "There is no topic on {name} yet. The nearest question: quizkit study {question}; to run: quizkit demo {demo}",
    },
    "kind": {
        "zh": "没有 {name} 这种题型。可以试试：{hint}。",
        "en": "There is no kind {name}. Try: {hint}.",
    },
    "question": {
        "zh": "没有编号为 {name} 的题。可以试试：{hint}。",
        "en": "There is no question {name}. Try: {hint}.",
    },
    "question_retired": {
        "zh": "{name} 这道题已经下线：{reason}。请改做 {see}",
        "en": "{name} is retired: {reason}. Take {see} instead",
    },
    "bank_folder": {
        "zh": "{folder} 里的题读不了：{reason}。检查 --bank 后面的目录",
        "en": "Cannot read the questions in {folder}: {reason}. Check the folder after --bank",
    },
    "evidence_none": {
        "zh": "{id} 没有 evidence：先在题里写上 evidence: {{demo: …, show: [log]}}",
        "en": "{id} has no evidence: give it evidence: {{demo: …, show: [log]}} first",
    },
    "evidence_nothing": {
        "zh": "{id}：{demo} 这样跑，没有可以记成 {kind} 的东西；换一种 show",
        "en": "{id}: run like this, {demo} brings nothing to record as {kind}; show something else",
    },
    "question_broken": {
        "zh": "这道题读不了：\n{problems}",
        "en": "This question cannot be read:\n{problems}",
    },
    "question_name": {
        "zh": "{name} 不是题目编号。写成“专题/短名”，只用小写字母、数字和横线，例如 pp/bubble-share",
        "en": "{name} is no question id. Write topic/slug in lower case, digits and dashes, as in pp/bubble-share",
    },
    "question_there": {
        "zh": "{path} 已经存在，没有改动它。换一个名字，或直接编辑它",
        "en": "{path} is already there and was left alone. Choose another name, or edit it",
    },
    "question_write": {
        "zh": "无法写入 {path}：{reason}。用 --bank 指定一个可写的目录",
        "en": "Cannot write {path}: {reason}. Name a writable folder with --bank",
    },
    "levels": {
        "zh": "难度写成 2-3 或 4，范围是 1 到 5；你写的是 {text}",
        "en": "Levels are written 2-3 or 4, from 1 to 5; you wrote {text}",
    },
    "plan_no_date": {
        "zh": "哪天面试？例如：quizkit plan --interview 2027-03-01 --minutes 40",
        "en": "When is the interview? For instance: quizkit plan --interview 2027-03-01 --minutes 40",
    },
    "plan_date": {
        "zh": "看不懂日期 {given}；写成 年-月-日，例如 2027-03-01",
        "en": "{given} is no date that can be read; write year-month-day, as in 2027-03-01",
    },
    "plan_today": {
        "zh": "面试就在今天，没有可排的日子了。还有时间就看最没把握的：quizkit study --limit 5。祝顺利",
        "en": "The interview is today: there is no day left to plan. If there is an hour: quizkit study --limit 5. Good luck",
    },
    "plan_past": {
        "zh": "{date} 已经过了。换一个日期：quizkit plan --interview …；不再按计划：quizkit config interview --unset",
        "en": "{date} has passed. Give another date: quizkit plan --interview ...; to be without a plan: quizkit config interview --unset",
    },
    "plan_far": {
        "zh": "{date} 在一年以后，现在排计划没有意义；先照到期次序复习：quizkit study",
        "en": "{date} is more than a year away, too far to plan for; until then go by what is due: quizkit study",
    },
    "plan_for": {
        "zh": "--for {name} 不认识。可以试试：{hint}。可以写 junior、senior、staff，或 quizkit mock --list 里的名字",
        "en": "--for {name} is not known. Try: {hint}. It takes junior, senior, staff, or a name from quizkit mock --list",
    },
    "nothing_chosen": {
        "zh": "没有符合条件的题。放宽 --topic、--level 或 --kind；quizkit list 列出所有的题",
        "en": "No question fits. Loosen --topic, --level or --kind; quizkit list shows what there is",
    },
    "study_topic": {
        "zh": "{name} 是专题，不是题目编号。做这个专题：quizkit study --topic {topic}",
        "en": "{name} is a topic, not a question. To study it: quizkit study --topic {topic}",
    },
    "study_named": {
        "zh": "点名的题照点名的顺序全部做，不能再加 --topic、--level、--kind、--limit",
        "en": "Named questions are asked as they are named: leave out --topic, --level, --kind and --limit",
    },
    "data_one": {
        "zh": "--where、--export、--merge、--reset、--erase 一次只能用一个",
        "en": "One of --where, --export, --merge, --reset and --erase at a time",
    },
    "reset_which": {
        "zh": "要恢复哪个专题？例如：quizkit data --reset pp --undo",
        "en": "Which topic? For instance: quizkit data --reset pp --undo",
    },
    "reset_none": {
        "zh": "{topic} 没有重新开始过，没有可以撤销的",
        "en": "{topic} was not begun anew; there is nothing to take back",
    },
    "confirm_yes": {
        "zh": "没有终端可以确认。确定的话，加上 --yes",
        "en": "There is no terminal to confirm at. If you mean it, add --yes",
    },
    "diary_newer": {
        "zh": "{file} 是更新版本的 quizkit 写的（格式 {found}，这里只认到 {known}）。请升级 quizkit；文件没有改动",
        "en": "{file} was written by a newer quizkit (format {found}; this one knows up to {known}). Upgrade quizkit; the file was left alone",
    },
    "diary_foreign": {
        "zh": "{file} 不是 quizkit 的答题记录，没有改动它。把它移走，或用 QUIZKIT_HOME 换一个目录",
        "en": "{file} is no quizkit diary and was left alone. Move it away, or choose another folder with QUIZKIT_HOME",
    },
    "diary_others": {
        "zh": "{file} 像是别的程序的数据库（里面的表：{tables}），没有改动它。把它移走，或用 QUIZKIT_HOME 换一个目录",
        "en": "{file} seems to be another program's database (its tables: {tables}) and was left alone. Move it away, or choose another folder with QUIZKIT_HOME",
    },
    "diary_link": {
        "zh": "{file} 是指向 {target} 的链接，但那里没有文件。如果那是外接盘或网盘，先挂载上；不再需要的话，删掉这个链接",
        "en": "{file} is a link to {target}, where there is no file. Mount the drive it is on, or remove the link if you no longer need it",
    },
    "diary_corrupt": {
        "zh": "{file} 损坏了（{reason}），没有改动它。先把还能读的导出来：quizkit data --export > kept.json；再把它移走，然后：quizkit data --merge kept.json",
        "en": "{file} is damaged ({reason}) and was left alone. Rescue what can be read: quizkit data --export > kept.json; then move it away, and: quizkit data --merge kept.json",
    },
    "export_target": {
        "zh": "加了 --json，要写明写到哪个目录或文件",
        "en": "With --json, say which folder or file to write",
    },
    "merge_foreign": {
        "zh": "{file} 不是完好的 quizkit 答题记录，也不是 quizkit data --export 的输出（{reason}）。什么都没有改动",
        "en": "{file} is no sound quizkit diary, nor what quizkit data --export prints ({reason}). Nothing was changed",
    },
    "merge_left_out": {
        "zh": "{file} 里有 {count} 条记录用不了，没有并入，例如 {named}。其余的都并入了",
        "en": "Rows of {file} that nothing can use were left out: {count}, such as {named}. All others are taken in",
    },
    "export_damaged": {
        "zh": "{file} 损坏了（{reason}），能找到的记录都在导出里。把导出存成 kept.json，将它移走，再 quizkit data --merge kept.json",
        "en": "{file} is damaged ({reason}); every row that could be found is in the export. Keep it as kept.json, move the file away, and quizkit data --merge kept.json",
    },
    "export_left_out": {
        "zh": "{file} 里有 {count} 条记录读不出来或用不了，例如 {named}。导出里的 left_out 列出了它们，其余的都在。想清理掉：把导出存成 kept.json，quizkit data --erase，再 quizkit data --merge kept.json",
        "en": "Rows of {file} that cannot be read or used: {count}, such as {named}. The export lists them under left_out; all else is in it. To be rid of them, keep it as kept.json; then quizkit data --erase and quizkit data --merge kept.json",
    },
    "merge_newer": {
        "zh": "{file} 来自更新版本的 quizkit（格式 {found}，这里只认到 {known}）。先升级 quizkit；什么都没有改动",
        "en": "{file} comes from a newer quizkit (format {found}; this one knows up to {known}). Upgrade quizkit first; nothing was changed",
    },
    "diary_full": {
        "zh": "磁盘满了，{file} 写不进去。之前的答案都在，刚才这一题没有记下。腾出空间后再来",
        "en": "The disk is full: {file} cannot grow. Every earlier answer is kept, this last one is not. Make room and come back",
    },
    "diary_busy": {
        "zh": "另一个程序一直占着 {file}（{reason}）。关掉它再试",
        "en": "Another program keeps {file} locked ({reason}). Close it and try again",
    },
    "diary_open": {
        "zh": "无法写入 {file}：{reason}。检查目录权限，或换一个可写的目录：export QUIZKIT_HOME=…",
        "en": "Cannot write {file}: {reason}. Check the folder's permissions, or choose a writable one: export QUIZKIT_HOME=...",
    },
    "unsent": {
        "zh": "{why}。没写完的内容没能存下，原文在这里：\n{text}",
        "en": "{why}. What you had written could not be kept; here it is:\n{text}",
    },
    "diary_io": {
        "zh": "读写 {file} 时出错：{reason}。之前的答案都在，刚才这一题可能没有记下。检查磁盘空间后再来",
        "en": "Reading or writing {file} failed: {reason}. Every earlier answer is kept, this last one may not be. Check the disk and come back",
    },
    "prove_what": {
        "zh": "要证明哪些题？给出编号，或 --topic 专题，或 --all",
        "en": "Prove what? Name questions, or --topic TOPIC, or --all",
    },
    "mock_unknown": {
        "zh": "没有名为 {name} 的面试脚本。可以试试：{hint}。全部列表：quizkit mock --list",
        "en": "There is no interview script {name}. Try: {hint}. For a list: quizkit mock --list",
    },
    "mock_broken": {
        "zh": "这个面试脚本用不了：\n{problems}",
        "en": "This interview script cannot be used:\n{problems}",
    },
    "mock_taken": {
        "zh": "另一个终端里正在面试，一次只能面一场：先在那边面完，或者按 Ctrl-C 离开",
        "en": "An interview is going on in another terminal, and there is one at a time: finish it there, or leave it with Ctrl-C",
    },
    "mock_no_cards": {
        "zh": "还没有评分，一场都没面完。可以面的：quizkit mock --list",
        "en": "There is no scorecard yet: no interview was finished. For a list: quizkit mock --list",
    },
    "mock_no_card": {
        "zh": "没有 {name} 的评分。面过的各场：quizkit mock --history",
        "en": "There is no scorecard of {name}. The interviews so far: quizkit mock --history",
    },
    "mock_card_unread": {
        "zh": "{name} 这一场的评分读不出来，原样看：quizkit mock --history --json",
        "en": "The scorecard of {name} cannot be read. As it lies there: quizkit mock --history --json",
    },
    "mock_which": {
        "zh": "--interviewer 要写剧本的名字。全部列表：quizkit mock --list",
        "en": "--interviewer takes a script's name. For a list: quizkit mock --list",
    },
    "mock_none_open": {
        "zh": "没有没面完的面试。开始一场：quizkit mock --list",
        "en": "No interview was left open. To start one: quizkit mock --list",
    },
    "calc_input": {
        "zh": "calc {sheet} 没有 {name} 这个输入，你要的可能是：{hint}",
        "en": "calc {sheet} has no input {name}; perhaps you mean: {hint}",
    },
    "calc_missing": {
        "zh": "calc {sheet} 还缺 {name}。全部选项：quizkit calc {sheet} --help",
        "en": "calc {sheet} needs {name}. All options: quizkit calc {sheet} --help",
    },
    "calc_value": {
        "zh": "{name} 不能是 {value}；可以是：{wanted}",
        "en": "{name} cannot be {value}; it can be: {wanted}",
    },
    "calc_unknown": {
        "zh": "没有名为 {name} 的计算器。可以试试：{hint}。全部列表：quizkit calc",
        "en": "There is no calculator {name}. Try: {hint}. For a list: quizkit calc",
    },
    "calc_option": {
        "zh": "calc {sheet} 没有选项 {name}。可以试试：{hint}。全部选项：quizkit calc {sheet} --help",
        "en": "calc {sheet} has no option {name}. Try: {hint}. All options: quizkit calc {sheet} --help",
    },
    "model_unknown": {
        "zh": "不认识模型 {name}。可以试试：{hint}；也可以给一个 Hugging Face config.json 的路径",
        "en": "There is no model {name} here. Try: {hint}; or give the path of a Hugging Face config.json",
    },
    "model_file": {
        "zh": "读不了模型文件 {file}：{reason}。要的是 Hugging Face 的 config.json",
        "en": "Cannot read the model file {file}: {reason}. It takes a Hugging Face config.json",
    },
    "model_type": {
        "zh": "{file}：model_type 是 {given}，这里读得懂的有：{known}",
        "en": "{file}: its model_type is {given}; read here are: {known}",
    },
    "model_key": {
        "zh": "{file}：{name} 是 {given}，少了它或它不对，就数不出参数",
        "en": "{file}: {name} is {given}; without a proper one the parameters cannot be counted",
    },
    "model_special": {
        "zh": "{file}：{name} 是 {given}，这样的模型参数数法不同，这里没有",
        "en": "{file}: {name} is {given}; a model with that has other parameters than those counted here",
    },
    "chip_unknown": {
        "zh": "不认识加速卡 {name}。可以试试：{hint}",
        "en": "There is no accelerator {name} here. Try: {hint}",
    },
    "calc_days_speed": {
        "zh": "每张卡多快？给 --achieved，或者 --mfu 和 --peak（也可用 --gpu h100）；两种只给一种",
        "en": "How fast is a GPU? Give --achieved, or --mfu with --peak (or --gpu h100); one of the two",
    },
    "calc_days_mfu": {
        "zh": "--mfu {mfu} 超过 1；要写成 0.4 或 40%",
        "en": "--mfu {mfu} is above 1; write 0.4 or 40%",
    },
    "calc_experts_only": {
        "zh": "{model} 没有专家，calc {sheet} 算的是 MoE；稠密模型用 quizkit calc flops --model {model}",
        "en": "{model} has no experts, which calc {sheet} is about; of a dense model: quizkit calc flops --model {model}",
    },
    "calc_moe_topk": {
        "zh": "每个 token 选 {topk} 个专家，可一共只有 {experts} 个",
        "en": "A token cannot take {topk} of {experts} experts",
    },
    "calc_moe_limit": {
        "zh": "--node-limit {limit} 不行：专家分在 {nodes} 个节点上，限定的节点里还要够 {topk} 个专家",
        "en": "--node-limit {limit} does not go: experts lie on {nodes} nodes, and {topk} of them have to lie on so many",
    },
    "calc_dense_only": {
        "zh": "{model} 有专家或 MLA，calc {sheet} 只会算稠密模型；用 quizkit calc moe --model {model}",
        "en": "{model} has experts or MLA, and calc {sheet} counts dense models; use quizkit calc moe --model {model}",
    },
    "calc_not_named": {
        "zh": "calc {sheet} 没有哪个输入由 {name} 决定。全部选项：quizkit calc {sheet} --help",
        "en": "calc {sheet} takes nothing from {name}. All options: quizkit calc {sheet} --help",
    },
    "calc_stray": {
        "zh": "{given} 前面没有选项名。先写计算器的名字，再写选项：quizkit calc {sheet} --选项 值",
        "en": "{given} follows no option. The calculator's name comes first, then its options: quizkit calc {sheet} --option value",
    },
    "calc_quantity": {
        "zh": "{name} 看不懂 {given}。可以这样写：{examples}",
        "en": "{name} cannot read {given}. It reads for example: {examples}",
    },
    "calc_choice": {
        "zh": "{name} 没有 {given} 这个选择。可以试试：{hint}",
        "en": "{name} has no choice {given}. Try: {hint}",
    },
    "calc_own": {
        "zh": "{command} 自己没有选项 {name}，最接近的是 {hint}；计算器的选项要写在它的名字后面：{command} memory {name} …",
        "en": "{command} itself has no option {name}, the nearest is {hint}; a calculator's own follow its name: {command} memory {name} ...",
    },
    "calc_own_far": {
        "zh": "{name} 要写在计算器的名字后面：{command} memory {name} …。全部列表：{command}",
        "en": "{name} belongs after the name of a calculator: {command} memory {name} ... For a list: {command}",
    },
    "calc_check_alone": {
        "zh": "--check 一次核对全部，后面不带别的（{given}）",
        "en": "--check compares everything at once and takes nothing more ({given})",
    },
    "calc_one_chunk": {
        "zh": "{schedule} 每张卡只有一段，不能是 --virtual {virtual}；要多段请用 interleaved、zb-v、v-half、v-min 或 dualpipe-v",
        "en": "{schedule} has one chunk on each device, not --virtual {virtual}; for more take interleaved, zb-v, v-half, v-min or dualpipe-v",
    },
    "calc_two_chunks": {
        "zh": "{schedule} 每张卡正好两段，不能是 --virtual {virtual}；去掉 --virtual 即可",
        "en": "{schedule} has exactly two chunks on each device, not --virtual {virtual}; leave --virtual out",
    },
    "calc_interleaved": {
        "zh": "interleaved 要求 micro-batch 数能被 stage 数整除：每段连续跑 {stages} 个，{microbatches} 个除不尽。可以换 {microbatches} 附近 {stages} 的倍数，或用 1f1b",
        "en": "interleaved needs a multiple of the stages as micro-batches: a chunk runs {stages} in a row, and {microbatches} do not divide. Take a multiple of {stages}, or 1f1b",
    },
    "calc_dualpipe": {
        "zh": "dualpipe 要求 stage 数为偶数、micro-batch 数（两个方向合计）为偶数且不少于 2 × stage 数，不能是 {stages} 个 stage 配 {microbatches} 个 micro-batch",
        "en": "dualpipe needs an even number of stages and an even number of micro-batches (both directions together), at least 2 x stages; not {stages} stages with {microbatches} micro-batches",
    },
    "calc_dualpipe_v": {
        "zh": "dualpipe-v 至少要 2 × stage 数个 micro-batch，不能是 {stages} 个 stage 配 {microbatches} 个",
        "en": "dualpipe-v needs at least 2 x stages micro-batches, not {microbatches} with {stages} stages",
    },
    "calc_order_ranks": {
        "zh": "{file}：有 {given} 行（每个 rank 一行），而 --stages 是 {stages}",
        "en": "{file}: {given} lines (one a rank), but --stages is {stages}",
    },
    "calc_order_foreign": {
        "zh": "{where}：{op} 不归这个 rank 跑（编号超出范围，或属于别的 rank）",
        "en": "{where}: {op} is not this rank's to run (a number out of range, or another rank's)",
    },
    "calc_order_twice": {
        "zh": "{where}：{op} 跑了两次",
        "en": "{where}: {op} runs twice",
    },
    "calc_order_early": {
        "zh": "{where}：{op} 需要的 {needed} 在它之前没有跑",
        "en": "{where}: {op} needs {needed}, which does not run before it",
    },
    "calc_order_missing": {
        "zh": "{where}：缺 {op}",
        "en": "{where}: {op} is missing",
    },
    "calc_order_pair": {
        "zh": "{where}：+ 只能连接一个 F 和紧跟其后的 B（看到 {op}）",
        "en": "{where}: + joins an F to the B right after it (found {op})",
    },
    "calc_deadlock": {
        "zh": "死锁：下面这些操作互相等待（左边等右边先跑完）\n  {cycle}",
        "en": "Deadlock: these operations wait for each other (the left for the right)\n  {cycle}",
    },
    "calc_memory_nothing": {
        "zh": "calc memory 要么给 --params，要么给 --fit（求放得下的最大模型）",
        "en": "calc memory needs --params, or --fit to ask for the largest model that fits",
    },
    "calc_memory_shard": {
        "zh": "{ranks} 个 rank 分不成 {shard} 个一组：--shard 要能整除 dp × cp",
        "en": "{ranks} ranks make no groups of {shard}: --shard has to divide dp x cp",
    },
    "calc_memory_experts": {
        "zh": "--ep 切的是专家：再给 --expert-params（全部路由专家的参数），或 --model",
        "en": "--ep cuts experts: give --expert-params (of all routed experts) beside it, or --model",
    },
    "calc_memory_more_experts": {
        "zh": "--expert-params 是 --params 里属于路由专家的那部分，不能比它大",
        "en": "--expert-params is the part of --params that routed experts have, and cannot be more",
    },
    "calc_memory_expert_shard": {
        "zh": "有专家时这里不算 hybrid shard；去掉 --shard",
        "en": "Hybrid sharding is not counted with experts here; leave --shard out",
    },
    "calc_ep": {
        "zh": "{ranks} 个 rank（tp × cp × dp）不能按 ep = {ep} 分组",
        "en": "{ranks} ranks (tp x cp x dp) do not make groups of ep = {ep}",
    },
    "calc_memory_unit": {
        "zh": "只有权重切开才有单元要聚齐：加上 --zero 3，或去掉 --unit",
        "en": "a unit is gathered where weights are cut: add --zero 3, or leave --unit out",
    },
    "calc_memory_link": {
        "zh": "没有 offload 就没有东西要搬：加上 --offload，或去掉 --link",
        "en": "nothing moves without offloading: add --offload, or leave --link out",
    },
    "calc_memory_master": {
        "zh": "fp32 的权重自己就是主权重，再存一份是重复的：加上 --no-master",
        "en": "fp32 weights are their own master copy; a second one counts twice: add --no-master",
    },
    "calc_activations_divides": {
        "zh": "{name} = {value} 不能均分成 {parts} 份",
        "en": "{name} = {value} cannot be cut into {parts} equal parts",
    },
    "calc_activations_interleaved": {
        "zh": "interleaved 需要两个以上 stage，且 micro-batch 数（{microbatches}）是 stage 数（{pp}）的倍数",
        "en": "interleaving needs two stages or more, and micro-batches ({microbatches}) in multiples of the stages ({pp})",
    },
    "calc_kv_kind": {
        "zh": "缓存要么由头给出（--kv-heads 和 --head-dim），要么由隐向量给出（--latent-dim），不能都给或都不给",
        "en": "A cache is of heads (--kv-heads and --head-dim) or latent (--latent-dim): give one of the two",
    },
    "calc_kv_groups": {
        "zh": "{heads} 个注意力头不能均分给 {kv_heads} 个 KV 头",
        "en": "{heads} attention heads cannot share {kv_heads} KV heads evenly",
    },
    "calc_heads_missing": {
        "zh": "给了 --kv-heads 或 --head-dim，就还要给 --heads",
        "en": "--kv-heads and --head-dim need --heads beside them",
    },
    "calc_kv_heads": {
        "zh": "{heads} 个头不能均分给 {kv_heads} 个 KV 头",
        "en": "{heads} heads cannot be shared out evenly among {kv_heads} K/V heads",
    },
    "calc_heads": {
        "zh": "隐藏维度 {hidden} 不能均分给 {heads} 个头；头的维度另有规定就给 --head-dim",
        "en": "A hidden size of {hidden} cannot be shared out among {heads} heads; give --head-dim if heads have a size of their own",
    },
    "calc_model_size": {
        "zh": "模型有多大？给 --params，或者把这些尺寸补齐：{missing}",
        "en": "How large is the model? Give --params, or the sizes that are missing: {missing}",
    },
    "calc_all_to_all": {
        "zh": "all-to-all 的每一块都只给一个 rank，没有可合并的东西，{algorithm} 不适用；用 --algorithm ring（逐个直接交换）",
        "en": "In an all-to-all every chunk is for one rank and nothing can be merged on the way, so there is no {algorithm} for it; use --algorithm ring (a direct exchange with each rank in turn)",
    },
    "calc_tree": {
        "zh": "这里的树是先归约再广播，只算 all-reduce，没有 {operation}；用 ring 或 halving-doubling",
        "en": "The tree here reduces and then broadcasts: it is an all-reduce and has no {operation}; use ring or halving-doubling",
    },
    "calc_power_of_two": {
        "zh": "halving-doubling 每步与相隔 2 的幂的 rank 交换，{ranks} 不是 2 的幂；用 {below} 或 {above}",
        "en": "halving-doubling pairs ranks at distances that are powers of two, which {ranks} is not; use {below} or {above}",
    },
    "calc_node": {
        "zh": "{ranks} 个 rank 不能按每节点 {node} 个分完；改 --ranks 或 --node",
        "en": "{ranks} ranks do not fill nodes of {node}; change --ranks or --node",
    },
    "calc_traffic_sizes": {
        "zh": "{axis} 传的是激活，还要给 {missing}",
        "en": "{axis} moves activations: it needs {missing}",
    },
    "calc_traffic_ep_tp": {
        "zh": "calc traffic 里 ep 与 tp 不能都大于 1：有 ep 的层，tp 只切注意力，这里没有分开算；用 quizkit calc plan",
        "en": "calc traffic takes ep or tp above 1, not both: in layers with ep, tp cuts attention alone, which is not told apart here; see quizkit calc plan",
    },
    "calc_share": {
        "zh": "{name} = {value} 不能均分成 {parts} 份；用 {low} 或 {high}",
        "en": "{name} = {value} cannot be cut into {parts} equal parts; use {low} or {high}",
    },
    "calc_stages": {
        "zh": "{pp} 个 stage 的流水线，却只有 {layers} 层",
        "en": "{pp} stages, but only {layers} layers",
    },
    "calc_order_file": {
        "zh": "读不了顺序文件 {file}：{reason}",
        "en": "Cannot read the order file {file}: {reason}",
    },
    "calc_order_word": {
        "zh": "{where}：看不懂 {op}。写法：F0 B0 W0，第 1 段（chunk）写 F0.1，重叠的一对写 F3+B1，# 之后是注释",
        "en": "{where}: cannot read {op}. Write F0 B0 W0, F0.1 for chunk 1, F3+B1 for a pair that overlaps, # before a comment",
    },
    "calc_order_chunk": {
        "zh": "{where}：{op} 的 chunk 超出范围，这里每张卡有 {chunks} 段（从 0 数起）；段数由 --schedule 和 --virtual 决定",
        "en": "{where}: {op} names a chunk beyond the {chunks} of a device (counted from 0); --schedule and --virtual say how many",
    },
    "calc_operations": {
        "zh": "要模拟 {operations} 个操作，上限是 {most} 个。请减少 --stages、--microbatches 或 --virtual",
        "en": "That is {operations} operations to play; the most is {most}. Take fewer --stages, --microbatches or --virtual",
    },
    "calc_stage_times": {
        "zh": "--stage-times 要给 {stages} 个有限的正数，每个 stage 一个，这里给了 {given}",
        "en": "--stage-times takes {stages} finite numbers above 0, one a stage; given: {given}",
    },
    "calc_no_work": {
        "zh": "--forward、--backward-input、--backward-weight 不能全是 0",
        "en": "--forward, --backward-input and --backward-weight cannot all be 0",
    },
    "calc_plan_missing": {
        "zh": "calc plan 还缺 {name}。例如：{line}",
        "en": "calc plan needs {name}. For example: {line}",
    },
    "calc_plan_gpus": {
        "zh": "--gpus 读不懂 {given}。例如 64xH100：几张，什么卡",
        "en": "--gpus cannot read {given}. It reads for example 64xH100: how many, of what",
    },
    "calc_plan_degree": {
        "zh": "--why 里没有 {given} 这一项。可以试试：{hint}",
        "en": "--why has no degree {given}. Try: {hint}",
    },
    "calc_plan_value": {
        "zh": "--why 的 {name} 读不懂 {given}。例如 tp=8,pp=4",
        "en": "--why cannot read {given} for {name}. It reads for example tp=8,pp=4",
    },
    "calc_plan_recompute": {
        "zh": "--why 的 recompute 没有 {given}。可以试试：{hint}",
        "en": "--why has no recompute {given}. Try: {hint}",
    },
    "calc_quiz": {
        "zh": "calc {sheet} --quiz 的题目里没有 {name}；可以定下来的有：{known}",
        "en": "The question of calc {sheet} --quiz does not go into {name}; what it takes: {known}",
    },
    "calc_endless": {
        "zh": "时间太大，加起来超出了浮点数的范围",
        "en": "These times are so large that their sum is beyond a floating-point number",
    },
    "calc_too_large": {
        "zh": "calc {sheet}：这些数太大或太小，算不出来",
        "en": "calc {sheet}: these numbers are too large, or too small, to work with",
    },
}
