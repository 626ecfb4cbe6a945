package handlers

import (
	"encoding/binary"
	"testing"

	"tracetax/sink/internal/account"
	"tracetax/sink/internal/samples"
)

var encodings = map[string]byte{"plain": plain, "zstd": compressedByZstd, "lzo1x": compressedByLzo}

func TestEveryPairOfEventsIsARecordInEveryEncoding(t *testing.T) {
	for name, encoding := range encodings {
		t.Run(name, func(t *testing.T) {
			first := fileOf(t, encoding, chain(30_000, testDepth), 4096)
			second := fileOf(t, encoding, chain(10, testDepth), 7) // an execution's two events are in two frames
			got := count(t, folder(t, first, second))
			samples.ExpectCount(t, got, account.Account{Records: 90_030, CompleteTrees: 30_010})
			if got.Requests != 2 || got.Bytes < int64(len(first)+len(second)) {
				t.Errorf("%d files, %d bytes", got.Requests, got.Bytes)
			}
		})
	}
}

func TestAnEventWithoutItsCounterpartIsToldAndTheOthersCount(t *testing.T) {
	events := append([]event{{ends: true}, {}}, chain(1, testDepth)...) // the second one never ends
	last := append(chain(1, testDepth), event{method: 1})
	got := count(t, folder(t, fileOf(t, plain, events, 0), fileOf(t, plain, last, 0)))
	samples.ExpectCount(t, got, account.Account{
		Records: 6, CompleteTrees: 1, PartialTrees: 1, Orphans: 1, UnexpectedNames: 3,
		Unexpected: map[string]int64{"an end without its begin": 1, "a begin without its end": 2},
	})
}

func TestWhatHasBegunInsideAnExecutionThatEndsHasLostItsEnd(t *testing.T) {
	events := append([]event{{}, {}, {}, {method: 1}}, event{ends: true}, event{ends: true}, event{ends: true})
	samples.ExpectCount(t, count(t, folder(t, fileOf(t, plain, events, 0))), account.Account{
		Records: 3, CompleteTrees: 1, UnexpectedNames: 1, Unexpected: map[string]int64{"a begin without its end": 1},
	})
}

func TestPairsOfAnotherMethodAreToldByItsName(t *testing.T) {
	events := append([]event{{method: 1}, {method: 1, ends: true}}, chain(1, testDepth)...)
	samples.ExpectCount(t, count(t, folder(t, fileOf(t, plain, events, 0))), account.Account{
		Records: 3, CompleteTrees: 1, UnexpectedNames: 1, Unexpected: map[string]int64{otherName: 1},
	})
}

func TestAnEndBeforeItsBeginIsTold(t *testing.T) {
	data := fileOf(t, plain, chain(1, testDepth), 0)
	binary.LittleEndian.PutUint64(data[len(data)-eventBytes:], 1)
	samples.ExpectCount(t, count(t, folder(t, data)), account.Account{Records: 3, PartialTrees: 1, EndBeforeStart: 1})
}

func TestWhatCannotBeUnderstoodIsGivenUpAndTheNextFileCounts(t *testing.T) {
	whole := fileOf(t, plain, chain(2, testDepth), 0)
	one := bytesOf(chain(1, testDepth))
	for name, garbled := range map[string][]byte{
		"another file":               []byte("GET / HTTP/1.1, and more than a header is long"),
		"an unknown encoding":        append(header(3), one...),
		"a method without a name":    fileOf(t, plain, []event{{method: 7}, {method: 7, ends: true}}, 0),
		"a frame of half an event":   append(header(compressedByZstd), frame(eventBytes/2, one)...),
		"a frame of nothing":         append(header(compressedByZstd), frame(0, nil)...),
		"a frame that is too long":   append(header(compressedByLzo), frame(blockBytes+eventBytes, one)...),
		"a frame stored too long":    append(header(compressedByLzo), frame(eventBytes, make([]byte, storedBytes+1))...),
		"no Zstandard":               append(header(compressedByZstd), frame(len(one), one)...),
		"no LZO1X":                   append(header(compressedByLzo), frame(len(one), one)...),
		"fewer events than told":     append(header(compressedByLzo), frame(2*len(one), literals(one))...),
		"more events than told":      append(header(compressedByLzo), frame(eventBytes, literals(one))...),
		"too many inside another":    fileOf(t, plain, make([]event, maxBegun+1), 0),
		"Zstandard of a gigabyte":    append(header(compressedByZstd), frame(blockBytes, zeros(t, 1<<30))...),
		"Zstandard of a bit more":    append(header(compressedByZstd), frame(blockBytes, zeros(t, blockBytes+1))...),
		"Zstandard, twice a frame's": append(header(compressedByZstd), frame(blockBytes, append(zeros(t, blockBytes), zeros(t, blockBytes)...))...),
	} {
		got := count(t, folder(t, garbled, whole))
		if got.Malformed != 1 || got.Records != 6 || got.CompleteTrees != 2 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestAFileThatEndsInAnEventIsMalformedOrCutOffIfItIsTheLast(t *testing.T) {
	for name, encoding := range encodings {
		whole := fileOf(t, encoding, chain(2, testDepth), 3)
		cut := whole[:len(whole)-1]
		first, last := count(t, folder(t, cut, whole)), count(t, folder(t, whole, cut))
		if first.Malformed != 1 || first.CutOff != 0 || last.Malformed != 0 || last.CutOff != 1 {
			t.Errorf("%s: %+v, %+v", name, first, last)
		}
		for _, got := range []account.Account{first, last} {
			if got.Records < 6 || got.CompleteTrees < 2 || got.Records >= 12 {
				t.Errorf("%s: %+v", name, got)
			}
		}
	}
}

func TestGarbledNamesAreMalformedLineByLine(t *testing.T) {
	d := File.Files.Decoder(samples.Method).(*decoder)
	for _, line := range []string{"", "x", "x=a", "=a", "-1=a", "16384=a", "99999999999=a", "1=" + string(make([]byte, maxName+1))} {
		if d.Entry([]byte(line), nil) {
			t.Errorf("%.20q is taken", line)
		}
	}
	name := string(make([]byte, maxName))
	for number := range maxNames / maxName {
		if !d.Entry([]byte("7="+name), nil) {
			t.Fatalf("%d names are too many", number+1)
		}
	}
	if d.Entry([]byte("7=a"), nil) {
		t.Error("names have no bound")
	}
}
