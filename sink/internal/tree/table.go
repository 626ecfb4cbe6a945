// Package tree puts records together to trees, and checks whether these are the expected ones.
package tree

import "tracetax/sink/internal/account"

const (
	maxFinishedTrees = 1 << 16

	// indexBytes is what a tree costs in the index at its lowest load, and while it grows.
	indexBytes = 64
	// surplusBytes is what one record beyond the depth costs, with its tree's place in a map that is half full: every
	// tree brings the right to one.
	surplusBytes = 128
	// surplusFactor limits how many records one tree may hold, in depths; minSurplus is the least of that limit.
	surplusFactor = 4
	minSurplus    = 256
)

// Table puts records together to trees. Its memory is bounded: the oldest unfinished tree is evicted, and
// counted, when another one needs its place. The latest finished trees are remembered with their records, so that a
// record that arrives again is known as a duplicate, and one that arrives in addition makes its tree partial.
type Table struct {
	slots
	structure Structure
	ordered   Ordered // the structure, where it knows this; else nil
	phase     uint32

	index    index
	open     list
	finished list

	surplus      map[int32][]Node // nodes beyond the depth
	surplusCount int

	maxOpen, maxFinished, maxSurplus, maxCount int

	lastKey  Key
	lastSlot int32
}

// NewTable makes a table that holds at most maxOpen unfinished trees and about maxBytes of memory.
func NewTable(structure Structure, depth, maxOpen int, maxBytes int64) *Table {
	fitting := int(min(max(2, maxBytes/(slotBytes(depth)+indexBytes+surplusBytes)), 1<<30))
	maxFinished := max(1, min(maxFinishedTrees, fitting/4))
	ordered, _ := structure.(Ordered)
	return &Table{
		slots:       newSlots(depth),
		structure:   structure,
		ordered:     ordered,
		index:       newIndex(),
		open:        emptyList(),
		finished:    emptyList(),
		surplus:     map[int32][]Node{},
		maxOpen:     min(maxOpen, fitting-maxFinished),
		maxFinished: maxFinished,
		maxSurplus:  max(minSurplus, fitting),
		maxCount:    max(minSurplus, surplusFactor*depth),
		lastSlot:    none,
	}
}

// Add enters one record and counts what it means. A table of depth 0 counts records, and looks at no tree.
func (t *Table) Add(r *Record, c *account.Account) {
	if t.depth == 0 {
		c.Records += 1 + int64(r.More)
		if r.Backwards {
			c.EndBeforeStart++
		}
		return
	}
	slot := t.find(r.Tree)
	if slot != none && t.contains(slot, r.Node.ID) {
		c.Duplicates++
		return
	}
	c.Records += 1 + int64(r.More)
	if slot != none && t.at(slot).state == finished {
		slot = t.reopen(slot, c)
	}
	if slot == none {
		slot = t.begin(r.Tree, c)
	}
	tr := t.at(slot)
	if r.Backwards {
		c.EndBeforeStart++
		tr.backwards = true
	}
	if int(tr.count) >= t.depth {
		t.addSurplus(slot, r.Node, c)
		return
	}
	held := t.held(slot)
	held[tr.count] = r.Node
	tr.count++
	if int(tr.count) == t.depth && !tr.backwards && t.structure.Complete(held) {
		t.finish(slot, c)
	}
}

// AddWhole enters a tree whose records come one after the other at the beginning of these, as the thread that made them
// ended them. It counts the same as Add of each, at a fraction of the cost, and returns how many they are: 0 where it
// entered nothing, for they have to go one by one. So it is where they would reach the number of records at which the
// account closes (0 for none).
func (t *Table) AddWhole(records []Record, closeAt int64, c *account.Account) int {
	if t.ordered == nil || t.depth == 0 || len(records) < t.depth || closeAt > 0 && c.Records+int64(t.depth) >= closeAt {
		return 0
	}
	records = records[:t.depth]
	if !t.ordered.Ordered(records) || t.find(records[0].Tree) != none {
		return 0
	}
	slot := t.begin(records[0].Tree, c)
	held := t.held(slot)
	for i := range records {
		held[i] = records[i].Node
	}
	t.at(slot).count = int32(t.depth)
	c.Records += int64(t.depth)
	t.finish(slot, c)
	return t.depth
}

