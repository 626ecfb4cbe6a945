"""What is said of datagrams that the receiving kernel lost: it is no loss of the agent's."""

import pytest
from msgspec.structs import replace

from tests.results.trials import ledger
from tests.run.stand_ins import configuration
from tracetax.ledger import ProtocolCount, account, summed
from tracetax.model import Delivery
from tracetax.run.verdicts import of_records


@pytest.mark.parametrize("delivery", [Delivery.LOSSY, Delivery.COMPLETE])
@pytest.mark.parametrize(
    ("received", "lost_datagrams", "told"),
    [
        (1_000, 0, {}),
        (900, 0, {"its own": "100 of 1,000"}),
        (900, -1, {"its own": "100 of 1,000", "kernel-loss-unknown": "does not tell"}),
        (1_000, -1, {}),
        (900, 10, {"kernel-loss": "10 datagrams"}),  # ten calls of ten records
        (900, 25, {"kernel-loss": "100 of 1,000 records at most"}),  # more than half of them carried none
        (900, 4, {"kernel-loss": "40 of 1,000 records at most", "its own": "60 of 1,000"}),
        (1_000, 3, {"kernel-loss": "0 of 1,000 records at most"}),
    ],
)
def test_what_the_kernel_lost_is_not_the_agents_loss(
    delivery: Delivery, received: int, lost_datagrams: int, told: dict[str, str]
) -> None:
    counted = ledger(1_000, received, lost_datagrams=lost_datagrams, receive_buffer_bytes=8 << 20)
    found = {
        verdict.code: verdict for verdict in of_records(counted, replace(configuration("flat"), delivery=delivery))
    }
    own = "silent-loss" if delivery is Delivery.LOSSY else "records-lost"
    expected = {own if code == "its own" else code: words for code, words in told.items()}
    assert set(found) == set(expected)
    for code, words in expected.items():
        assert (found[code].severity, words in found[code].text) == ("warning", True), found[code].text


def test_the_sinks_count_of_lost_datagrams_reaches_the_account() -> None:
    count = ProtocolCount(records=90, lost_datagrams=1, receive_buffer_bytes=32 << 20)
    counted = account(count, expected_records=100, expected_trees=10, dropped_in_log=0)
    assert (counted.lost_datagrams, counted.receive_buffer_bytes, counted.missing_in_kernel) == (1, 32 << 20, 10)
    assert summed([ProtocolCount(), count]).lost_datagrams == 1
