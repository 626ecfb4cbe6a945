package main

import (
	"cmp"
	"slices"
)

// executionChain is the structure of Kieker's traces: a node's id is the execution's order index (eoi), its up the
// depth of the stack (ess). Parent is the execution one level up with the greatest eoi below one's own.
type executionChain struct {
	scratch []node
}

func (e *executionChain) complete(nodes []node) bool {
	if endsInnerFirst(nodes) {
		return true
	}
	// In a chain every level has one execution, and an inner one begins after the one around it.
	sorted := e.sorted(nodes, func(a, b node) int { return cmp.Compare(int64(a.id), int64(b.id)) })
	for level, n := range sorted {
		if n.up != uint64(level) {
			return false
		}
	}
	return true
}

// endsInnerFirst recognises the chain in the order in which a single thread writes it.
func endsInnerFirst(nodes []node) bool {
	last := len(nodes) - 1
	for i, n := range nodes {
		if n.up != uint64(last-i) || i > 0 && int64(n.id) >= int64(nodes[i-1].id) {
			return false
		}
	}
	return true
}

func (e *executionChain) orphans(nodes []node) int {
	byLevel := func(a, b node) int {
		return cmp.Or(cmp.Compare(int64(a.up), int64(b.up)), cmp.Compare(int64(a.id), int64(b.id)))
	}
	sorted := e.sorted(nodes, byLevel)
	count := 0
	for _, n := range sorted {
		if n.up == 0 {
			continue
		}
		first, found := slices.BinarySearchFunc(sorted, int64(n.up)-1, func(m node, level int64) int {
			return cmp.Compare(int64(m.up), level)
		})
		if int64(n.up) < 0 || !found || int64(sorted[first].id) >= int64(n.id) {
			count++
		}
	}
	return count
}

func (e *executionChain) sorted(nodes []node, compare func(a, b node) int) []node {
	e.scratch = append(e.scratch[:0], nodes...)
	slices.SortFunc(e.scratch, compare)
	return e.scratch
}
