package tree

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"tracetax/sink/internal/account"
	"tracetax/sink/internal/samples"
)

func kiekerRecords(trace uint64, depth int) []Record {
	records := make([]Record, depth)
	for i := range records {
		level := uint64(depth - 1 - i)
		records[i] = Record{Tree: Key{Lo: trace}, Node: Node{ID: level, Up: level}}
	}
	return records
}

func spanRecords(trace uint64, depth int) []Record {
	records := make([]Record, depth)
	for i, s := range samples.CallSpans(trace, depth) {
		records[i] = Record{Tree: Key{Lo: trace}, Node: Node{ID: s.ID, Up: s.Parent}}
	}
	return records
}

// structures are the same tests' two worlds.
var structures = map[string]struct {
	make    func() Structure
	records func(trace uint64, depth int) []Record
}{
	"kieker": {func() Structure { return &ExecutionChain{} }, kiekerRecords},
	"otlp":   {func() Structure { return &SpanChain{} }, spanRecords},
}

// inBoth runs a test for both structures: count returns what a table of depth 10 counts for the records.
func inBoth(t *testing.T, test func(t *testing.T, call func(trace uint64) []Record, count func([]Record) account.Account)) {
	for name, s := range structures {
		t.Run(name, func(t *testing.T) {
			call := func(trace uint64) []Record { return s.records(trace, 10) }
			test(t, call, func(records []Record) account.Account {
				var c account.Account
				table := NewTable(s.make(), 10, 1000, 8<<20)
				for i := range records {
					table.Add(&records[i], &c)
				}
				table.Close(&c)
				return c
			})
		})
	}
}

func TestACallIsOneCompleteTree(t *testing.T) {
	inBoth(t, func(t *testing.T, call func(uint64) []Record, count func([]Record) account.Account) {
		samples.ExpectCount(t, count(call(1)), account.Account{Records: 10, CompleteTrees: 1})
	})
}

func TestWithoutADepthRecordsAreCountedAndNoTree(t *testing.T) {
	var c account.Account
	table := NewTable(&SpanChain{}, 0, 1000, 8<<20)
	records := append(spanRecords(1, 3), spanRecords(2, 5)...)
	records[0].Backwards = true
	for i := range records {
		table.Add(&records[i], &c)
	}
	table.Close(&c)
	samples.ExpectCount(t, c, account.Account{Records: 8, EndBeforeStart: 1})
}

func TestATreeIsCompleteInAnyOrderOfItsRecords(t *testing.T) {
	inBoth(t, func(t *testing.T, call func(uint64) []Record, count func([]Record) account.Account) {
		for range 200 {
			records := call(1)
			rand.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
			samples.ExpectCount(t, count(records), account.Account{Records: 10, CompleteTrees: 1})
		}
	})
}

func TestInterleavedTreesOfManyThreadsAreComplete(t *testing.T) {
	inBoth(t, func(t *testing.T, call func(uint64) []Record, count func([]Record) account.Account) {
		var calls [][]Record
		for trace := range uint64(50) {
			calls = append(calls, call(trace+1))
		}
		var records []Record
		for level := range 10 {
			for _, c := range calls {
				records = append(records, c[level])
			}
		}
		samples.ExpectCount(t, count(records), account.Account{Records: 500, CompleteTrees: 50})
	})
}

func TestAMissingInnerRecordOrphansTheOneBelowIt(t *testing.T) {
	inBoth(t, func(t *testing.T, call func(uint64) []Record, count func([]Record) account.Account) {
		records := append(call(1)[:4:4], call(1)[5:]...)
		samples.ExpectCount(t, count(records), account.Account{Records: 9, PartialTrees: 1, Orphans: 1})
	})
}

func TestAMissingRootOrphansItsChild(t *testing.T) {
	inBoth(t, func(t *testing.T, call func(uint64) []Record, count func([]Record) account.Account) {
		samples.ExpectCount(t, count(call(1)[:9]), account.Account{Records: 9, PartialTrees: 1, Orphans: 1})
	})
}

func TestAMissingLeafLeavesATreeWithoutOrphans(t *testing.T) {
	inBoth(t, func(t *testing.T, call func(uint64) []Record, count func([]Record) account.Account) {
		samples.ExpectCount(t, count(call(1)[1:]), account.Account{Records: 9, PartialTrees: 1})
	})
}

