from collections.abc import Callable
from pathlib import Path

import pytest

from tests.catalog.conftest import Repository
from tracetax.catalog import CatalogError, load_agents
from tracetax.catalog.placeholders import sink_protocols
from tracetax.ledger import Sampling
from tracetax.model import Configuration, Delivery, Memory, Profile

Change = Callable[[Path, str, str], None]


def configuration(repository: Repository, name: str) -> Configuration:
    return load_agents(repository.root, "java")["tracer"].configurations[name]


def test_an_agent_is_called_by_its_folder_and_has_the_version_of_its_artifact(repository: Repository) -> None:
    agent = load_agents(repository.root, "java")["tracer"]
    assert (agent.key, agent.version) == ("tracer", "1.2.3")


def test_the_baseline_needs_no_artifact(repository: Repository) -> None:
    assert load_agents(repository.root, "java")["none"].version == ""


def test_flags_come_from_common_then_from_what_is_extended_then_from_the_configuration(repository: Repository) -> None:
    assert configuration(repository, "lossless").flags == (
        "-javaagent:{artifacts.agent}",
        "-Dtracer.to={sink.otlp_http}",
        "-Dtracer.queue={expected.records.next_power_of_two}",
    )


def test_a_system_property_given_again_replaces_the_earlier_one(repository: Repository, change: Change) -> None:
    change(
        repository.tracer,
        '["-Dtracer.queue={expected.records.next_power_of_two}"]',
        '["-Dtracer.to={sink.host}:{sink.otlp_http.port}"]',
    )
    assert configuration(repository, "lossless").flags == (
        "-javaagent:{artifacts.agent}",
        "-Dtracer.to={sink.host}:{sink.otlp_http.port}",
    )


def test_environment_is_merged_by_variable(repository: Repository) -> None:
    assert configuration(repository, "lossless").environment == {"TRACER_NAME": "common", "TRACER_LEVEL": "high"}


def test_everything_but_title_profile_and_published_is_taken_from_what_is_extended(
    repository: Repository, change: Change
) -> None:
    change(repository.tracer, 'profile = "lossless"\n', "")
    own = configuration(repository, "lossless")
    assert (own.title, own.profile, own.delivery) == ("large queue", None, Delivery.COMPLETE)
    assert (own.protocol, own.queue, own.held_back, own.flush_interval_ns) == ("otlp-http", 2048, 511, 5 * 10**9)


def test_how_it_samples_is_taken_from_what_is_extended_where_that_samples_too(
    repository: Repository, change: Change
) -> None:
    change(repository.tracer, '"lossy"', '"sampled"\nsampling = { one_in = 20, by = "count" }')
    assert configuration(repository, "stock").sampling == Sampling(one_in=20, by="count")
    assert configuration(repository, "lossless").sampling is None


def test_one_that_samples_by_time_says_how_many_in_how_long(repository: Repository, change: Change) -> None:
    change(repository.tracer, '"lossy"', '"sampled"\nsampling = { at_most = 60, per = "3 s" }')
    assert configuration(repository, "stock").sampling == Sampling(by="time", at_most=60, per_ns=3 * 10**9)


def test_a_name_is_expected_too_where_nothing_is_promised_and_none_is_given(
    repository: Repository, change: Change
) -> None:
    change(repository.tracer, 'record_name = "{monitored.class}.{monitored.method}"\n', "")
    change(repository.tracer, "[configurations.stock]", '[configurations.stock]\nrecord_name = "traced"')
    assert configuration(repository, "stock").record_name == "traced"
    assert configuration(repository, "off").record_name == "{monitored.simple_class}.{monitored.method}"


def test_memory_is_read_in_bytes(repository: Repository) -> None:
    assert configuration(repository, "lossless").memory == Memory(128 * 2**20, 1024)


def test_what_writes_files_is_told_the_folder_and_no_port(repository: Repository, change: Change) -> None:
    change(repository.tracer, '"-Dtracer.to={sink.otlp_http}"', '"-Dtracer.to={records.dir}"')
    change(repository.tracer, 'protocol = "otlp-http"', 'protocol = "kieker-text-file"\ndeletes_oldest = true')
    change(repository.tracer, 'profile = "lossless"\ndelivery = "complete"\n', "")
    assert repository.problems() == {}
    stock = configuration(repository, "stock")
    assert (stock.writes_files, stock.deletes_oldest) == (True, True)
    assert sink_protocols(stock) >= {"kieker-text-file"}
    assert not configuration(repository, "off").writes_files


def test_what_deletes_files_does_not_keep_every_record(repository: Repository, change: Change) -> None:
    change(repository.tracer, '"-Dtracer.to={sink.otlp_http}"', '"-Dtracer.to={records.dir}"')
    change(repository.tracer, 'protocol = "otlp-http"', 'protocol = "kieker-text-file"\ndeletes_oldest = true')
    problem = repository.problems()["tracer: configurations.lossless.deletes_oldest"]
    assert 'delivery = "complete" promises to keep every record' in problem


