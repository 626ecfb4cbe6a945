"""The thesis's findings on functions, decided from numbers that are made up."""

import io

from benchmarks.nou25_functions import FUNCTIONS, LANGUAGES, Inside, Key, decided, export_dominates, published, write
from msgspec.structs import replace

from tracetax.analysis.measures import make_measure
from tracetax.statistics.intervals import Estimate

DURATIONS = dict(zip(FUNCTIONS, (2e6, 30e6, 100e6, 1_400e6, 4_500e6), strict=True))
MORE = {"python": 1.0, "node": 1.4}


def inside(without: float, added: float) -> Inside:
    def measure(of: float, half: float) -> Estimate:
        return Estimate(of, half, (of - half, of + half), 10)

    own = make_measure("inside_time", "ns", "call", measure(without, 1e3), ())
    more = make_measure("inside_time_added", "ns", "call", measure(added, abs(added) / 10), ())
    return Inside(own, more, own, more, expected=100, received=100)


def made(added: dict[str, float]) -> dict[Key, Inside]:
    return {(f, g): inside(DURATIONS[f], MORE[g] * added[f]) for f in FUNCTIONS for g in LANGUAGES}


LIKE_THE_THESIS = dict(zip(FUNCTIONS, (3e6, 4e6, 6e6, 20e6, 60e6), strict=True))


def outcomes(found: dict[Key, Inside]) -> dict[str, str]:
    return {one.finding: one.decided for one in decided(found)}


def test_numbers_like_the_thesiss_confirm_its_findings() -> None:
    assert set(outcomes(made(LIKE_THE_THESIS)).values()) == {"confirmed"}


def test_numbers_the_other_way_round_contradict_them() -> None:
    other = dict(zip(FUNCTIONS, (-0.001e6, 1e6, 10e6, 400e6, 4_000e6), strict=True))
    found = made(other) | {(f, "node"): inside(DURATIONS[f], other[f] / 10) for f in FUNCTIONS[1:]}
    told = outcomes(found)
    assert [told[f"MF4.{number}"] for number in (1, 2, 3, 4)] == ["contradicted"] * 4, told


def test_where_a_function_is_missing_nothing_is_decided() -> None:
    found = made(LIKE_THE_THESIS)
    del found["uploader", "node"]
    assert set(outcomes(found).values()) == {"not comparable"}


def test_exporting_dominates_where_batches_add_less_than_half() -> None:
    def added(**ms: float) -> dict[Key, Inside]:
        return {("dynamic-html", language): inside(2e6, 1e6 * of) for language, of in ms.items()}

    told = export_dominates(added(python=2.0, node=2.0), added(python=0.5, node=0.95))
    assert [one.decided for one in told] == ["confirmed", "confirmed", "undecided", "undecided"]
    python, _, node, _ = export_dominates(added(python=1.0), added(python=0.9))
    assert (python.decided, node.decided) == ("contradicted", "not comparable")
    assert python.because == "dynamic-html: span by span 1.00 (0.90 to 1.10) ms, in batches 0.90 (0.81 to 0.99) ms"


def test_an_export_that_nobody_waits_for_is_told_of_the_client_alone() -> None:
    own, client = inside(2e6, 1e6), inside(2e6, 8e6)
    key, batch = ("dynamic-html", "node"), inside(2e6, 1e6)
    told = export_dominates({key: replace(own, client_added=client.added)}, {key: batch})
    assert {one.finding: one.decided for one in told if "Node" in one.finding} == {
        "export, Node.js, inside": "contradicted",
        "export, Node.js, client": "confirmed",
    }


def test_the_thesiss_numbers_stand_beside() -> None:
    assert published()["dynamic-html", "node", "benchmark_time_increase"] == 574.76
    text = io.StringIO()
    write(made(LIKE_THE_THESIS), text)
    assert "| dynamic-html | Node.js | 2.00 (2.00 to 2.00) | 4.20 (3.78 to 4.62) | +210.0% | 1.03 | +574.8 % |" in (
        text.getvalue()
    )
    # 2 ms in both, and with tracing 3 ms more in Python and 4.2 in Node
    assert "| dynamic-html | 2.00 (2.53) | 5.60 (6.96) | 2.00 (64.20) | 5.60 (66.48) |" in text.getvalue()
