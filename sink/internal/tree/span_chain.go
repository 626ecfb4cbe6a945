package tree

import (
	"cmp"
	"slices"
)

// SpanChain is the structure of OpenTelemetry's traces: a node's id is its span id, its up the parent's span id, and
// 0 where there is no parent.
type SpanChain struct {
	scratch []Node
}

// Complete reports whether the nodes form one chain.
func (s *SpanChain) Complete(nodes []Node) bool {
	if parentsFollow(nodes) {
		return true
	}
	byParent := s.sorted(nodes, func(n Node) uint64 { return n.Up })
	if byParent[0].Up != 0 {
		return false
	}
	// Ids are distinct in a tree: a way from the root over as many spans as there are has met each of them once.
	at := byParent[0].ID
	for range len(nodes) - 1 {
		child, found := slices.BinarySearchFunc(byParent, at, func(n Node, parent uint64) int {
			return cmp.Compare(n.Up, parent)
		})
		if !found {
			return false
		}
		at = byParent[child].ID
	}
	return true
}

// parentsFollow recognises the chain in the order in which a single thread ends it, the inner span first.
func parentsFollow(nodes []Node) bool {
	last := len(nodes) - 1
	for i, n := range nodes[:last] {
		if n.Up != nodes[i+1].ID {
			return false
		}
	}
	return nodes[last].Up == 0
}

// Orphans counts the nodes whose parent is not there.
func (s *SpanChain) Orphans(nodes []Node) int {
	byID := s.sorted(nodes, func(n Node) uint64 { return n.ID })
	count := 0
	for _, n := range byID {
		if n.Up == 0 {
			continue
		}
		_, found := slices.BinarySearchFunc(byID, n.Up, func(m Node, id uint64) int { return cmp.Compare(m.ID, id) })
		if !found {
			count++
		}
	}
	return count
}

func (s *SpanChain) sorted(nodes []Node, by func(Node) uint64) []Node {
	s.scratch = append(s.scratch[:0], nodes...)
	slices.SortFunc(s.scratch, func(a, b Node) int { return cmp.Compare(by(a), by(b)) })
	return s.scratch
}
