package tree

import "unsafe"

type state uint8

const (
	free state = iota
	open
	finished
)

// none ends a list of slots.
const none int32 = -1

// chunkBytes is about how much memory is taken at once for further trees.
const chunkBytes = 1 << 20

// tree is the head of a slot; its first depth nodes lie beside it.
type tree struct {
	key        Key
	prev, next int32
	count      int32 // nodes held, those beyond the depth included
	phase      uint32
	state      state
	backwards  bool
}

// slots is the storage of trees: places of equal size in chunks, linked into lists. It holds no pointers per tree, so
// a million of them cost the garbage collector nothing.
type slots struct {
	depth    int
	chunkLog int
	heads    [][]tree
	nodes    [][]Node
	used     int32 // slots taken so far, the ones given back included
	unused   list
}

// list is a queue of slots, the oldest first.
type list struct {
	first, last int32
	len         int
}

func emptyList() list {
	return list{first: none, last: none}
}

func newSlots(depth int) slots {
	chunkLog := 0
	for slotBytes(depth)<<(chunkLog+1) <= chunkBytes {
		chunkLog++
	}
	return slots{depth: depth, chunkLog: chunkLog, unused: emptyList()}
}

// slotBytes is what one tree occupies.
func slotBytes(depth int) int64 {
	return int64(unsafe.Sizeof(tree{})) + int64(depth)*int64(unsafe.Sizeof(Node{}))
}

func (s *slots) at(slot int32) *tree {
	return &s.heads[slot>>s.chunkLog][slot&(1<<s.chunkLog-1)]
}

// held is the place of the first depth nodes of a tree.
func (s *slots) held(slot int32) []Node {
	start := int(slot&(1<<s.chunkLog-1)) * s.depth
	return s.nodes[slot>>s.chunkLog][start : start+s.depth : start+s.depth]
}

// take returns an unused slot.
func (s *slots) take() int32 {
	if slot := s.unused.first; slot != none {
		s.remove(&s.unused, slot)
		return slot
	}
	if int(s.used) == len(s.heads)<<s.chunkLog {
		s.heads = append(s.heads, make([]tree, 1<<s.chunkLog))
		s.nodes = append(s.nodes, make([]Node, s.depth<<s.chunkLog))
	}
	s.used++
	return s.used - 1
}

// giveBack takes a slot that is on no list.
func (s *slots) giveBack(slot int32) {
	s.at(slot).state = free
	s.push(&s.unused, slot)
}

func (s *slots) push(l *list, slot int32) {
	tr := s.at(slot)
	tr.prev, tr.next = l.last, none
	if l.last == none {
		l.first = slot
	} else {
		s.at(l.last).next = slot
	}
	l.last = slot
	l.len++
}

func (s *slots) remove(l *list, slot int32) {
	tr := s.at(slot)
	if tr.prev == none {
		l.first = tr.next
	} else {
		s.at(tr.prev).next = tr.next
	}
	if tr.next == none {
		l.last = tr.prev
	} else {
		s.at(tr.next).prev = tr.prev
	}
	l.len--
}
