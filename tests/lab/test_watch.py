"""What demos say they measure: every metric has its unit, and one name means one thing."""

from collections import defaultdict

from quizkit.lab.catalogue import catalogue
from quizkit.lab.demo import Watch
from quizkit.ui.screens.demo_words import demo_words


def test_every_metric_has_its_unit():
    demos = catalogue().values()
    bare = [
        f"{demo.name}: {name}" for demo in demos for name, w in demo.watch.items() if not w.unit
    ]
    assert not bare


def test_a_name_means_the_same_in_all_demos():
    meanings = defaultdict[str, dict[tuple[bool, str, str], list[str]]](dict)
    for demo in catalogue().values():
        for name, watch in demo.watch.items():
            brackets = (watch.shared, watch.unit, watch.part)
            meanings[name].setdefault(brackets, []).append(demo.name)
    torn = {name: found for name, found in meanings.items() if len(found) > 1}
    assert not torn, torn


def test_a_metric_is_told_behind_its_unit_and_pass():
    told = demo_words(catalogue()["step-profile"], "en").watch["step_after"]
    assert told == "seconds: length of a step that reduces after backward"
    assert Watch(False, "of K and V", "bytes", "forward").line == "bytes, forward: of K and V"
    assert Watch(True, "tokens that samples have", "tokens").line == "tokens that samples have"
    assert Watch(True, "of a demo of one's own").line == "of a demo of one's own"
