"""Faults of what a run stands on: the disk, the cache, the registry, the clock, its own files."""

import os
import shutil
import subprocess
from pathlib import Path

from faultlib.runs import BLOCKS, Missed, Scene, Skipped, finished_trials
from tracetax.artifacts import cache_dir

MORE = ("--blocks", str(BLOCKS + 1))
CLOCK = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
static long step(void) {
    long seconds = 0;
    FILE *file = fopen(FROM, "r");
    if (file) { if (fscanf(file, "%ld", &seconds) != 1) seconds = 0; fclose(file); }
    return seconds;
}
int clock_gettime(clockid_t clock, struct timespec *now) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(clock, now);
    if (clock == CLOCK_REALTIME) now->tv_sec += step();
    return result;
}
int gettimeofday(struct timeval *now, void *zone) {
    struct timespec exact;
    (void)zone;
    int result = clock_gettime(CLOCK_REALTIME, &exact);
    now->tv_sec = exact.tv_sec;
    now->tv_usec = exact.tv_nsec / 1000;
    return result;
}
time_t time(time_t *now) {
    struct timespec exact;
    clock_gettime(CLOCK_REALTIME, &exact);
    if (now) *now = exact.tv_sec;
    return exact.tv_sec;
}
"""


def disk_full(scene: Scene) -> None:
    """The run's disk, of a random size, becomes full; with more space it is resumed."""
    place = scene.folder / "disk"
    place.mkdir()
    size = scene.rng.randrange(16, _kib(scene.unharmed.run) + 64)
    mount = ("mount", "-t", "tmpfs", "-o", f"size={size}k", "tmpfs", str(place))
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        raise Skipped("no small disk can be mounted here: it takes root")
    try:
        scene.remark = f"{size} KiB"
        scene.run = place / "run"
        scene.start()
        scene.end(0, 3)
        scene.before = finished_trials(scene.run)
        if scene.statuses == [3] and "no space left" not in scene.printed:
            scene.wrong.append("does not say that there is no space left")
        subprocess.run(("mount", "-o", "remount,size=256m", str(place)), check=True)
        scene.start()
        scene.end(0)
        kept = scene.folder / "run"
        shutil.copytree(scene.run, kept)
        scene.run = kept
    finally:
        subprocess.run(("umount", "-l", str(place)), check=True)


def read_only(scene: Scene) -> None:
    """The run folder becomes read-only at a random moment; made writable again it is resumed."""
    scene.start()
    scene.random_moment()
    folders = [scene.run, scene.run / "trials", scene.run / "logs"]
    try:
        if not _locked(folders, True):
            raise Skipped("its file system knows no immutable folders, which alone keep root from writing")
        scene.end(3, says="it may not be written")
    finally:
        _locked(folders, False)
    scene.resume()
    scene.end(0)


def _locked(folders: list[Path], locked: bool) -> bool:
    if os.geteuid():
        for folder in folders:
            folder.chmod(0o555 if locked else 0o755)
        return True
    command = ("chattr", "+i" if locked else "-i", *map(str, folders))
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def corrupted_cache(scene: Scene) -> None:
    """A random file of the cache is damaged between two sessions: it is built or fetched again, and the run goes on."""
    cache = _own_cache(scene)
    scene.take_finished()
    files = sorted(path for path in cache.rglob("*") if path.is_file())
    victim = scene.rng.choice(files)
    data = bytearray(victim.read_bytes())
    how = scene.rng.choice(("flipped", "truncated", "removed"))
    if how == "flipped":
        for _ in range(scene.rng.choice((1, 100))):
            data[scene.rng.randrange(len(data))] ^= 1 << scene.rng.randrange(8)
    victim.write_bytes(data[: scene.rng.randrange(len(data))] if how == "truncated" else data)
    if how == "removed":
        victim.unlink()
    scene.remark = f"{victim.name} {how}"
    scene.resume(*MORE, TRACETAX_CACHE=str(cache))
    scene.end(0)