def test_where_nothing_is_promised_nothing_is_waited_for(repository: Repository) -> None:
    off = configuration(repository, "off")
    assert (off.protocol, off.queue, off.held_back, off.flush_interval_ns) == (None, None, 0, 0)


def test_a_good_agent_has_no_problem(repository: Repository) -> None:
    assert configuration(repository, "stock").profile is Profile.STOCK
    assert repository.problems() == {}


@pytest.mark.parametrize(
    ("old", "new", "key", "text"),
    [
        ('licence = "Apache-2.0"', "", "licence", "is missing"),
        ('licence = "Apache-2.0"', "licence = 2", "licence", "must be text, not 2"),
        ('licence = "Apache-2.0"', 'licence = " "', "licence", "must not be empty"),
        ("min = 8", 'min = "8"', "runtime.min", 'must be a whole number, not the text "8"'),
        ("min = 8", "min = true", "runtime.min", "must be a whole number, not true"),
        ("[17, 21]", "17", "runtime.tested", "must be a list, not 17"),
        ("[17, 21]", "[17, 0]", "runtime.tested[1]", "must be at least 1, not 0"),
        ("[common]", "[comon]", "comon", 'there is no such key. Did you mean "common"?'),
        ("queue = 2048", "qeue = 2048", "common.qeue", 'there is no such key. Did you mean "queue"?'),
        ('"org.example:tracer:1.2.3"', '"tracer"', "artifacts.agent.maven", '"tracer" is not a Maven coordinate'),
        ("sha256 = \"00", 'sha256 = "xy', "artifacts.agent.sha256", "64 hexadecimal digits"),
        ('delivery = "lossy"', 'delivery = "loosy"', "configurations.stock.delivery", 'Did you mean "lossy"?'),
        ('layers = ["I"]', 'layers = ["I", "X"]', "configurations.off.layers[1]", 'must be one of "T", "I", "C", "W"'),
        ('layers = ["I"]', "", "configurations.off.layers", "is missing, here, in what it extends and in [common]"),
        ('= "5 s"', "= 5", "configurations.stock.flush_interval", '5 needs a unit: "5 s"'),
        ('"1 KiB"', '"1 kb"', "configurations.lossless.memory.per_record", 'Did you mean "kB"?'),
        ('extends = "stock"', 'extends = "stok"', "configurations.lossless.extends", 'Did you mean "stock"?'),
        ('"otlp-http"', '"otlp-htpp"', "configurations.stock.protocol", 'Did you mean "otlp-http"?'),
        ('"otlp-http"', '"otlp-grpc"', "configurations.stock.protocol", "no flag says where the sink listens"),
        ('"otlp-http"', '"kieker-text-file"', "configurations.stock.protocol", 'no flag says where its files go'),
        ("held_back = 511", "deletes_oldest = true", "configurations.stock.deletes_oldest", "writes no files"),
        ('protocol = "otlp-http"', "", "configurations.stock.protocol", '"lossy" promises records'),
        ('record_name = "{monitored.class}.{monitored.method}"', "", "configurations.stock.record_name", "is missing"),
        ("{artifacts.agent}", "{artifacts.agnet}", "common.flags[0]", 'Did you mean "artifacts.agent"?'),
        ("{monitored.class}", "{sink.host}", "common.record_name", 'there is no placeholder "{sink.host}"'),
        ('TRACER_NAME = "common"', 'TRACER_NAME = "{me}"', "common.environment.TRACER_NAME", "there is no placeholder"),
        ("(\\d+)", "(\\d+", "configurations.stock.drop_log", "is no regular expression"),
        ("(\\d+)", "\\d+", "configurations.stock.drop_log", "must have exactly one group"),
        ('"lossy"', '"lossy"\nsampling = { one_in = 2, by = "count" }', "configurations.stock.sampling", "not sample"),
        ('"lossy"', '"sampled"\nsampling = { one_in = 2 }', "configurations.stock.sampling", "either"),
        ('"lossy"', '"sampled"\nsampling = { at_most = 2 }', "configurations.stock.sampling", "either"),
        ('"lossy"', '"sampled"\nsampling = { one_in = 2, per = "1 s" }', "configurations.stock.sampling", "either"),
        ('"lossy"', '"sampled"\nsampling = {}', "configurations.stock.sampling", "either"),
        ('"lossy"', '"sampled"\nsampling = { one_in = 0, by = "count" }', "configurations.stock.sampling.one_in", "1"),
        ('delivery = "complete"', "", "configurations.lossless.profile", 'delivery must be "complete"'),
        ('"none"', '"none"\nprotocol = "otlp-http"', "configurations.off.protocol", "promises no records"),
        ('"lossy"', '"lossy"\nif_nothing_arrives = "losless"', "configurations.stock.if_nothing_arrives", "lossless"),
        ('"lossy"', '"lossy"\nif_nothing_arrives = "stock"', "configurations.stock.if_nothing_arrives", "no other"),
    ],
)  # fmt: skip
def test_a_mistake_is_reported_once_with_its_key_and_a_way_out(
    repository: Repository, change: Change, old: str, new: str, key: str, text: str
) -> None:
    change(repository.tracer, old, new)
    found = repository.problems()
    assert list(found) == [f"tracer: {key}"]
    assert text in found[f"tracer: {key}"]


