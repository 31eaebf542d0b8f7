"""A formula calls a calculator's figure by its name, and its mistakes are the formula's."""

import pytest

from quizkit.bank.formula import FormulaError, parse


def test_a_sum_is_called_by_name_with_keywords():
    asked = parse("memory_model_states_bytes(params=p * 1e9, dp=n, zero=3) / 1e9")
    assert asked.names == {"p", "n"}
    # 2 + 2 + 12 bytes a parameter, all of them divided.
    assert asked({"p": 7.5, "n": 64}) == 7.5 * 16 / 64
    assert parse("flops_per_step(layers=1, hidden=8, seq=4, vocab=10, batch=3)")({}) == (
        3 * 4 * (72 * 8**2 + 12 * 8 * 4 + 6 * 8 * 10)
    )
    assert parse("pipeline_peak_live(stages=p, microbatches=8)[0]")({"p": 4}) == 4


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("memory_model_states_bytes(7e9)", "by name"),
        ("memory_model_states_bytes(parms=7e9)", "no argument `parms`"),
        ("memory_model_state_bytes(params=7e9)", "memory_model_states_bytes"),
        ("memory_model_states_bytes(params=7e9, zero='3')", "zero"),
        ("memory_model_states_bytes(params='7B')", "params"),
        ("memory_model_states_bytes(params=7e9, dp=0)", "dp"),
        ("memory_model_states_bytes(dp=8)", "--fit"),
        ("pipeline_makespan(stages=2, microbatches=2, order='/etc/passwd')", "no argument `order`"),
        ("memory_max_params(params=7e9)", "max_params"),
        ("kv_bytes(layers=2.5, kv_heads=8, head_dim=128, seq=1)", "layers"),
        ("pipeline_makespan(stages=4, microbatches=1000000000)", "most"),
        ("pipeline_makespan(stages=4, microbatches=6, schedule='interleaved')", "multiple"),
    ],
)
def test_what_a_sum_refuses_the_formula_refuses(source: str, said: str):
    with pytest.raises(FormulaError) as refused:
        parse(source)({})
    assert said in str(refused.value)
    assert len(str(refused.value).splitlines()) == 1