// Close ends the phase: what is open is partial. Finished trees stay known.
func (t *Table) Close(c *account.Account) {
	for t.open.len > 0 {
		t.drop(t.open.first, c)
	}
	t.phase++
}

func (t *Table) find(key Key) int32 {
	if t.lastSlot != none && t.lastKey == key {
		return t.lastSlot
	}
	slot := t.index.find(key, &t.slots)
	if slot != none {
		t.lastKey, t.lastSlot = key, slot
	}
	return slot
}

func (t *Table) contains(slot int32, id uint64) bool {
	count := int(t.at(slot).count)
	for _, n := range t.held(slot)[:min(count, t.depth)] {
		if n.ID == id {
			return true
		}
	}
	if count > t.depth {
		for _, n := range t.surplus[slot] {
			if n.ID == id {
				return true
			}
		}
	}
	return false
}

// all returns every node of the tree.
func (t *Table) all(slot int32) []Node {
	held := t.held(slot)[:min(int(t.at(slot).count), t.depth)]
	if surplus := t.surplus[slot]; len(surplus) > 0 {
		return append(append(make([]Node, 0, len(held)+len(surplus)), held...), surplus...)
	}
	return held
}

// begin opens a tree, in the place of the oldest open one if there is no other.
func (t *Table) begin(key Key, c *account.Account) int32 {
	t.makeRoom(c)
	slot := t.take()
	*t.at(slot) = tree{key: key, phase: t.phase, state: open}
	t.push(&t.open, slot)
	t.index.put(key, slot)
	t.lastKey, t.lastSlot = key, slot
	return slot
}

func (t *Table) makeRoom(c *account.Account) {
	if t.open.len >= t.maxOpen {
		t.evict(t.open.first, c)
	}
}

func (t *Table) finish(slot int32, c *account.Account) {
	c.CompleteTrees++
	t.remove(&t.open, slot)
	if t.finished.len >= t.maxFinished {
		oldest := t.finished.first
		t.remove(&t.finished, oldest)
		t.release(oldest)
	}
	t.at(slot).state = finished
	t.push(&t.finished, slot)
}

// reopen takes back that a tree is complete, for one more record has come. The account of an earlier phase is closed:
// there the tree stays complete, and the record begins another one.
func (t *Table) reopen(slot int32, c *account.Account) int32 {
	t.remove(&t.finished, slot)
	if t.at(slot).phase != t.phase {
		t.release(slot)
		return none
	}
	t.makeRoom(c)
	c.CompleteTrees--
	t.at(slot).state = open
	t.push(&t.open, slot)
	return slot
}

func (t *Table) addSurplus(slot int32, n Node, c *account.Account) {
	t.surplus[slot] = append(t.surplus[slot], n)
	t.surplusCount++
	tr := t.at(slot)
	tr.count++
	if int(tr.count) >= t.maxCount || t.surplusCount >= t.maxSurplus {
		t.evict(slot, c)
	}
}

func (t *Table) evict(slot int32, c *account.Account) {
	c.EvictedTrees++
	c.EvictedRecords += int64(t.at(slot).count)
	t.drop(slot, c)
}

// drop closes an open tree that did not become complete.
func (t *Table) drop(slot int32, c *account.Account) {
	c.PartialTrees++
	c.Orphans += int64(t.structure.Orphans(t.all(slot)))
	t.remove(&t.open, slot)
	t.release(slot)
}

// release forgets a tree that is on no list any more.
func (t *Table) release(slot int32) {
	t.index.remove(t.at(slot).key, slot)
	if surplus, ok := t.surplus[slot]; ok {
		t.surplusCount -= len(surplus)
		delete(t.surplus, slot)
	}
	if t.lastSlot == slot {
		t.lastSlot = none
	}
	t.giveBack(slot)
}
