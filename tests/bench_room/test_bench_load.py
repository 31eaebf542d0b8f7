"""A demo is read, and a bug planted in it, before anything runs."""

from _bench import load

import pytest

DEMO = '''"""The law.

The trick
    None.
"""

import os.path

TOPIC = "comm"


def main(chunks: int = 4, lr: float = 1e-3, layout: Literal["flat", "tree"] = "flat", on: bool = True):
    from torch.distributed import pipelining
    total = chunks + 1
    return total


BREAKS = {
    "off-by-one": Break(
        old="total = chunks + 1",
        new="total = chunks",
        expect="total",
        ranks=3,
        source="an interview",
    ),
    "gone": Break(old="no such text", new="", expect="hangs"),
    "twice": Break(old="chunks", new="", expect="hangs"),
}
'''  # noqa: E501


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "tree_reduce.py"
    path.write_text(DEMO)
    return load.Script(path)


def test_a_demo_is_read_without_being_run(script: load.Script):
    assert (script.name, script.law, script.own_launch) == ("tree-reduce", "The law.", False)
    assert [each.kind for each in script.parameters.values()] == ["int", "float", "str", "bool"]
    assert script.parameters["layout"].choices == ("flat", "tree")
    assert script.breaks["off-by-one"].ranks == 3
    assert script.imports == {"os.path": (), "torch.distributed": ("pipelining",)}


def test_a_backward_that_is_given_a_gradient_imports_in_torch(tmp_path):
    wanted, calls = {}, {"lone": "loss.backward()", "given": "y.backward(gradient)"}
    calls |= {
        "asked": "torch.autograd.grad(loss, y)",
        "both": "torch.autograd.grad(y, y, gradient)",
    }
    for name, call in calls.items():
        path = tmp_path / f"{name}.py"
        path.write_text(
            f"{DEMO.partition('BREAKS')[0]}\n\ndef step(y, loss, gradient):\n    {call}\n"
        )
        wanted[name] = set(load.Script(path).imports)
    assert wanted["given"] - wanted["lone"] == {"torch.fx.experimental.symbolic_shapes"}
    assert wanted["asked"] == wanted["lone"]
    assert wanted["both"] == wanted["given"]


def test_a_bug_is_planted_before_the_breaks_and_nowhere_else(script: load.Script):
    story, _, breaks = script.planted("off-by-one").partition("BREAKS = ")
    assert "    total = chunks\n" in story
    assert 'old="total = chunks + 1"' in breaks
    assert script.planted(None) == DEMO


def test_a_break_must_hit_exactly_once(script: load.Script):
    with pytest.raises(load.DemoError, match="'gone' stands 0 times"):
        script.planted("gone")
    with pytest.raises(load.DemoError, match="'twice' stands 2 times"):
        script.planted("twice")
    with pytest.raises(load.DemoError, match=r"no break 'odd' .*off-by-one"):
        script.planted("odd")


def test_arguments_get_defaults_and_must_be_of_their_kind(script: load.Script):
    assert script.arguments({"lr": 2, "chunks": 8.0}) == {
        "chunks": 8,
        "lr": 2.0,
        "layout": "flat",
        "on": True,
    }
    assert type(script.arguments({"lr": 2})["lr"]) is float
    for wrong in ({"chunks": True}, {"chunks": 1.5}, {"layout": "ring"}, {"on": 1}, {"size": 1}):
        with pytest.raises(load.DemoError):
            script.arguments(wrong)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = (", "was never closed"),
        ("def other(): ...", "has no main"),
        ("def main(a): ...", "needs a default"),
        ("def main(a=1): ...", "annotate it"),
        ("def main(a: int = 1 << 20): ...", "literal"),
        ("def main(a: int = 1.5): ...", "must be int"),
        ("def main(): ...\nBREAKS = {'a': Break('x')}", "a break is written"),
        ("def main(): ...\nBREAKS = dict()", "written out"),
        ("def main(): ...\nLAUNCH = 'mine'", "LAUNCH"),
    ],
)
def test_a_demo_that_is_not_right_says_where(tmp_path, text: str, message: str):
    path = tmp_path / "odd.py"
    path.write_text(text)

    def read() -> object:
        script = load.Script(path)
        return script.parameters, script.breaks, script.own_launch

    with pytest.raises(load.DemoError, match=message):
        read()


def test_a_planted_break_that_is_no_python_is_the_demos_fault(tmp_path):
    with pytest.raises(load.DemoError, match=r"odd\.py:2"):
        load.compiled(tmp_path / "odd.py", "a = 1\nb = (")
