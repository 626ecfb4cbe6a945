"""What serves one endpoint of a workload in a trial: one of the workload's hosts, with the stores of that endpoint."""

from collections.abc import Mapping
from pathlib import Path

from msgspec.structs import replace

from tracetax.artifacts import Say, build_host
from tracetax.catalog.hosts import DIRECTORY, EVENT, HOSTS
from tracetax.catalog.hosts import PROGRAM as HOST_PROGRAM
from tracetax.catalog.placeholders import names_in
from tracetax.errors import ExitCode, UserError
from tracetax.kinds import declaration_of
from tracetax.machine.toolchain import Interpreter
from tracetax.model import Experiment, Parameters
from tracetax.program import Host, Runtime, Workload
from tracetax.run.equipment import Equipment
from tracetax.service import Sent
from tracetax.workloads.kinds import MARKS


def hosted(equipment: Equipment, parameters: Parameters) -> Equipment:
    """The equipment with a workload that is started as these parameters ask; as it is where it has no hosts."""
    workload = equipment.workload
    if not workload.hosts:
        return equipment
    kind = declaration_of(parameters)
    (endpoint,) = kind.sorts(parameters)
    served = served_by(workload, kind.host(parameters), endpoint)
    assert served.service
    stores = {name: place for name, place in equipment.stores.items() if name in served.service.stores}
    return replace(equipment, workload=served, stores=stores)


def served_by(workload: Workload, name: str, endpoint: str) -> Workload:
    """A workload as one of its hosts serves an endpoint: the first request to it tells that it is ready."""
    host, service = workload.hosts[name], workload.service
    assert service
    stores = service.stores_of.get(endpoint, service.stores)
    addresses = {f"stores.{store}.url" for store in service.stores if store not in stores}
    environment = {**workload.environment, **host.environment}
    return replace(
        workload,
        start=host.start,
        environment={key: value for key, value in environment.items() if addresses.isdisjoint(names_in(value))},
        least_warm_up_calls=service.warm_up_of.get(endpoint, workload.least_warm_up_calls),
        host=name,
        endpoint=endpoint,
        service=replace(
            service,
            endpoints={endpoint: _sent_to(host, service.endpoints[endpoint])},
            ready_path=endpoint,
            ready_within_ns=host.ready_within_ns,
            stores=stores,
        ),
    )


def _sent_to(host: Host, sent: Sent) -> Sent:
    return replace(sent, path=host.path, body=host.body.replace(f"{{{EVENT}}}", sent.body))


def of_host(equipment: Equipment, scratch: Path) -> dict[str, str]:
    """The placeholders that only a host's command and variables contain; none where there is no host."""
    workload = equipment.workload
    if not workload.host:
        return {}
    return {
        DIRECTORY: str(equipment.built / HOSTS / workload.host),
        HOST_PROGRAM: str(equipment.host_programs.get(workload.host, "")),
        "function": workload.endpoint,
        "marks": str(scratch / MARKS),
    }


def with_needed_stores(workload: Workload, experiment: Experiment) -> Workload:
    """A workload that names only the stores which the endpoints of an experiment need, where each says its own."""
    service = workload.service
    if service is None or not service.stores_of:
        return workload
    called = {sort for part in experiment.parts for sort in declaration_of(part.parameters).sorts(part.parameters)}
    needed = {store for endpoint in called for store in service.stores_of.get(endpoint, ())}
    stores = tuple(store for store in service.stores if store in needed)
    return replace(workload, service=replace(service, stores=stores))


def check_hosts(
    experiment: Experiment, workload: Workload, runtime: Runtime, interpreters: Mapping[int, Interpreter]
) -> None:
    """Raise UserError with every part whose host needs a newer release of what runs it than the part asks for."""
    lacks: dict[str, None] = {}
    for part in experiment.parts:
        host = workload.hosts.get(declaration_of(part.parameters).host(part.parameters))
        if host and (release := interpreters[runtime.release_of(part.settings)].release) < host.least_release:
            lacks[
                f"\n  {part.name}: {host.title} needs {runtime.called(host.least_release)} or newer, "
                f"and it is measured on {runtime.called(release)}"
            ] = None
    if lacks:
        raise UserError(f"A host cannot be started by what this machine has:{''.join(lacks)}", ExitCode.ENVIRONMENT)


def build_hosts(experiment: Experiment, workload: Workload, root: Path, cache: Path, say: Say) -> dict[str, Path]:
    """The programs of the hosts that an experiment measures, by name, where one is needed. Raises UserError."""
    names = {declaration_of(part.parameters).host(part.parameters) for part in experiment.parts}
    measured: Mapping[str, Host] = {name: host for name, host in workload.hosts.items() if name in names}
    return {name: build_host(root, workload, host, cache, say) for name, host in measured.items() if host.go}
