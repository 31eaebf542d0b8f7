"""What demos say they measure: every metric has its unit, and one name means one thing."""

from collections import defaultdict

from quizkit.lab.catalogue import catalogue


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