func TestARecordThatArrivesTwiceIsADuplicate(t *testing.T) {
	inBoth(t, func(t *testing.T, call func(uint64) []Record, count func([]Record) account.Account) {
		records := append(call(1)[:3:3], call(1)...)
		samples.ExpectCount(t, count(records), account.Account{Records: 10, CompleteTrees: 1, Duplicates: 3})
	})
}

func TestARecordOfAFinishedTreeThatArrivesAgainIsADuplicate(t *testing.T) {
	inBoth(t, func(t *testing.T, call func(uint64) []Record, count func([]Record) account.Account) {
		records := append(append(call(1), call(2)...), call(1)...)
		samples.ExpectCount(t, count(records), account.Account{Records: 20, CompleteTrees: 2, Duplicates: 10})
	})
}

func TestARecordTooManyMakesAFinishedTreePartial(t *testing.T) {
	inBoth(t, func(t *testing.T, call func(uint64) []Record, count func([]Record) account.Account) {
		extra := call(1)[0]
		extra.Node.ID = 77
		records := append(append(call(1), call(2)...), extra, extra)
		samples.ExpectCount(t, count(records), account.Account{Records: 21, CompleteTrees: 1, PartialTrees: 1, Duplicates: 1})
	})
}

func TestAForkIsNoCompleteTree(t *testing.T) {
	inBoth(t, func(t *testing.T, call func(uint64) []Record, count func([]Record) account.Account) {
		records := call(1)
		records[0].Node.Up = records[1].Node.Up
		samples.ExpectCount(t, count(records), account.Account{Records: 10, PartialTrees: 1})
	})
}

func TestARecordThatEndsBeforeItStartsSpoilsItsTree(t *testing.T) {
	inBoth(t, func(t *testing.T, call func(uint64) []Record, count func([]Record) account.Account) {
		records := call(1)
		records[3].Backwards = true
		samples.ExpectCount(t, count(records), account.Account{Records: 10, PartialTrees: 1, EndBeforeStart: 1})
	})
}

func TestSpansThatAreEachOthersParentsAreNoTree(t *testing.T) {
	records := spanRecords(1, 10)
	records[9].Node.Up = records[0].Node.ID
	c := account.Account{}
	table := NewTable(&SpanChain{}, 10, 10, 1<<20)
	for i := range records {
		table.Add(&records[i], &c)
	}
	table.Close(&c)
	samples.ExpectCount(t, c, account.Account{Records: 10, PartialTrees: 1})
}

func TestAnExecutionBeforeTheOneAroundItHasNoParent(t *testing.T) {
	// ess 1 with eoi 0, around it ess 0 with eoi 1: by the rule the parent's eoi lies below.
	records := []Record{{Node: Node{ID: 0, Up: 1}}, {Node: Node{ID: 1, Up: 0}}}
	c := account.Account{}
	table := NewTable(&ExecutionChain{}, 2, 10, 1<<20)
	for i := range records {
		table.Add(&records[i], &c)
	}
	table.Close(&c)
	samples.ExpectCount(t, c, account.Account{Records: 2, PartialTrees: 1, Orphans: 1})
}

func TestTheOldestOpenTreeIsEvictedAndCounted(t *testing.T) {
	inBoth(t, func(t *testing.T, call func(uint64) []Record, _ func([]Record) account.Account) {
		var c account.Account
		table := NewTable(structures["kieker"].make(), 10, 3, 8<<20)
		for trace := range uint64(5) {
			r := kiekerRecords(trace, 10)[9]
			table.Add(&r, &c)
		}
		samples.ExpectCount(t, c, account.Account{Records: 5, EvictedTrees: 2, EvictedRecords: 2, PartialTrees: 2})
	})
}

func TestAnEndlessTreeIsEvictedInPieces(t *testing.T) {
	var c account.Account
	table := NewTable(&ExecutionChain{}, 10, 100, 8<<20)
	for i := range uint64(10_000) {
		table.Add(&Record{Node: Node{ID: i, Up: i % 3}}, &c)
	}
	table.Close(&c)
	if c.Records != 10_000 || c.EvictedTrees != 10_000/minSurplus || c.EvictedRecords != 10_000/minSurplus*minSurplus {
		t.Errorf("counted %+v", c)
	}
}