@pytest.mark.parametrize(
    "flag",
    [
        "-Xmx1g",
        "-Xms1g",
        "-XX:MaxHeapSize=1g",
        "-XX:+UseZGC",
        "-XX:-UseG1GC",
        "-XX:ActiveProcessorCount=1",
        "-XX:-AlwaysPreTouch",
        "-XX:+AlwaysPreTouch",
        "-XX:-ZGenerational",
        "-Xshare:off",
        "-cp",
        "-classpath",
        "--class-path=x",
        "-jar",
    ],
)
def test_a_flag_that_the_experiment_sets_for_all_is_refused(repository: Repository, change: Change, flag: str) -> None:
    change(repository.tracer, '"-Dtracer.to={sink.otlp_http}"', f'"-Dtracer.to={{sink.otlp_http}}", "{flag}"')
    reason = f'"{flag}" must not stand here: the experiment sets it, the same for baseline and agents, or'
    ((key, text),) = repository.problems().items()
    assert (key, text.startswith(reason)) == ("tracer: common.flags[2]", True)


@pytest.mark.parametrize(
    "flag", ["-Xmn64m", "-Xlog:gc", "-XX:+UseStringDeduplication", "-Dcp=-jar", "-javaagent:x.jar"]
)
def test_other_flags_are_the_agents_own(repository: Repository, change: Change, flag: str) -> None:
    change(repository.tracer, '"-Dtracer.to={sink.otlp_http}"', f'"-Dtracer.to={{sink.otlp_http}}", "{flag}"')
    assert repository.problems() == {}


def test_an_agent_without_its_artifact_is_refused(repository: Repository, change: Change) -> None:
    change(repository.tracer, "[artifacts.agent]", "[artifacts.other]")
    assert set(repository.problems()) == {"tracer: artifacts.agent", "tracer: common.flags[0]"}


def test_what_extends_a_wrong_configuration_is_not_blamed_for_it(repository: Repository, change: Change) -> None:
    text = repository.tracer.read_text(encoding="utf-8")
    child = text[text.index("[configurations.lossless]") :]
    parent = text[text.index("[configurations.stock]") : text.index("[configurations.lossless]")]
    swapped = text.replace(child, "").replace(parent, child + parent)
    repository.write("agents/tracer/java/agent.toml", swapped.replace('protocol = "otlp-http"', ""))
    assert set(repository.problems()) == {"tracer: configurations.stock.protocol"}


def test_configurations_that_extend_in_a_circle_are_reported(repository: Repository, change: Change) -> None:
    change(repository.tracer, 'profile = "stock"', 'extends = "lossless"')
    assert "goes in a circle: stock → lossless → stock" in repository.problems().values()


def test_an_error_of_syntax_is_reported_with_its_line(repository: Repository) -> None:
    repository.write("agents/tracer/java/agent.toml", 'name = "Tracer"\nhomepage\n')
    assert "tracer: line 2" in repository.problems()


def test_a_key_given_twice_is_an_error(repository: Repository, change: Change) -> None:
    change(repository.tracer, "queue = 2048", "queue = 2048\nqueue = 1024")
    assert any("overwrite" in text for text in repository.problems().values())


def test_a_file_that_is_not_utf8_is_reported(repository: Repository) -> None:
    repository.tracer.write_bytes(b'name = "\xff"')
    assert repository.problems()["tracer: byte 8"].startswith("is not UTF-8")


def test_a_folder_without_its_file_is_reported(repository: Repository) -> None:
    (repository.root / "agents" / "empty").mkdir()
    text = "there is no such file, and none in the folder of a language below it"
    assert repository.problems()["empty: file"] == text


def test_problems_of_several_files_are_all_reported_at_once(repository: Repository, change: Change) -> None:
    change(repository.tracer, "queue = 2048", 'queue = "many"')
    change(repository.tracer, "min = 8", "min = 0")
    repository.write("agents/broken/java/agent.toml", "=")
    change(repository.experiment, "depth = 10", "depth = 0")
    with pytest.raises(CatalogError) as caught:
        load_agents(repository.root, "java")
    assert str(caught.value).splitlines()[0] == "agents/broken/java/agent.toml has 1 problem:"
    assert set(repository.problems()) == {
        "broken: line 1",
        "tracer: runtime.min",
        "tracer: common.queue",
        "parameters.depth",
    }


def test_an_experiment_is_not_blamed_for_an_agent_that_cannot_be_read(repository: Repository, change: Change) -> None:
    change(repository.tracer, "queue = 2048", "queue = -1")
    assert set(repository.problems()) == {"tracer: common.queue"}
