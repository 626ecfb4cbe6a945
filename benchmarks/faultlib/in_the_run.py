"""Faults of the processes of a running trial: the JVM, the sink, and what is sent to the sink."""

import contextlib
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil

from faultlib.runs import Missed, Scene, Skipped, finished_trials

CLOSED_PORT = "1"


def jvm_aborts(scene: Scene) -> None:
    """SIGABRT to the JVM at a random moment: its trial fails and is repeated."""
    scene.start()
    scene.random_moment()
    _send(scene.jvm(), signal.SIGABRT)
    scene.end(0, 1)


def hangs_before_main(scene: Scene) -> None:
    """An agent that never lets main begin and does not listen to TERM, in a random trial: KILL after the limit."""
    scene.start()
    scene.random_moment()
    scene.order(hang=True)
    scene.order_taken()
    scene.end(1, says="did not get to 'ready'")


def jvm_does_not_end(scene: Scene) -> None:
    """Kieker's TCP writer in a random trial, and nobody listens: its queue fills, and its JVM ignores TERM."""
    scene.start()
    scene.random_moment(until=0.5)
    scene.order(agent=True, replace=[[r"(SingleSocketTcpWriter\.port=)\d+", rf"\g<1>{CLOSED_PORT}"]])
    scene.order_taken()
    scene.end(1, says="Failed trials")


def sink_killed(scene: Scene) -> None:
    """The sink is killed, or stops answering, at a random moment."""
    scene.start()
    scene.random_moment()
    sink = scene.sink()
    stops = scene.rng.random() < 0.2
    scene.remark = "stopped" if stops else "killed"
    _send(sink, signal.SIGSTOP if stops else signal.SIGKILL)
    scene.end(0, 1)


def tool_killed(scene: Scene) -> None:
    """SIGKILL to the tool alone at a random moment, then resume."""
    scene.start()
    scene.random_moment()
    scene.running[-1].kill()
    scene.end(-signal.SIGKILL)
    scene.start()
    scene.end(0)


def out_of_memory(scene: Scene) -> None:
    """In turn: a heap of a few MiB, a kill from outside as by the kernel, a memory limit by cgroup."""
    how = scene.rng.choice(("heap", "killed", "cgroup"))
    scene.start()
    scene.random_moment(until=0.5 if how == "heap" else 1.0)
    if how == "heap":
        heap = scene.rng.choice((2, 3, 4))
        scene.order(agent=True, replace=[[r"^-Xm([sx])\d+$", rf"-Xm\g<1>{heap}m"]])
        scene.order_taken()
        scene.end(1, says="Failed trials")
        how = f"heap of {heap} MiB"
    elif how == "killed" or (limit := _memory_limit(scene.folder.name)) is None:
        _send(scene.jvm(), signal.SIGKILL)
        scene.end(0, 1)
    else:
        try:
            jvm = scene.jvm()
            with contextlib.suppress(OSError):
                (limit / "cgroup.procs").write_text(str(jvm.pid))
            scene.end(0, 1)
        finally:
            _remove(limit)
    scene.remark = how


def _memory_limit(name: str) -> Path | None:
    """A new cgroup (version 1) with 2 MiB of memory; None where none can be made."""
    folder = Path(f"/sys/fs/cgroup/memory/tracetax-{os.getpid()}-{name}")
    try:
        folder.mkdir(exist_ok=True)
        (folder / "memory.limit_in_bytes").write_text(str(2 << 20))
    except OSError:
        _remove(folder)
        return None
    return folder


def _remove(cgroup: Path) -> None:
    """Remove a cgroup as soon as what ran in it has ended, within 10 s."""
    until = time.monotonic() + 10.0
    while cgroup.is_dir() and time.monotonic() < until:
        with contextlib.suppress(OSError):
            cgroup.rmdir()
            return
        time.sleep(0.1)


def garbled_input(scene: Scene) -> None:
    """Rubbish to all ports of the sink for a random time: noise, half messages, streams without an end."""
    scene.added = {}  # what the noise costs in CPU must be noticed
    scene.start()
    scene.random_moment()
    scene.sink()
    seconds = scene.rng.uniform(0.3, 2.0)
    noise = subprocess.Popen(
        [sys.executable, __file__, str(scene.running[-1].pid), str(seconds), str(scene.rng.randrange(1 << 30))],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
        stdout=subprocess.PIPE,
    )
    printed, _ = noise.communicate()
    scene.remark = printed.decode().strip()
    if "sink at most 0" in scene.remark:
        raise Missed
    scene.end(0, 1)


def ports_of(process: psutil.Process) -> list[int]:
    """Ports on which a process listens."""
    with contextlib.suppress(psutil.Error):
        return [one.laddr.port for one in process.net_connections("tcp") if one.status == psutil.CONN_LISTEN]
    return []


