"""A session that is killed at random moments; tests/bench/kills.py does it two hundred times."""

import importlib.util
from pathlib import Path

SCRIPT = Path(__file__).parents[1] / "bench" / "kills.py"


def test_a_few_kills_at_random_moments_lose_nothing():
    spec = importlib.util.spec_from_file_location("kills", SCRIPT)
    assert spec
    assert spec.loader
    kills = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(kills)
    assert kills.survives(times=4, seed=8) > 0
