"""A metric taken for what lies next to it, and a quantity for another one."""

import pytest

from .conftest import Asked, Rules


def proof(demo: str, claim: str, ranks: int = 2) -> str:
    return f"proof:\n  demo: {demo}\n  ranks: {ranks}\n  claims:\n    - {claim}\n"


def numeric(asked: str, demo: str, claim: str, params: str = "n: [2, 3]") -> str:
    """The prompt of all these questions ends in a question mark; this one goes on behind it."""
    return (
        f"kind: numeric\nparams: {{{params}}}\nanswer: n\n"
        f"assume: [{{zh: 甲, en: x}}]\n" + proof(demo, claim)
    ).replace("assume: [{zh: 甲, en: x}]", f"assume: [{{zh: 甲, en: '{asked}'}}]")


def choice(en: str, demo: str, claim: str) -> str:
    return (
        f'kind: choice\noptions:\n  - {{text: {{zh: 甲, en: "{en}"}}, correct: true, '
        f'claim: "{claim}"}}\n'
        f"  - {{text: b, why: w, myth: m}}\n" + proof(demo, "1 == 1")
    )


@pytest.mark.parametrize(
    ("en", "demo", "claim", "message"),
    [
        ("The bytes received are equal", "model-states", "sent_bytes_1[0] == sent_bytes_0[0]",
         "about `received`"),
        ("The bytes sent are equal", "model-states", "sent_bytes_1[0] == sent_bytes_0[0]", ""),
        ("A step has as many trips", "moe", "row_trips_forward[0] == 2", "about a forward"),
        ("A forward has as many trips", "moe", "row_trips_forward[0] == 2", ""),
        ("A token takes bytes", "kv-cache", "bytes_mla[0] > 8", "nearer to `token_bytes_mla`"),
        ("A token takes bytes", "kv-cache", "token_bytes_mla[0] > 8", ""),
        ("The cache under GQA takes bytes", "kv-cache", "bytes_mha[0] > 8", "GQA, and"),
        ("The cache under MHA takes bytes", "kv-cache", "bytes_mha[0] > 8", ""),
        ("The communication takes as long as under TP", "sequence-parallel",
         "sent_forward_sp == sent_forward_tp", "nothing in"),
        ("No, it takes as long as under TP", "sequence-parallel",
         "sent_forward_sp == sent_forward_tp", "nothing in"),
        ("The communication has as many bytes as under TP", "sequence-parallel",
         "sent_forward_sp == sent_forward_tp", ""),
        ("Peak memory falls", "pipeline", "saved_bytes_1f1b[0] < saved_bytes_gpipe[0]",
         "holds more than"),
        ("Peak memory of activations falls", "pipeline",
         "saved_bytes_1f1b[0] < saved_bytes_gpipe[0]", ""),
        ("In int8 gradients are zeros", "loss-scale", "min(zeros_plain) > 10", "about int8"),
        ("In fp16 gradients are zeros", "loss-scale", "min(zeros_plain) > 10", ""),
        ("The model converges to fewer messages", "all-reduce", "sent_messages_ring[0] == 2",
         "about no training"),
        ("The model has fewer messages", "all-reduce", "sent_messages_ring[0] == 2", ""),
    ],
)  # fmt: skip
def test_an_option_about_something_next_to_its_claim(
    said: Rules, en: str, demo: str, claim: str, message: str
):
    found = said(choice(en, demo, claim))
    assert message in found
    assert message or "the words" not in found
    assert message or "nothing in" not in found
    assert message or "holds more" not in found
    assert message or "no training" not in found


@pytest.mark.parametrize(
    ("told", "demo", "claim", "message"),
    [
        ("a host and a GPU", "offload", "up_states[0] == answer", "`down_states` is the rest"),
        ("brought up from the host", "offload", "up_states[0] == answer", ""),
    ],
)
def test_the_other_way_is_told_apart(said: Rules, told: str, demo: str, claim: str, message: str):
    found = said(numeric(told, demo, claim))
    assert message in found
    assert message or "is the rest" not in found


