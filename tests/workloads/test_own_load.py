"""A load of the user's own: what the driver is told of it, and what its account says."""

import json
from pathlib import Path

from tracetax.kinds.requests import KIND, RequestParameters, Weighted, speed_words
from tracetax.parameters import FULL, Offers
from tracetax.program import Service, Workload
from tracetax.service import Sent
from tracetax.workloads.kinds import DriverFiles
from tracetax.workloads.requests import LoadAccount, SentTo, arguments, verdicts_of

TOOL = ("oha", "-z", "{seconds}s", "-q", "{rate}", "-n", "{requests}", "{url}")
PARAMETERS = RequestParameters(calls=3_000, rate=200.0, mix=(Weighted("owners", 1),), tool=TOOL)


def told(folder: Path, parameters: RequestParameters) -> list[str]:
    """The words of the load's command that the driver is told."""
    (folder / "workload").mkdir(parents=True)
    workload = Workload(
        key="requests/node",
        title="shop",
        runtime="node",
        start=("node",),
        environment={},
        least_warm_up_calls=1,
        offers=Offers(threads_max=1, wait=()),
        service=Service(endpoints={"owners": Sent("/owners?of=7")}, ready_path="/", ready_within_ns=1, port=0),
        own=True,
    )
    options = arguments(parameters, DriverFiles(folder / "workload", folder / "status", 8080), workload)
    return json.loads(options[options.index("--tool") + 1])


def test_its_placeholders_are_filled(tmp_path: Path) -> None:
    words = ["oha", "-z", "15s", "-q", "200", "-n", "3000", "http://127.0.0.1:8080/owners?of=7"]
    assert told(tmp_path / "paced", PARAMETERS) == words
    full = RequestParameters(calls=3_000, rate=FULL, mix=PARAMETERS.mix, tool=("k6", "{rate}", "{seconds}", "{port}"))
    assert told(tmp_path / "full", full) == ["k6", "full", "10", "8080"]


def test_it_sends_as_many_as_it_likes() -> None:
    assert PARAMETERS.calls_vary
    assert speed_words(PARAMETERS) == "as `oha -z {seconds}s -q {rate} -n {requests} {url}` sends them"
    alone = KIND.to_learn_from(PARAMETERS)
    assert not alone.calls_vary  # single requests are Tracetax's own


def test_what_it_did_otherwise_than_it_was_told_is_said() -> None:
    def codes(unsent_by_tool: int = 0, rate_by_tool: float = 0.0) -> dict[str, str]:
        load = LoadAccount(0.1, (SentTo("owners", 3_000, {}),), None, unsent_by_tool, rate_by_tool)
        return {verdict.code: verdict.text for verdict in verdicts_of(load, PARAMETERS)}

    assert codes(rate_by_tool=191.0) == {}
    assert codes(rate_by_tool=180.04) == {"other-rate": "the load sent 180 requests/s, and --rate says 200"}
    assert codes(unsent_by_tool=3) == {"load-dropped": "the load dropped 3 requests that were due"}
