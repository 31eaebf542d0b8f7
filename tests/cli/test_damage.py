"""A diary that is damaged in many ways; tests/bench/damage.py does it as often as one likes."""

import importlib.util
from pathlib import Path

SCRIPT = Path(__file__).parents[1] / "bench" / "damage.py"


def test_no_command_breaks_on_a_damaged_diary():
    spec = importlib.util.spec_from_file_location("damage", SCRIPT)
    assert spec
    assert spec.loader
    damage = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(damage)
    assert damage.survives(times=2, seed=3) == []
