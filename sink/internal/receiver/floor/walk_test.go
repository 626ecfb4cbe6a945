package floor

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"tracetax/sink/internal/account"
	"tracetax/sink/internal/samples"
)

func TestWholeTreesAreCountedHoweverTheyArrive(t *testing.T) {
	w := newWriter(methodName)
	for number := range uint64(100) {
		w.records(0, chain(1<<40+number+1, testDepth, 1000*number)...)
		w.records(1, chain(2<<40+number+1, testDepth, 1000*number)...)
	}
	for _, piece := range []int{1, 7, 64, 1 << 20} {
		samples.ExpectCount(t, count(w.data, piece), account.Account{Records: 600, CompleteTrees: 200})
	}
}

func TestARecordOfAChainHasFourBytes(t *testing.T) {
	w := newWriter(methodName)
	w.records(0, chain(1<<40+1, testDepth, 1000)...)
	before := len(w.data)
	w.records(0, chain(1<<40+2, testDepth, 2000)...)
	if size := len(w.data) - before; size != 3+foreseenBytes*testDepth {
		t.Errorf("%d records have %d bytes", testDepth, size)
	}
}

func TestWhatIsWrittenInAnyOrderIsReadAsItIs(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var all []execution
	w := newWriter(methodName, otherName)
	threads := []uint64{1 << 40, 2 << 40, 3 << 40}
	for range 2000 {
		thread := random.Uint64N(3)
		threads[thread] += random.Uint64N(4)
		e := execution{
			trace: threads[thread], method: random.Uint64N(2), order: random.Uint64N(5), depth: random.Uint64N(5),
			start: random.Uint64() >> random.UintN(64), end: random.Uint64() >> random.UintN(64),
		}
		all = append(all, e)
		w.records(thread, e)
	}
	samples.ExpectCount(t, count(w.data, 1000), direct(all))
}

func TestWhatCannotBeUnderstoodIsCountedOnceAndTheRestThrownAway(t *testing.T) {
	whole := newWriter(methodName)
	whole.records(0, chain(1<<40+1, testDepth, 0)...)
	end := newWriter(methodName)
	end.records(0, chain(1<<40+1, testDepth, 0)...)
	for name, more := range map[string][]byte{
		"an unknown kind":          {'X', 0, 0},
		"a number without an end":  {'R', 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
		"a frame that is too long": binary.AppendUvarint([]byte{'R', 0}, maxFrameBytes+1),
		"a start too late":         {'R', 0, 4, 0, 0x80, 0, 0},
		"an end too late":          {'R', 0, 4, 0, 0, 0, 0x80},
		"nothing to foresee it by": {'R', 1, 4, 0, 0, 0, 0},
		"a method without a name":  append([]byte{'R', 0, wholeBytes, 0xff, 0xff, 0xff, 0xff, 7}, make([]byte, wholeBytes-5)...),
		"a record that is cut":     {'R', 0, 3, 0, 0x40, 0},
		"a whole one that is cut":  {'R', 0, 8, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0},
		"a time of another length": {'T', 0, 1, 0},
		"a name out of turn":       {'M', 5, 1, 'x'},
		"too many threads":         append(binary.AppendUvarint([]byte{'R'}, maxThreads), 0),
	} {
		data := append(append([]byte(nil), whole.data...), more...)
		data = append(data, end.data[len(magic):]...)
		for _, piece := range []int{1, 1 << 20} {
			expected := account.Account{Records: testDepth, CompleteTrees: 1, Malformed: 1}
			if found := count(data, piece); found.Malformed != 1 || found.Records != expected.Records {
				t.Errorf("%s: %+v", name, found)
			}
		}
	}
	if found := count([]byte("GET / HTTP/1.1\r\n\r\n"), 5); found.Malformed != 1 || found.Records != 0 {
		t.Errorf("another protocol: %+v", found)
	}
}

func TestAStreamThatEndsInAFrameIsCutOff(t *testing.T) {
	w := newWriter(methodName)
	w.records(0, chain(1<<40+1, testDepth, 0)...)
	if found := count(w.data[:len(w.data)-1], 1<<20); found.CutOff != 1 || found.Malformed != 0 {
		t.Errorf("%+v", found)
	}
}

func TestARecordThatWouldComeBeforeTheFirstOfItsTraceIsNotForeseen(t *testing.T) {
	w := newWriter(methodName)
	w.records(0, execution{trace: 9, order: 0, depth: 1})
	w.frame(frameOfRecords, 0, []byte{0, 0x40, 0, 0})
	samples.ExpectCount(t, count(w.data, 1<<20), account.Account{Records: 1, PartialTrees: 1, Orphans: 1, Malformed: 1})
}
