"""The Chinese of what `--help` says of each option and argument.

The English stands where the option is declared, and is the key here: whoever changes it is told by
a test that its Chinese has to follow.
"""

CHINESE: dict[str, str] = {
    # what several commands take
    "Another folder of questions beside the shipped ones.": "自己的题库目录，和自带题库一起用",
    "One JSON object on stdout.": "往标准输出打印一个 JSON 对象",
    "JSON lines, both ways.": "输入输出都用 JSON，一行一条",
    "Line by line, for screen readers and logs.": "逐行显示，适合读屏软件和日志",
    "No colours, no columns.": "不用颜色，不分栏",
    "No colours, no boxes.": "不用颜色，不画框",
    "Language of the words; else the config, else the locale.": "界面语言；不写就看配置，再看系统 locale",
    "Only these topics; quizkit due lists them.": "只要这些专题；quizkit due 列出全部专题",
    "Show this message and exit.": "显示这份说明",
    # quizkit
    "Print the version.": "打印版本号",
    "Install completion for the current shell.": "给当前 shell 装上 Tab 补全",
    "Show completion for the current shell, to copy it or customize the installation.": "打印补全脚本，可以自己安装或修改",
    # study, learn, due
    "Only these levels, from 1 to 5: 2-3, or 4.": "只要这些级别，1 到 5：写 2-3，或 4",
    "Questions, as in pp/bubble-share: just these, in this order, due or not.": "题目编号，例如 pp/bubble-share：就做这几题，按这个顺序，到没到期都做",
    "Only these kinds: choice, numeric, order, cloze, trace, bug or essay.": "只要这些题型：choice 选择、numeric 计算、order 排序、cloze 填空、trace 读代码、bug 找错、essay 简答",
    "How many questions; wrong ones come back in addition.": "做几道题；做错的会再来，不算在内",
    "The same seed, the same questions.": "种子相同，题目就相同",
    "The language to write in, if not the one you read.": "用哪种语言作答；不写就和题目一样",
    "Leave with 1 if something is due, with 0 if not.": "有题到期时退出码为 1，没有时为 0",
    "A topic, as in pp.": "一个专题，例如 pp",
    "From the beginning, also what was answered.": "从头来，做过的题也再做",
    "After each answer, run what decides it.": "每答完一题就实际跑一遍来核对",
    "The same seed, the same numbers.": "种子相同，题里的数就相同",
    # plan
    "The day of it, as in 2027-03-01.": "面试日期，例如 2027-03-01",
    "Minutes of answering a day.": "每天答题多少分钟",
    "What to weigh by: the level of the job, or a mock's script.": "按什么加权：职级，或一个面试脚本",
    "Keep it: from then on `quizkit study` follows the plan.": "保存；之后 quizkit study 照计划出题",
    # mock
    "An interview's script, as --list names it.": "面试脚本的名字，见 --list",
    "Another total in minutes; targets scale with it.": "改总时长（分钟），每题的目标时间按比例变",
    "List the scripts.": "列出所有面试脚本",
    "Go on with the one left unfinished.": "接着没面完的那场",
    "List the interviews so far.": "列出面过的各场",
    # demo
    "A demo; without one, list them all.": "demo 的名字；不写就列出全部",
    "How many ranks; 4 unless a break says otherwise.": "几个 rank；默认 4，埋 bug 时按它的要求",
    "Where to compute; auto takes GPUs if there is one for each rank.": "在哪里算；auto：每个 rank 都分得到 GPU 才用 GPU",
    "Plant one of the demo's bugs.": "埋一个 demo 自带的 bug",
    "A run is stopped after so many: 60, or 3 if it is to hang.": "跑多久就停：默认 60 秒，埋了会卡死的 bug 时 3 秒",
    "Print the source, run nothing.": "只打印源码，不运行",
    "Write the timeline as an SVG picture.": "把时间线画成 SVG 图",
    "Write the timeline for Perfetto.": "把时间线写成 Perfetto 能打开的文件",
    "Run every demo.": "把全部 demo 跑一遍",
    "With --all: plant every bug of every demo too.": "和 --all 一起用：每个 demo 的每个 bug 也都埋一遍",
    "A folder with demos of your own.": "自己写的 demo 所在目录",
    "This; after a demo's name, that demo's own.": "显示这份说明；写在 demo 名字后面就看那个 demo 的",
    # prove
    "Questions, as in pp/bubble-share.": "题目编号，例如 pp/bubble-share",
    "All of a topic.": "整个专题",
    "The whole bank.": "整个题库",
    "Also change each key, and list what survives.": "再逐个改动答案，列出改了也没被发现的",
    "The longest that one run may take.": "一次运行最多多少秒",
    # calc
    "A calculator; without one, list them all.": "计算器的名字；不写就列出全部",
    "Each number with its formula and its source.": "每个数都给出公式和出处",
    "Ask it as a question; what is not given is drawn.": "换成一道题来考你，没给的数随机抽",
    "Compare formulas, simulator and real runs.": "公式、模拟器、实际运行三方对照",
    "pipeline: write the timeline as a picture.": "只用于 pipeline：把时间线画成图",
    "This; after a calculator's name, its options.": "显示这份说明；写在计算器名字后面就看它的选项",
    # show, list, search, glossary
    "A question, as in pp/bubble-share.": "题目编号，例如 pp/bubble-share",
    "By the common 70: which question answers which.": "按常见 70 问列：哪道题回答哪一问",
    "Words in either language.": "中文或英文的词",
    "Lines at most; --json prints all.": "最多列几行；--json 全部列出",
    "Only terms that hold this.": "只列含有这些字的术语",
    # stats, export
    "Write it as a page to keep or to share.": "写成网页，留着看或给别人看",
    "One language or both; else the config or the locale.": "一种语言，或两种都要；不写就看配置，再看系统 locale",
    "The package to write.": "要写的 Anki 包",
    "A file a topic, or one file; else stdout.": "目录（每个专题一个文件）或一个文件；不写就打印到标准输出",
    "A page to print; else text on stdout.": "可打印的网页；不写就打印文字到标准输出",
    "Text, without colour or HTML.": "纯文字，不用颜色和 HTML",
    # config, data
    "A setting, as in lang.": "设置的名字，例如 lang",
    "What it shall be from now on.": "新的值",
    "Back to the default.": "恢复默认值",
    "Where each value comes from.": "显示每个值从哪儿来",
    "Where your files are.": "显示你的文件在哪里",
    "Everything you answered, as JSON on stdout.": "把全部作答记录以 JSON 打印到标准输出",
    "Take in another machine's diary, or what it exported; - is stdin.": "并入另一台机器的答题记录或它导出的文件；- 表示标准输入",
    "Remove every answer for good.": "删除全部作答记录，不能恢复",
    "Begin a topic anew: what you answered so far no longer counts.": "一个专题从头开始：之前的作答不再计入",
    "Take the last --reset back.": "撤销上一次 --reset",
    "Reset or erase without asking.": "不再确认，直接重来或删除",
    # bank
    "Topics; none means all.": "专题；不写就是全部",
    "A folder of questions instead of the shipped one.": "换一个题库目录，不用自带的",
    "Warnings fail too.": "有警告也算不通过",
    "topic/slug, as in pp/bubble.": "专题/短名，例如 pp/bubble",
    "choice, numeric, order, cloze, trace, bug or essay.": "题型：choice、numeric、order、cloze、trace、bug 或 essay",
    "A Markdown file for the authors, with nothing about you in it.": "写成给出题人的 Markdown 文件，不含你的个人信息",
}