func TestManyOpenTreesStayWithinTheirMemory(t *testing.T) {
	const limit = 1 << 20
	var c account.Account
	table := NewTable(&ExecutionChain{}, 10, 1_000_000, limit)
	for trace := range uint64(100_000) {
		for _, r := range kiekerRecords(trace, 10)[:2] {
			table.Add(&r, &c)
		}
	}
	held := int64(len(table.heads)<<table.chunkLog)*slotBytes(10) + int64(table.index.used)*indexBytes
	if held > 2*limit {
		t.Errorf("%d bytes are held where %d are allowed", held, limit)
	}
	if open := int64(table.open.len); c.EvictedTrees+open != 100_000 || c.EvictedRecords != 2*c.EvictedTrees {
		t.Errorf("%d trees are open, and counted is %+v", open, c)
	}
}

func TestFinishedTreesBeyondTheMemoryOfThemAreForgotten(t *testing.T) {
	var c account.Account
	table := NewTable(&ExecutionChain{}, 2, 10, 1)
	for trace := range uint64(1000) {
		for _, r := range kiekerRecords(trace, 2) {
			table.Add(&r, &c)
		}
	}
	if table.index.used != table.maxFinished || c.CompleteTrees != 1000 {
		t.Errorf("%d trees are remembered, and counted is %+v", table.index.used, c)
	}
}

func TestAPhaseBeginsWithoutOpenTrees(t *testing.T) {
	var first, second account.Account
	table := NewTable(&ExecutionChain{}, 10, 100, 8<<20)
	records := kiekerRecords(1, 10)
	for i := range records {
		if i == 4 {
			table.Close(&first)
		}
		table.Add(&records[i], map[bool]*account.Account{true: &first, false: &second}[i < 4])
	}
	table.Close(&second)
	samples.ExpectCount(t, first, account.Account{Records: 4, PartialTrees: 1, Orphans: 1})
	samples.ExpectCount(t, second, account.Account{Records: 6, PartialTrees: 1})
}

func TestATreeFinishedInAnEarlierPhaseStaysComplete(t *testing.T) {
	var first, second account.Account
	table := NewTable(&ExecutionChain{}, 10, 100, 8<<20)
	for _, r := range kiekerRecords(1, 10) {
		table.Add(&r, &first)
	}
	table.Close(&first)
	again, extra := kiekerRecords(1, 10)[2], Record{Tree: Key{Lo: 1}, Node: Node{ID: 50, Up: 3}}
	table.Add(&again, &second)
	table.Add(&extra, &second)
	table.Close(&second)
	samples.ExpectCount(t, first, account.Account{Records: 10, CompleteTrees: 1})
	samples.ExpectCount(t, second, account.Account{Records: 1, PartialTrees: 1, Orphans: 1, Duplicates: 1})
}

// TestWholeTreesAreCountedAsTheirRecordsAre enters the same records one by one, and whole where that is possible.
func TestWholeTreesAreCountedAsTheirRecordsAre(t *testing.T) {
	const depth, closeAt = 3, 900
	random := rand.New(rand.NewPCG(3, 4))
	var records []Record
	for number := range uint64(600) {
		key := Key{Lo: number - random.Uint64N(2)*random.Uint64N(min(number, 40)+1)}
		for level := range uint64(depth) {
			if random.IntN(30) == 0 {
				continue
			}
			place := depth - 1 - level
			node := Node{ID: place + random.Uint64N(40)/39, Up: place}
			records = append(records, Record{Tree: key, Node: node, Backwards: random.IntN(50) == 0})
		}
	}
	for _, memory := range []int64{4 << 10, 8 << 20} {
		single, whole := NewTable(&ExecutionChain{}, depth, 20, memory), NewTable(&ExecutionChain{}, depth, 20, memory)
		var expected, found account.Account
		together := 0
		for i := 0; i < len(records); {
			size := whole.AddWhole(records[i:], closeAt, &found)
			if size == 0 {
				whole.Add(&records[i], &found)
				size = 1
			} else {
				together++
			}
			for range size {
				single.Add(&records[i], &expected)
				i++
			}
			if !reflect.DeepEqual(found, expected) {
				t.Fatalf("after %d records: %+v, one by one %+v", i, found, expected)
			}
		}
		if together < 100 {
			t.Errorf("only %d trees came whole", together)
		}
	}
}