def registry_unreachable(scene: Scene) -> None:
    """No registry can be reached: with an empty cache an error that says so, with a filled one the run goes on."""
    cache = _own_cache(scene)
    settings = scene.folder / "settings.xml"
    settings.write_text(
        "<settings><mirrors><mirror><id>none</id><mirrorOf>*</mirrorOf><url>http://127.0.0.1:1/</url></mirror>"
        f"</mirrors><localRepository>{scene.folder / 'repository'}</localRepository></settings>"
    )
    (scene.folder / "home" / ".m2").mkdir(parents=True)
    settings.rename(scene.folder / "home" / ".m2" / "settings.xml")
    nowhere = {"MAVEN_OPTS": f"-Duser.home={scene.folder / 'home'}", "TRACETAX_CACHE": str(cache)}
    nowhere |= dict.fromkeys(("GOPROXY", "http_proxy", "https_proxy"), "http://127.0.0.1:1")
    scene.take_finished()
    kept = scene.folder / "kept"
    (cache / "artifacts").rename(kept)
    scene.resume(*MORE, **nowhere)
    scene.end(3, says="could not be fetched")
    shutil.rmtree(cache / "artifacts", ignore_errors=True)
    kept.rename(cache / "artifacts")
    scene.resume(*MORE, **nowhere)
    scene.end(0)


def _own_cache(scene: Scene) -> Path:
    """A copy of as much of the cache as the run needs: what the unharmed run used."""
    source, own = cache_dir(os.environ), scene.folder / "cache"
    words = " ".join(path.read_text() for path in (scene.unharmed.run / "trials").glob("*/record.json"))
    manifest = (scene.unharmed.run / "manifest.json").read_text()
    for folder in (*source.glob("builds/*"), *source.glob("artifacts/*")):
        if folder.name in words or folder.name in manifest:
            shutil.copytree(folder, own / folder.relative_to(source))
    return own


def clock_stepped(scene: Scene) -> None:
    """The wall clock of tool and JVM jumps by up to a day, back or forth, at a random moment: no number follows it."""
    compiler = shutil.which("cc")
    if compiler is None:
        raise Skipped("there is no C compiler to build a stepping clock with")
    offset, source, library = (scene.folder / name for name in ("offset", "clock.c", "clock.so"))
    source.write_text(CLOCK)
    build = (compiler, "-shared", "-fPIC", "-O1", f'-DFROM="{offset}"', "-o", str(library), str(source), "-ldl")
    subprocess.run(build, check=True)
    offset.write_text("0")
    (scene.orders / "preload").write_text(str(library))
    scene.start(LD_PRELOAD=str(library))
    scene.random_moment()
    seconds = scene.rng.choice((-1, 1)) * scene.rng.randrange(2, 86_400)
    scene.remark = f"{seconds:+} s"
    offset.write_text(str(seconds))
    scene.end(0)


def half_written_record(scene: Scene) -> None:
    """A finished trial's record ends in its middle: the resume names it and the way out, which helps."""
    scene.take_finished()
    victim = scene.rng.choice(sorted((scene.run / "trials").glob("[0-9]*/record.json")))
    _cut(scene, victim)
    scene.damaged.add(victim.parent.name)
    scene.resume(*MORE)
    scene.end(2, says=f"Remove {victim.parent}")
    shutil.rmtree(victim.parent)
    scene.resume(*MORE)
    scene.end(0)


def half_written_output(scene: Scene) -> None:
    """The workload's trial.json ends in its middle, in a random trial: that trial fails and is repeated."""
    scene.start()
    scene.random_moment()
    seen: set[Path] = set((scene.run / "trials").glob(".*/workload/trial.json"))
    while True:
        scene.must_run()
        for file in (scene.run / "trials").glob(".*/workload/trial.json"):
            try:
                if file in seen or not file.stat().st_size:
                    continue
                _cut(scene, file)
            except FileNotFoundError:
                raise Missed from None
            scene.end(1, says="left no readable trial.json")
            return


def truncated_manifest(scene: Scene) -> None:
    """The manifest ends in its middle: nothing is touched, the error says so; with its copy the run goes on."""
    scene.take_finished()
    manifest = scene.run / "manifest.json"
    whole = manifest.read_bytes()
    _cut(scene, manifest)
    scene.resume(*MORE)
    scene.end(2, says="manifest.json cannot be read")
    manifest.write_bytes(whole)
    scene.resume(*MORE)
    scene.end(0)


def _cut(scene: Scene, file: Path) -> None:
    size = file.stat().st_size
    kept = scene.rng.randrange(size)
    os.truncate(file, kept)
    scene.remark = f"{file.parent.name}/{file.name}: {kept} of {size} bytes"


def _kib(folder: Path) -> int:
    return sum(-(-path.stat().st_size // 4096) * 4 for path in folder.rglob("*"))
