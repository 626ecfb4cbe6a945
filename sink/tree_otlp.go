package main

import (
	"cmp"
	"slices"
)

// spanChain is the structure of OpenTelemetry's traces: a node's id is its span id, its up the parent's span id, and
// 0 where there is no parent.
type spanChain struct {
	scratch []node
}

func (s *spanChain) complete(nodes []node) bool {
	if parentsFollow(nodes) {
		return true
	}
	byParent := s.sorted(nodes, func(n node) uint64 { return n.up })
	if byParent[0].up != 0 {
		return false
	}
	// Ids are distinct in a tree: a way from the root over as many spans as there are has met each of them once.
	at := byParent[0].id
	for range len(nodes) - 1 {
		child, found := slices.BinarySearchFunc(byParent, at, func(n node, parent uint64) int {
			return cmp.Compare(n.up, parent)
		})
		if !found {
			return false
		}
		at = byParent[child].id
	}
	return true
}

// parentsFollow recognises the chain in the order in which a single thread ends it, the inner span first.
func parentsFollow(nodes []node) bool {
	last := len(nodes) - 1
	for i, n := range nodes[:last] {
		if n.up != nodes[i+1].id {
			return false
		}
	}
	return nodes[last].up == 0
}

func (s *spanChain) orphans(nodes []node) int {
	byID := s.sorted(nodes, func(n node) uint64 { return n.id })
	count := 0
	for _, n := range byID {
		if n.up == 0 {
			continue
		}
		_, found := slices.BinarySearchFunc(byID, n.up, func(m node, id uint64) int { return cmp.Compare(m.id, id) })
		if !found {
			count++
		}
	}
	return count
}

func (s *spanChain) sorted(nodes []node, by func(node) uint64) []node {
	s.scratch = append(s.scratch[:0], nodes...)
	slices.SortFunc(s.scratch, func(a, b node) int { return cmp.Compare(by(a), by(b)) })
	return s.scratch
}
