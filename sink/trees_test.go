package main

import (
	"math/rand/v2"
	"testing"
)

func kiekerRecords(trace uint64, depth int) []record {
	records := make([]record, depth)
	for i := range records {
		level := uint64(depth - 1 - i)
		records[i] = record{tree: treeKey{lo: trace}, node: node{id: level, up: level}}
	}
	return records
}

func spanRecords(trace uint64, depth int) []record {
	records := make([]record, depth)
	for i, s := range callSpans(trace, depth) {
		records[i] = record{tree: treeKey{lo: trace}, node: node{id: s.id, up: s.parent}}
	}
	return records
}

// structures are the same tests' two worlds.
var structures = map[string]struct {
	make    func() structure
	records func(trace uint64, depth int) []record
}{
	"kieker": {func() structure { return &executionChain{} }, kiekerRecords},
	"otlp":   {func() structure { return &spanChain{} }, spanRecords},
}

// inBoth runs a test for both structures: count returns what a table of depth 10 counts for the records.
func inBoth(t *testing.T, test func(t *testing.T, call func(trace uint64) []record, count func([]record) protocolCount)) {
	for name, s := range structures {
		t.Run(name, func(t *testing.T) {
			call := func(trace uint64) []record { return s.records(trace, 10) }
			test(t, call, func(records []record) protocolCount {
				var c protocolCount
				table := newTreeTable(s.make(), 10, 1000, 8<<20)
				for i := range records {
					table.add(&records[i], &c)
				}
				table.close(&c)
				return c
			})
		})
	}
}

func TestACallIsOneCompleteTree(t *testing.T) {
	inBoth(t, func(t *testing.T, call func(uint64) []record, count func([]record) protocolCount) {
		expectCount(t, count(call(1)), protocolCount{Records: 10, CompleteTrees: 1})
	})
}

func TestATreeIsCompleteInAnyOrderOfItsRecords(t *testing.T) {
	inBoth(t, func(t *testing.T, call func(uint64) []record, count func([]record) protocolCount) {
		for range 200 {
			records := call(1)
			rand.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
			expectCount(t, count(records), protocolCount{Records: 10, CompleteTrees: 1})
		}
	})
}

func TestInterleavedTreesOfManyThreadsAreComplete(t *testing.T) {
	inBoth(t, func(t *testing.T, call func(uint64) []record, count func([]record) protocolCount) {
		var calls [][]record
		for trace := range uint64(50) {
			calls = append(calls, call(trace+1))
		}
		var records []record
		for level := range 10 {
			for _, c := range calls {
				records = append(records, c[level])
			}
		}
		expectCount(t, count(records), protocolCount{Records: 500, CompleteTrees: 50})
	})
}

func TestAMissingInnerRecordOrphansTheOneBelowIt(t *testing.T) {
	inBoth(t, func(t *testing.T, call func(uint64) []record, count func([]record) protocolCount) {
		records := append(call(1)[:4:4], call(1)[5:]...)
		expectCount(t, count(records), protocolCount{Records: 9, PartialTrees: 1, Orphans: 1})
	})
}

func TestAMissingRootOrphansItsChild(t *testing.T) {
	inBoth(t, func(t *testing.T, call func(uint64) []record, count func([]record) protocolCount) {
		expectCount(t, count(call(1)[:9]), protocolCount{Records: 9, PartialTrees: 1, Orphans: 1})
	})
}

func TestAMissingLeafLeavesATreeWithoutOrphans(t *testing.T) {
	inBoth(t, func(t *testing.T, call func(uint64) []record, count func([]record) protocolCount) {
		expectCount(t, count(call(1)[1:]), protocolCount{Records: 9, PartialTrees: 1})
	})
}

func TestARecordThatArrivesTwiceIsADuplicate(t *testing.T) {
	inBoth(t, func(t *testing.T, call func(uint64) []record, count func([]record) protocolCount) {
		records := append(call(1)[:3:3], call(1)...)
		expectCount(t, count(records), protocolCount{Records: 10, CompleteTrees: 1, Duplicates: 3})
	})
}

func TestARecordOfAFinishedTreeThatArrivesAgainIsADuplicate(t *testing.T) {
	inBoth(t, func(t *testing.T, call func(uint64) []record, count func([]record) protocolCount) {
		records := append(append(call(1), call(2)...), call(1)...)
		expectCount(t, count(records), protocolCount{Records: 20, CompleteTrees: 2, Duplicates: 10})
	})
}

func TestARecordTooManyMakesAFinishedTreePartial(t *testing.T) {
	inBoth(t, func(t *testing.T, call func(uint64) []record, count func([]record) protocolCount) {
		extra := call(1)[0]
		extra.node.id = 77
		records := append(append(call(1), call(2)...), extra, extra)
		expectCount(t, count(records), protocolCount{Records: 21, CompleteTrees: 1, PartialTrees: 1, Duplicates: 1})
	})
}

