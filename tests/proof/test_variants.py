"""A metric of another variant than the words name; numbers that no run was made for."""

import pytest

from .conftest import Asked


def choice(en: str, demo: str, claim: str, more: str = "") -> str:
    return (
        f'kind: choice\noptions:\n  - {{text: {{zh: 甲, en: "{en}"}}, correct: true, '
        f'claim: "{claim}"}}\n  - {{text: b, why: w, myth: m{more}}}\n'
        f"proof:\n  demo: {demo}\n  ranks: 2\n  claims: [1 == 1]\n"
    )


def numeric(demo: str, claims: str, run: str = "  ranks: 2\n", params: str = "n: [2, 3]") -> str:
    listed = "".join(f"    - {each}\n" for each in claims.split("; "))
    return (
        f"kind: numeric\nparams: {{{params}}}\nanswer: n\n"
        f"proof:\n  demo: {demo}\n{run}  claims:\n{listed}"
    )


AMP = choice("States are halved", "amp", "states_bytes_pure == states_bytes_fp32 / 2")


def test_a_variant_is_told_of(asked: Asked):
    message = "no word tells of `states_bytes_pure`, which is not `states_bytes`"
    assert message in asked("Of AMP in bf16, what of weights' bytes?", AMP)
    assert message not in asked("Of pure bf16, what of weights' bytes?", AMP)
    beside = AMP.replace("myth: m", "myth: m, claim: states_bytes == states_bytes_fp32")
    assert message not in asked("Of AMP in bf16, what of weights' bytes?", beside)


def test_a_method_is_not_another(asked: Asked):
    after = choice("Weights are equal", "local-sgd", "one_step_sgd < 1e-9")
    message = "`adam` is asked about, and `one_step_sgd` was measured"
    assert message in asked("AdamW, then an average: how far are weights apart?", after)
    assert message not in asked("SGD, then an average: how far are weights apart?", after)


def test_the_function_that_is_traced_is_measured(asked: Asked):
    trace = (
        "kind: trace\nfunction: first_fit\nanswer: [1, 2]\n"
        "proof:\n  demo: packing\n  ranks: 1\n  claims: [rows_chunked == answer]\n"
    )
    message = "`first_fit` is traced"
    assert message in asked("How many rows?", trace)
    assert message not in asked("How many rows?", trace.replace("rows_chunked", "rows_first_fit"))


def test_every_row_is_another_run(asked: Asked):
    rows = "  ranks: 2\n  at: [{n: 2}, {n: 3}, {n: 5}]\n"
    once = numeric("pipeline", "bubble_1f1b * n == answer", rows)
    assert "every row makes the same run" in asked("What of the bubble?", once)
    bound = once.replace("  at:", "  args: {microbatches: =n}\n  at:")
    assert "the same run" not in asked("What of the bubble?", bound)


@pytest.mark.parametrize(
    ("prompt", "never"),
    [
        ("How many micro-batches at least must a step have?", True),
        ("In a step of micro-batches: from how many on is nothing idle?", True),
        ("How many ranks at least are idle?", False),
        ("How many micro-batches are alive?", False),
    ],
)
def test_the_fewest_are_tried_with_fewer(asked: Asked, prompt: str, never: bool):
    rows = "  ranks: =n\n  args: {microbatches: 8}\n  at: [{n: 2}, {n: 3}, {n: 4}]\n"
    text = numeric("pipeline", "peak_live_1f1b[0] == answer", rows)
    message = "the fewest microbatches are asked, and every run has as many"
    assert (message in asked(prompt, text)) is never
    varied = text.replace("microbatches: 8", "microbatches: =n")
    assert message not in asked(prompt, varied)


def test_a_degree_that_is_told_is_the_one_that_is_run(asked: Asked):
    text = numeric("mesh", "size_grads[0] == answer")
    assert "the words say `2`, and `cp` is `1`" in asked("With CP 2, how many ranks?", text)
    set_so = text.replace("  ranks: 2\n", "  ranks: 4\n  args: {cp: 2}\n")
    assert "`cp` is" not in asked("With CP 2, how many ranks?", set_so)


@pytest.mark.parametrize(
    ("prompt", "demo", "claim", "message"),
    [
        ("What is the standard deviation of noise?", "accumulation", "variance_4 == answer",
         "about `standard deviation`"),
        ("What is the standard deviation of noise?", "accumulation", "sqrt(variance_4) == answer",
         ""),
        ("How much of weights is there at its peak?", "fsdp", "weights_idle_full[0] == answer",
         "about `at its peak`"),
        ("How much of weights is there at its peak?", "fsdp", "weights_peak_full[0] == answer",
         ""),
        ("How many GB of memory does each GPU need?", "model-states", "state_bytes_3[0] == answer",
         "holds more than"),
        ("How many GB of memory does each GPU need for its states?", "model-states",
         "state_bytes_3[0] == answer", ""),
        ("A 32-layer model: how much cache does a token take?", "kv-cache",
         "token_bytes_gqa[0] == answer", "how many layers there are"),
        ("A 32-layer model: how much cache does a token take?", "kv-cache",
         "32 * token_bytes_gqa[0] == answer", ""),
    ],
)  # fmt: skip
def test_what_is_asked_is_stronger_than_what_was_measured(
    asked: Asked, prompt: str, demo: str, claim: str, message: str
):
    said = asked(prompt, numeric(demo, claim))
    assert message in said
    for each in ("the words are about", "holds more than", "how many layers"):
        assert message or each not in said


def test_a_gap_about_one_pass_goes_by_that_pass(asked: Asked):
    text = (
        "kind: cloze\ntext: Forward runs [[fwd]], backward runs [[bwd]].\n"
        "gaps:\n  fwd: {answer: '2', value: 2}\n  bwd: {answer: '2', value: 2}\n"
        "proof:\n  demo: ulysses\n  ranks: 2\n  claims:\n"
        "    - calls_forward[0] == fwd\n    - calls_forward[0] == bwd\n"
    )
    assert "the words are about backward" in asked("How many calls?", text)
    honest = text.replace("calls_forward[0] == bwd", "calls_backward[0] == bwd")
    assert "about the other pass" not in asked("How many calls?", honest)


def test_less_than_the_whole_is_not_the_whole_that_is_less(asked: Asked):
    less = choice("The mean is less than the whole", "sync-batchnorm", "within < whole")
    assert "the other way round" not in asked("Of bytes?", less)
