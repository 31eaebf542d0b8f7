"""Find what words say plainly, and no run or claim does: a size, every rank, a quotation."""

import ast
import re
from collections.abc import Iterator

from quizkit.bank.formula import Formula
from quizkit.bank.functions import is_number
from quizkit.bank.model import Question
from quizkit.bank.spelt import SPELT, numbers_in
from quizkit.lab.catalogue import Demo, Parameter
from quizkit.proof.judge import statements
from quizkit.proof.reading.claimed import texts_of
from quizkit.proof.reading.phrase import main_clause, stems
from quizkit.proof.setting import runs_of
from quizkit.proof.worlds import names_of

Rule = tuple[str, str]


def plainly(question: Question, demo: Demo) -> Iterator[Rule]:
    """Yield (place, message) of what is said plainly and done otherwise."""
    yield from _sizes(question, demo)
    yield from _every(question, demo)
    yield from _quoted(question, demo)


NUMBER = rf"(?<![-\w.{{])(\d+|{'|'.join(sorted(SPELT, key=len, reverse=True))})"
_MANY = r"\b(?:accumulat\w+|several|many|multiple)\b"


def _sizes(question: Question, demo: Demo) -> Iterator[Rule]:
    """A number before an option's name in what is asked, or several, where the run has one."""
    run = runs_of(question, demo)
    words = asked(question)
    for name, parameter in demo.parameters.items():
        counts = parameter.kind == "int" and name.endswith("s")
        if not counts or {dict(each.args).get(name) for each in run} != {1}:
            continue
        numbers = told_of(words, name) - {0, 1}
        if numbers:
            shown = " and ".join(map(str, sorted(numbers)))
            yield "proof.args", f"the words say {shown} {name}, and the run has 1"
        elif name == "microbatches" and re.search(r"\baccumulat", words):
            yield "proof.args", "the words tell of accumulation, and the run has 1 micro-batch"
        elif re.search(rf"{_MANY} (?:\w+ )?{_several(name)}", words):
            yield "proof.args", f"the words tell of several {name}, and the run has 1"


def asked(question: Question) -> str:
    """Return prompt and conditions in small English letters."""
    return " ".join(" ".join(text.en for text in question.asks).lower().split())


def told_of(words: str, name: str) -> set[int]:
    """Return the whole numbers that a text says before the name of an option."""
    told = re.findall(rf"{NUMBER}[ -](?:\w+ )?{_several(name)}", words)
    return {SPELT[each] if each in SPELT else int(each) for each in told}


def called(name: str) -> str:
    """Return a pattern of how what an option counts begins in a text: `micro-batch`."""
    word = re.escape(name.removesuffix("es").removesuffix("s")).replace("_", "[ _-]")
    return re.sub(r"^micro", "micro-?", word)


def _several(name: str) -> str:
    """What an option is called in a text: `micro-batches` of `microbatches`."""
    return rf"{called(name)}(?:e?s)\b"


_EVERY = re.compile(
    r"\b(?:every|each|all)(?: (?:of )?(?:the )?(?:\d+ )?(?:\w+ )?)?"
    r"(?:ranks?|gpus?|stages?|nodes?|process(?:es)?)\b|\bon (?:each|all|every)\b|\beverywhere\b"
)
_EVERY_ZH = re.compile(
    r"(?:每个|每张|每一个|所有|全部|各个?) ?(?:\w+ )?(?:rank|stage|卡|GPU|节点|进程)"
)
_UNITS = {"difference", "yes/no"}  # of which the largest tells whether there is any


def _every(question: Question, demo: Demo) -> Iterator[Rule]:
    """Every rank is said, and the least or the most of all was held to a number."""
    texts = texts_of(question)
    for place, role, claim, _ in statements(question):
        text = texts.get(place)
        if role not in ("right", "point") or text is None:
            continue
        if not (_EVERY.search(main_clause(text.en)) or _EVERY_ZH.search(text.zh)):
            continue
        tree = ast.unparse(claim.tree)
        for node in ast.walk(claim.tree):
            for end, name, weak in _ends(node):
                if name not in demo.watch or demo.watch[name].unit in _UNITS or not weak:
                    continue
                other = "max" if end == "min" else "min"
                more = (f"{each}({name}" for each in (other, "all_equal", "sum"))
                if not any(each in tree for each in (*more, "all_equal(")):
                    yield place, f"every rank is said, and `{end}({name})` is of one"


def _ends(node: ast.AST) -> Iterator[tuple[str, str, bool]]:
    """Yield min or max, its metric, and if what is said of it says nothing of the others."""
    match node:
        case ast.Compare(left, [op], [right]):
            for side, other in ((left, right), (right, left)):
                match side:
                    case ast.Call(ast.Name("min" | "max" as end), [ast.Name(name)]):
                        above = ast.Gt | ast.GtE if side is left else ast.Lt | ast.LtE
                        below = ast.Lt | ast.LtE if side is left else ast.Gt | ast.GtE
                        bounded = isinstance(op, above if end == "min" else below)
                        nothing = end == "max" and ast.unparse(other) == "0"
                        yield end, name, not (bounded or nothing or name in names_of(other))
                    case _:
                        pass
        case ast.Call(ast.Name("isclose"), args):
            for side in args:
                match side:
                    case ast.Call(ast.Name("min" | "max" as end), [ast.Name(name)]):
                        yield end, name, True
                    case _:
                        pass
        case _:
            pass


def _quoted(question: Question, demo: Demo) -> Iterator[Rule]:
    """A quotation that has nothing to do with the price that it is said to tell."""
    proof = question.proof
    assert proof is not None
    for name in proof.said:
        parameter = demo.parameters.get(name)
        if parameter is not None and priced(parameter) and not tells(question, parameter):
            given = proof.args.get(name, parameter.default)
            yield f"proof.said.{name}", f"`{proof.said[name]}` does not tell `{name}: {given}`"


def priced(parameter: Parameter) -> bool:
    """Tell whether an option is a price: a time or cost of something."""
    return parameter.kind == "float" or re.search(r"virtual time|cost", parameter.text) is not None


def tells(question: Question, parameter: Parameter) -> bool:
    """Tell whether a quotation has a word, or the number, of the option that it is for.

    What is not given otherwise than by default needs none, and words for nothing are its own. A
    number that is another one tells nothing.
    """
    proof = question.proof
    assert proof is not None
    words = proof.said[parameter.name].lower()
    given = proof.args.get(parameter.name, parameter.default)
    if isinstance(given, Formula | bool) or given in (parameter.default, 0):
        return True
    numbers = {*numbers_in(words)}
    if is_number(given) and numbers:
        # A price may be told in another unit, and a list may tell what it was made by.
        return priced(parameter) or given in numbers or len(numbers) > 2
    said = f"{parameter.name} {parameter.text} {given}".replace("_", " ")
    return bool(stems(words) & stems(said))