func TestAForkIsNoCompleteTree(t *testing.T) {
	inBoth(t, func(t *testing.T, call func(uint64) []record, count func([]record) protocolCount) {
		records := call(1)
		records[0].node.up = records[1].node.up
		expectCount(t, count(records), protocolCount{Records: 10, PartialTrees: 1})
	})
}

func TestARecordThatEndsBeforeItStartsSpoilsItsTree(t *testing.T) {
	inBoth(t, func(t *testing.T, call func(uint64) []record, count func([]record) protocolCount) {
		records := call(1)
		records[3].backwards = true
		expectCount(t, count(records), protocolCount{Records: 10, PartialTrees: 1, EndBeforeStart: 1})
	})
}

func TestSpansThatAreEachOthersParentsAreNoTree(t *testing.T) {
	records := spanRecords(1, 10)
	records[9].node.up = records[0].node.id
	c := protocolCount{}
	table := newTreeTable(&spanChain{}, 10, 10, 1<<20)
	for i := range records {
		table.add(&records[i], &c)
	}
	table.close(&c)
	expectCount(t, c, protocolCount{Records: 10, PartialTrees: 1})
}

func TestAnExecutionBeforeTheOneAroundItHasNoParent(t *testing.T) {
	// ess 1 with eoi 0, around it ess 0 with eoi 1: by the rule the parent's eoi lies below.
	records := []record{{node: node{id: 0, up: 1}}, {node: node{id: 1, up: 0}}}
	c := protocolCount{}
	table := newTreeTable(&executionChain{}, 2, 10, 1<<20)
	for i := range records {
		table.add(&records[i], &c)
	}
	table.close(&c)
	expectCount(t, c, protocolCount{Records: 2, PartialTrees: 1, Orphans: 1})
}

func TestTheOldestOpenTreeIsEvictedAndCounted(t *testing.T) {
	inBoth(t, func(t *testing.T, call func(uint64) []record, _ func([]record) protocolCount) {
		var c protocolCount
		table := newTreeTable(structures["kieker"].make(), 10, 3, 8<<20)
		for trace := range uint64(5) {
			r := kiekerRecords(trace, 10)[9]
			table.add(&r, &c)
		}
		expectCount(t, c, protocolCount{Records: 5, EvictedTrees: 2, EvictedRecords: 2, PartialTrees: 2})
	})
}

func TestAnEndlessTreeIsEvictedInPieces(t *testing.T) {
	var c protocolCount
	table := newTreeTable(&executionChain{}, 10, 100, 8<<20)
	for i := range uint64(10_000) {
		table.add(&record{node: node{id: i, up: i % 3}}, &c)
	}
	table.close(&c)
	if c.Records != 10_000 || c.EvictedTrees != 10_000/minSurplus || c.EvictedRecords != 10_000/minSurplus*minSurplus {
		t.Errorf("counted %+v", c)
	}
}

func TestManyOpenTreesStayWithinTheirMemory(t *testing.T) {
	const limit = 1 << 20
	var c protocolCount
	table := newTreeTable(&executionChain{}, 10, 1_000_000, limit)
	for trace := range uint64(100_000) {
		for _, r := range kiekerRecords(trace, 10)[:2] {
			table.add(&r, &c)
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
	var c protocolCount
	table := newTreeTable(&executionChain{}, 2, 10, 1)
	for trace := range uint64(1000) {
		for _, r := range kiekerRecords(trace, 2) {
			table.add(&r, &c)
		}
	}
	if table.index.used != table.maxFinished || c.CompleteTrees != 1000 {
		t.Errorf("%d trees are remembered, and counted is %+v", table.index.used, c)
	}
}

func TestAPhaseBeginsWithoutOpenTrees(t *testing.T) {
	var first, second protocolCount
	table := newTreeTable(&executionChain{}, 10, 100, 8<<20)
	records := kiekerRecords(1, 10)
	for i := range records {
		if i == 4 {
			table.close(&first)
		}
		table.add(&records[i], map[bool]*protocolCount{true: &first, false: &second}[i < 4])
	}
	table.close(&second)
	expectCount(t, first, protocolCount{Records: 4, PartialTrees: 1, Orphans: 1})
	expectCount(t, second, protocolCount{Records: 6, PartialTrees: 1})
}

func TestATreeFinishedInAnEarlierPhaseStaysComplete(t *testing.T) {
	var first, second protocolCount
	table := newTreeTable(&executionChain{}, 10, 100, 8<<20)
	for _, r := range kiekerRecords(1, 10) {
		table.add(&r, &first)
	}
	table.close(&first)
	again, extra := kiekerRecords(1, 10)[2], record{tree: treeKey{lo: 1}, node: node{id: 50, up: 3}}
	table.add(&again, &second)
	table.add(&extra, &second)
	table.close(&second)
	expectCount(t, first, protocolCount{Records: 10, CompleteTrees: 1})
	expectCount(t, second, protocolCount{Records: 1, PartialTrees: 1, Orphans: 1, Duplicates: 1})
}
