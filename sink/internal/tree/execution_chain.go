package tree

import (
	"cmp"
	"math"
	"slices"
)

// ExecutionChain is the structure of Kieker's traces: a node's id is the execution's order index (eoi), its up the
// depth of the stack (ess). Parent is the execution one level up with the greatest eoi below one's own.
type ExecutionChain struct {
	scratch []Node
}

// Complete reports whether the nodes form one chain.
func (e *ExecutionChain) Complete(nodes []Node) bool {
	if endsInnerFirst(nodes) {
		return true
	}
	// In a chain every level has one execution, and an inner one begins after the one around it.
	sorted := e.sorted(nodes, func(a, b Node) int { return cmp.Compare(int64(a.ID), int64(b.ID)) })
	for level, n := range sorted {
		if n.Up != uint64(level) {
			return false
		}
	}
	return true
}

// Ordered recognises the chain in the order in which a single thread writes it: see endsInnerFirst.
func (e *ExecutionChain) Ordered(records []Record) bool {
	last, above := len(records)-1, int64(math.MaxInt64)
	for i := range records {
		r := &records[i]
		id := int64(r.Node.ID)
		if r.Node.Up != uint64(last-i) || id >= above || r.Tree != records[0].Tree || r.Backwards || r.More != 0 {
			return false
		}
		above = id
	}
	return true
}

// endsInnerFirst recognises the chain in the order in which a single thread writes it.
func endsInnerFirst(nodes []Node) bool {
	last := len(nodes) - 1
	for i, n := range nodes {
		if n.Up != uint64(last-i) || i > 0 && int64(n.ID) >= int64(nodes[i-1].ID) {
			return false
		}
	}
	return true
}

// Orphans counts the nodes whose parent is not there.
func (e *ExecutionChain) Orphans(nodes []Node) int {
	byLevel := func(a, b Node) int {
		return cmp.Or(cmp.Compare(int64(a.Up), int64(b.Up)), cmp.Compare(int64(a.ID), int64(b.ID)))
	}
	sorted := e.sorted(nodes, byLevel)
	count := 0
	for _, n := range sorted {
		if n.Up == 0 {
			continue
		}
		first, found := slices.BinarySearchFunc(sorted, int64(n.Up)-1, func(m Node, level int64) int {
			return cmp.Compare(int64(m.Up), level)
		})
		if int64(n.Up) < 0 || !found || int64(sorted[first].ID) >= int64(n.ID) {
			count++
		}
	}
	return count
}

func (e *ExecutionChain) sorted(nodes []Node, compare func(a, b Node) int) []Node {
	e.scratch = append(e.scratch[:0], nodes...)
	slices.SortFunc(e.scratch, compare)
	return e.scratch
}