def make_noise(tool: int, seconds: float, rng: random.Random) -> str:
    """Send rubbish to the sinks that a tool starts; returns how much, and the sink's largest memory seen."""
    until = time.monotonic() + seconds
    sent, peak = [0], 0
    while time.monotonic() < until:
        sinks = [one for one in psutil.Process(tool).children() if "--record-name" in _words(one)]
        for sink in sinks:
            threads = [
                threading.Thread(target=_rubbish, args=(port, rng.randrange(1 << 30), until, sent), daemon=True)
                for port in ports_of(sink)
            ]
            for thread in threads:
                thread.start()
            while time.monotonic() < until and any(thread.is_alive() for thread in threads):
                with contextlib.suppress(psutil.Error):
                    peak = max(peak, sink.memory_info().rss)
                time.sleep(0.02)
        time.sleep(0.02)
    return f"{sent[0] / 2**20:.1f} MiB of noise; sink at most {peak / 2**20:.0f} MiB"


def _rubbish(port: int, seed: int, until: float, sent: list[int]) -> None:
    """One connection after the other, each with another kind of rubbish."""
    rng = random.Random(seed)
    post = b"POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: application/"
    heads = (
        b"",
        rng.randbytes(64),
        post + b"x-protobuf\r\nContent-Length: 60000000\r\n\r\n",
        post + b"json\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0",
        b"\xff\xff\xff\xff\0\0\0\1\0\0\0\4kiek",
    )
    while time.monotonic() < until:
        try:
            with socket.create_connection(("127.0.0.1", port), 1.0) as connection:
                connection.settimeout(0.3)
                connection.sendall(rng.choice(heads))
                body = rng.choice((rng.randbytes(1 << 16), bytes(1 << 16), b"\x0a\xff\xff\x03" * (1 << 14)))
                for _ in range(rng.choice((0, 1, 100))):
                    connection.sendall(body)
                    sent[0] += len(body)
                    if time.monotonic() > until:
                        return
                time.sleep(rng.choice((0.0, 0.05)))
        except ConnectionRefusedError:
            return
        except OSError:
            continue


def ports_taken(scene: Scene) -> None:
    """In a network of its own with few ports: all of them are taken for a random time."""
    if subprocess.run(("unshare", "-n", "true"), capture_output=True, check=False).returncode:
        raise Skipped("no network namespace can be made here: it takes root")
    scene.around = ("unshare", "-n", "sh", "-c", 'ip link set lo up && exec "$@"', "sh")
    scene.start()
    scene.random_moment()
    seconds = scene.rng.uniform(0.2, 4.0)
    scene.remark = f"for {seconds:.1f} s"
    occupy = f"{sys.executable} {__file__} occupy {seconds}"
    inside = ("nsenter", "-t", str(scene.running[-1].pid), "-n", *occupy.split())
    subprocess.run(inside, env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}, check=False)
    scene.end(0, 1)


def occupy(seconds: float) -> None:
    """Take every port that the kernel gives away in this network, of which it shall give 50."""
    Path("/proc/sys/net/ipv4/ip_local_port_range").write_text("40000 40049")
    until, taken = time.monotonic() + seconds, list[socket.socket]()
    while time.monotonic() < until:
        try:
            one = socket.socket()
            one.bind(("0.0.0.0", 0))
            one.listen()
            taken.append(one)
        except OSError:
            time.sleep(0.01)
    for one in taken:
        one.close()


def second_run(scene: Scene) -> None:
    """A second run, a resume of the same one, or a report begins while one measures: it is refused with a sentence."""
    scene.start()
    scene.random_moment()
    first = scene.running.pop()
    other = str(scene.folder / "other")
    words = scene.rng.choice(
        (
            ("run", str(scene.unharmed.experiment), "--out", other),
            ("run", "--resume", str(scene.run)),
            ("report", str(scene.run)),
        )
    )
    remark = " ".join(words[:2]).replace(str(scene.unharmed.experiment), "another")
    scene.remark = remark.replace(str(scene.run), "RUN")
    second = scene.tool(*words)
    if second.wait(60) != 4:
        if first.poll() is not None:
            raise Missed
        scene.wrong.append(f"the second ended with status {second.returncode}, not 4")
    scene.statuses.append(second.returncode)
    if Path(other).exists():
        scene.wrong.append("the second left a folder")
    scene.running.append(first)
    scene.end(0, says="Another run is measuring on this machine")


