"""What an agent leaves out by design is told in words of its own, and never as a loss."""

from pathlib import Path

from msgspec.structs import replace

from tests.analysis.test_findings import findings, row
from tests.results.trials import blocks, ledger
from tests.run.stand_ins import configuration
from tracetax.ledger import Sampling
from tracetax.model import Delivery
from tracetax.report.views import caveat, loss


def test_of_trees_that_are_cut_the_rest_is_delivered_whole_and_ranked(tmp_path: Path) -> None:
    cut = ledger(4_000, truncated=6_000, made=4_000, expected_trees=1_000, complete_trees=1_000)
    found = findings(tmp_path, blocks(10, ledger=cut))
    records = row(found).records
    assert (records.expected, records.received, records.truncated) == (40_000, 40_000, 60_000)
    assert (records.completeness, records.blocks_incomplete) == (1.0, 0)
    assert row(found).rank == 1
    (told,) = (one.text for one in found.statements if one.id.endswith("-truncates"))
    assert "cuts call trees by design: it records 1 of 3 invocations of each" in told
    assert "neither expected nor lost" in told
    assert not any("loses" in one.text or one.id.endswith("-drops") for one in found.statements)


def test_a_sample_is_a_share_of_all_and_is_not_ranked(tmp_path: Path) -> None:
    sampled = configuration("flat", Delivery.SAMPLED)
    found = findings(tmp_path, blocks(4, ledger=ledger(received=1_000, made=10_000)), sampled)
    assert (row(found).records.completeness, row(found).rank) == (None, None)
    (told,) = (one.text for one in found.statements if one.id.endswith("-samples"))
    assert "samples: 4,000 of 40,000 records arrived (10 %)" in told
    assert not any(one.id.endswith("-drops") for one in found.statements)


def test_what_is_missing_of_a_sample_is_told_and_stands_beside_the_row(tmp_path: Path) -> None:
    sampled = replace(configuration("flat", Delivery.SAMPLED), sampling=Sampling(10, "count"))
    lacking = ledger(received=700, made=10_000, due_least=990, due_most=1_010)
    found = findings(tmp_path, blocks(4, ledger=lacking), sampled)
    (told,) = (one.text for one in found.statements if one.id.endswith("-samples"))
    assert "Its sampler let about 4,000 through: 1,200 of these never arrived, in 4 blocks." in told
    assert caveat(row(found)) == "sampled: 7.0 % of all records arrived, 30 % of the sample is missing"
    assert loss(row(found)).endswith("1,200 of 4,000 sampled are missing")


def test_a_sample_of_as_many_as_are_due_is_told_as_that(tmp_path: Path) -> None:
    sampled = replace(configuration("flat", Delivery.SAMPLED), sampling=Sampling(10, "count"))
    found = findings(
        tmp_path, blocks(4, ledger=ledger(received=995, made=10_000, due_least=990, due_most=1_010)), sampled
    )
    (told,) = (one.text for one in found.statements if one.id.endswith("-samples"))
    assert told.endswith("That is as many as its sampler lets through.")
    assert row(found).records.blocks_incomplete == 0


def test_what_neither_cuts_nor_samples_has_no_such_sentence(tmp_path: Path) -> None:
    told = findings(tmp_path, blocks(4)).statements
    assert not any(one.id.endswith(("-truncates", "-samples")) for one in told)


def test_a_sample_of_nothing_is_not_told_to_be_as_many_as_are_due(tmp_path: Path) -> None:
    sampled = replace(configuration("flat", Delivery.SAMPLED), sampling=Sampling(by="time", at_most=60, per_ns=10**9))
    nothing = ledger(received=0, made=10_000, due_least=0, due_most=1_200)
    found = findings(tmp_path, blocks(4, ledger=nothing), sampled)
    (told,) = (one.text for one in found.statements if one.id.endswith("-samples"))
    assert told.endswith("None of them is promised, so none counts as lost.")