@pytest.mark.parametrize(
    ("prompt", "demo", "claim", "message"),
    [
        ("How many bytes does the whole job send?", "model-states", "sent_bytes_0[0] == answer",
         "about one rank"),
        ("How many bytes does a rank send?", "model-states", "sent_bytes_0[0] == answer", ""),
        ("How many bytes does the whole job send?", "model-states", "sum(sent_bytes_0) == answer",
         ""),
        ("A model of {n} layers: how many bytes of cache does a token take?", "kv-cache",
         "token_bytes_gqa[0] == answer", "how many layers there are"),
        ("A model of {n} layers: how many bytes of cache does a token take in a layer?",
         "kv-cache", "token_bytes_gqa[0] == answer", ""),
        ("How many rows does the last rank have?", "vocab-parallel", "sum(table_rows) == answer",
         "one end is asked for"),
        ("How many rows does the last rank have?", "vocab-parallel",
         "table_rows[ranks - 1] == answer", ""),
        ("How many bytes cross the network?", "model-states", "sent_bytes_0[0] == answer",
         "about one rank"),
        ("How many bytes of cache does a token take?", "kv-cache", "token_bytes_gqa[0] == answer",
         "the words tell of no layer"),
        ("How many bytes of state are there at most in a step?", "model-states",
         "state_bytes_3[0] == answer", "about `at most`"),
        ("How many bytes of state are there after a step?", "model-states",
         "state_bytes_3[0] == answer", ""),
        ("How many times as long does a step take?", "model-states",
         "sent_bytes_3[0] / sent_bytes_0[0] == answer", "nothing in"),
        ("How many times as long does a step take, at 50 GB/s?", "model-states",
         "sent_bytes_3[0] / sent_bytes_0[0] == answer", ""),
    ],
)  # fmt: skip
def test_a_number_of_something_next_to_what_is_asked(
    asked: Asked, prompt: str, demo: str, claim: str, message: str
):
    found = asked(prompt, numeric("x", demo, claim))
    assert message in found
    for each in (
        "about one rank",
        "how many layers",
        "no layer",
        "at most",
        "one end",
        "nothing in",
    ):
        assert message or each not in found


ORDER = (
    "kind: order\nsteps: [{id: clip, text: clipping by the norm}, {id: update, text: the update}]\n"
)


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        ("(turn_clip < turn_update) == (clip < update)", ""),
        ("(stage_2_error[0] < 1e-12) == (clip < update)", "measures no two steps"),
        ("(padding < row_bytes) == (clip < update)", "no word of `clip` is about `padding`"),
        ("(clip < update) == (padding > row_bytes)", "no word of `clip` is about `row_bytes`"),
    ],
)
def test_a_step_goes_by_its_own_measurement(said: Rules, claim: str, message: str):
    found = said(ORDER + proof("zero-steps", claim))
    assert message in found
    assert message or "no word" not in found


def test_a_gap_is_asked_about_in_its_own_clause(asked: Asked):
    text = (
        "kind: cloze\ntext: Messages are [[m]]; tokens a second are [[t]].\n"
        "gaps:\n  m: {answer: '2', value: 2}\n  t: {answer: '3', value: 3}\n"
        "proof:\n  demo: paged-cache\n  ranks: 1\n  claims:\n"
        "    - empty_most == m\n    - utilisation_paged / utilisation_reserved == t\n"
    )
    found = asked("What?", text)
    assert "about `a second`" in found
    assert "`empty_most == m` takes time" not in found


def test_what_is_asked_of_a_step_is_asked_of_all_options(asked: Asked):
    told = choice("Twice, there and back", "moe", "row_trips_forward[0] == 2")
    assert "about a forward" in asked("How often do rows travel in a training step?", told)
    assert "about a forward" not in asked("How often do rows travel in a forward?", told)


def test_messages_in_a_gap_are_sent(asked: Asked):
    text = (
        "kind: cloze\ntext: A rank sends [[m]] of them.\ngaps:\n  m: {answer: '2', value: 2}\n"
        + proof("pipeline-lengths", "messages_padded[0] == m")
    )
    assert "the words are about" not in asked("What of messages?", text)