def told_at_a_start(scene: Scene) -> None:
    """INT, TERM or HUP within milliseconds of the start of a process: the run ends in order, and is resumed."""
    scene.start()
    scene.random_moment(until=0.9)
    tool = psutil.Process(scene.running[-1].pid)
    known = {child.pid for child in _children(tool)}
    while not {child.pid for child in _children(tool)} - known:
        scene.must_run()
    time.sleep(scene.rng.uniform(0.0, 0.01))
    number = scene.rng.choice((signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
    scene.remark = number.name
    _send(tool, number)
    scene.end(130)
    scene.before = finished_trials(scene.run)
    scene.resume()
    scene.end(0)


def third_interrupt(scene: Scene) -> None:
    """Three INTs, one shortly after the other: the run ends at once, leaves nothing, and is resumed.

    A run that has told its result heeds them no more, and ends with 0.
    """
    scene.start()
    scene.random_moment(until=0.9)
    tool = psutil.Process(scene.running[-1].pid)
    for _ in range(3):
        with contextlib.suppress(psutil.NoSuchProcess):
            tool.send_signal(signal.SIGINT)
        time.sleep(scene.rng.uniform(0.0, 0.05))
    told = (scene.run / "report.html").exists()
    scene.end(*((130, 0) if told else (130,)))
    scene.resume()
    scene.end(0)


def no_utf8(scene: Scene) -> None:
    """Bytes that are no UTF-8 in the status file and the logs of a random trial: nothing comes of it."""
    scene.start()
    scene.random_moment()
    scene.order(garble=True)
    scene.order_taken()
    scene.end(0)


def output_flood(scene: Scene) -> None:
    """A random trial prints without an end: it is ended, its log is cut, and it is repeated."""
    scene.start()
    scene.random_moment()
    scene.order(flood=True)
    scene.order_taken()
    scene.end(1, says="printed more than 64 MiB")
    if any(file.stat().st_size > 3 << 20 for file in (scene.run / "logs").glob("*/*.txt")):
        scene.wrong.append("a log of more than 3 MiB is left")


def cause_in_other_stream(scene: Scene) -> None:
    """A JVM that tells the cause on standard output and something else on standard error: both are quoted."""
    scene.start()
    scene.random_moment()
    scene.order(fails=True)
    scene.order_taken()
    scene.end(1, says="Caused by: the fault was injected")


def java_options(scene: Scene) -> None:
    """The caller's environment has flags for every JVM, which conflict with the run's: they reach none of its JVMs."""
    name = scene.rng.choice(("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"))
    flag = scene.rng.choice(("-XX:+UseSerialGC", "-javaagent:/not/there.jar", "-Xmx1k"))
    scene.remark = f"{name}={flag}"
    scene.start(**{name: flag})
    scene.end(0)


def second_run_elsewhere(scene: Scene) -> None:
    """A second run with another TMPDIR begins while one measures: it is refused all the same."""
    scene.start()
    scene.random_moment()
    first = scene.running.pop()
    (scene.folder / "elsewhere").mkdir()
    other = scene.folder / "other"
    words = ("run", str(scene.unharmed.experiment), "--out", str(other))
    second = scene.tool(*words, TMPDIR=str(scene.folder / "elsewhere"))
    if second.wait(60) != 4:
        if first.poll() is not None:
            raise Missed
        scene.wrong.append(f"the second ended with status {second.returncode}, not 4")
    scene.statuses.append(second.returncode)
    if other.exists():
        scene.wrong.append("the second left a folder")
    scene.running.append(first)
    scene.end(0, says="Another run is measuring on this machine")


def samples_too_many(scene: Scene) -> None:
    """An experiment whose samples do not fit into its heap is refused before anything is measured."""
    calls = scene.rng.choice((10**7, 10**8, 10**9))
    text = scene.unharmed.experiment.read_text().replace("calls = 2_000", f"calls = {calls}")
    large = scene.folder / "large.toml"
    large.write_text(text)
    scene.remark = f"{calls:,} calls"
    scene.tool("run", str(large), "--out", str(scene.folder / "large"))
    scene.end(2, says=f"The samples of {calls:,} calls")
    if (scene.folder / "large").exists():
        scene.wrong.append("a folder is left")
    scene.take_finished()
    scene.resume("--blocks", "3")
    scene.end(0)


def _children(tool: psutil.Process) -> list[psutil.Process]:
    with contextlib.suppress(psutil.Error):
        return tool.children()
    return []


def _send(process: psutil.Process, number: signal.Signals) -> None:
    try:
        process.send_signal(number)
    except psutil.NoSuchProcess:
        raise Missed from None


def _words(process: psutil.Process) -> list[str]:
    with contextlib.suppress(psutil.Error):
        return process.cmdline()
    return []


if __name__ == "__main__":
    if sys.argv[1] == "occupy":
        occupy(float(sys.argv[2]))
    else:
        with contextlib.suppress(psutil.NoSuchProcess):
            print(make_noise(int(sys.argv[1]), float(sys.argv[2]), random.Random(int(sys.argv[3]))))
