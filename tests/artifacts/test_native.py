"""``cc`` in ``[[prepare]]``: a shared library is built once by the system's compiler; what is missing is named."""

import ctypes
import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace

from tracetax.artifacts import Workplace, lacking, prepared
from tracetax.artifacts.tools import ToolFailed
from tracetax.errors import UserError
from tracetax.preparation import NativeBuild, PrepareStep

needs_compiler = pytest.mark.skipif(shutil.which("c++") is None, reason="needs a C++ compiler")
needs_jdk = pytest.mark.skipif(shutil.which("javac") is None, reason="needs a JDK")
LIBRARY = NativeBuild("{agent.files}/native", "lib/libown.so")
STEP = PrepareStep("native", cc=LIBRARY)
IN_C = '#include "own.h"\nint doubled(int value) { int new = value; return 2 * new; }  /* "new" is no word of C */\n'
IN_CPP = '#include "own.h"\n#include <string>\nint length() { return std::string(WORD).size(); }\n'
HEADER = """\
#define WORD "four"
#ifdef __cplusplus
extern "C" {
#endif
int doubled(int);
int length();
#ifdef __cplusplus
}
#endif
"""


@pytest.fixture
def place(tmp_path: Path, cache: Path) -> Workplace:
    """An agent's folder with sources in both languages."""
    native = tmp_path / "agents" / "tracer" / "files" / "native"
    (native / "more").mkdir(parents=True)
    (native / "own.h").write_text(HEADER)
    (native / "doubled.c").write_text(IN_C)
    (native / "more" / "length.cpp").write_text(IN_CPP)
    return Workplace("tracer", native.parents[1], {}, tmp_path, tmp_path, {}, cache)


def made(place: Workplace, build: NativeBuild = LIBRARY) -> Path:
    return prepared([replace(STEP, cc=build)], place)["native"]


@needs_compiler
def test_sources_in_both_languages_become_one_library_once_per_content(place: Workplace) -> None:
    said: list[str] = []
    first = prepared([STEP], place, said.append)["native"]
    library = ctypes.CDLL(str(first / "lib" / "libown.so"))
    assert (library.doubled(21), library.length()) == (42, 4)
    assert prepared([STEP], place, said.append)["native"] == first
    assert said == ["preparing native of tracer"]
    header = place.folder / "files" / "native" / "own.h"
    header.write_text(HEADER.replace("four", "three"))
    assert made(place) != first


@needs_compiler
def test_another_compiler_makes_it_anew(place: Workplace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = made(place)
    other = tmp_path / "bin" / "c++"
    other.parent.mkdir()
    other.write_text(f'#!/bin/sh\n[ "$1" = --version ] && echo "another 99" && exit\nexec {shutil.which("c++")} "$@"\n')
    other.chmod(0o755)
    monkeypatch.setenv("PATH", f"{other.parent}:/usr/bin:/bin")
    assert made(place) != first


@needs_compiler
@needs_jdk
def test_headers_of_the_java_native_interface_are_those_of_the_jdk(place: Workplace) -> None:
    source = place.folder / "files" / "native" / "own.cpp"
    source.write_text(
        '#include <jni.h>\nextern "C" JNIEXPORT jint JNICALL Java_own_Own_two(JNIEnv*, jclass) { return 2; }\n'
    )
    headers = ("{jdk.include}", "{jdk.include}/linux")
    library = ctypes.CDLL(str(made(place, replace(LIBRARY, include=headers)) / "lib" / "libown.so"))
    assert library.Java_own_Own_two(None, None) == 2


@needs_compiler
def test_what_the_compiler_says_is_told(place: Workplace) -> None:
    (place.folder / "files" / "native" / "doubled.c").write_text("int doubled(int value) { return missing; }\n")
    with pytest.raises(UserError, match=r"missing.* undeclared|undeclared identifier") as failed:
        made(place)
    assert str(failed.value).startswith('The folder "native" of tracer could not be built: c++')


@needs_compiler
def test_what_no_library_defines_is_found_while_it_is_built(place: Workplace) -> None:
    (place.folder / "files" / "native" / "doubled.c").write_text(
        "int nowhere(void); int doubled(int i) { return nowhere(); }\n"
    )
    with pytest.raises(UserError, match="undefined"):
        made(place)


@needs_compiler
def test_a_folder_without_sources_is_told(place: Workplace) -> None:
    shutil.rmtree(place.folder / "files" / "native" / "more")
    (place.folder / "files" / "native" / "doubled.c").unlink()
    with pytest.raises(UserError, match=r"there is no \.c, \.cc or \.cpp below"):
        made(place)
    with pytest.raises(UserError, match=r'"\{agent\.files\}/other" is not there'):
        made(place, replace(LIBRARY, include=("{agent.files}/other",)))


def test_a_missing_compiler_is_a_sentence_with_the_way_out(
    place: Workplace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    build = replace(LIBRARY, links=("zstd",), packages=("libzstd-dev",))
    sentence, way_out = lacking(build, place.cache).split("\n")
    assert sentence == "This machine lacks a C++ compiler (c++), which lib/libown.so is built with."
    assert way_out.startswith("Type: apt-get install g++ libzstd-dev, ")
    with pytest.raises(ToolFailed, match="lacks a C"):
        made(place, build)


@needs_compiler
def test_a_missing_library_is_named_before_anything_is_compiled(place: Workplace) -> None:
    build = replace(LIBRARY, links=("nowhere-known", "c"), packages=("libnowhere-dev",))
    assert "lacks libnowhere-known with its headers, which" in lacking(build, place.cache)
    with pytest.raises(ToolFailed, match=r"apt-get install g\+\+ libnowhere-dev"):
        made(place, build)
    assert lacking(replace(build, links=("c",)), place.cache) == ""
