package ledger

import (
	"strings"

	"tracetax/sink/internal/account"
	"tracetax/sink/internal/tree"
)

const (
	// maxNumbers names, with so many bytes together, are known at most.
	maxNumbers    = 1 << 14
	maxNamesBytes = 1 << 20
	// maxNameless records wait for their names at most.
	maxNameless = 1 << 14
	// nameless is what records are counted as whose names have never come.
	nameless = "without a name"
)

// Numbered is a record that has a number for its name.
type Numbered struct {
	tree.Record
	Number uint64
}

// Name is the name that a number stands for.
type Name struct {
	Number uint64
	Name   []byte
}

// knownName is a name, judged once for all records with its number.
type knownName struct {
	number   uint64
	text     []byte // as much of it as is told
	expected bool
}

// nameTable gives records their names, in a protocol that sends numbers with its records and the names apart from
// them: on another connection, and perhaps later. Records whose names are not known yet wait; those that still do when
// an account is closed are unexpected. The ledger that it belongs to guards it.
type nameTable struct {
	expected func(name []byte) bool
	names    map[uint64]*knownName
	bytes    int
	latest   *knownName // most records have the number of the one before
	waiting  []Numbered
}

// newNameTable makes an empty table; expected says whether a name is that of the expected method.
func newNameTable(expected func(name []byte) bool) *nameTable {
	return &nameTable{expected: expected, names: map[uint64]*knownName{}}
}

// resolve learns the names of a batch, and makes its numbered records and those that have waited for these names into
// expected and unexpected ones.
func (t *nameTable) resolve(b *Batch) {
	for _, n := range b.Names {
		t.learn(n, b)
	}
	for i := range b.Numbered {
		n := &b.Numbered[i]
		if known := t.find(n.Number); known != nil {
			known.enter(n, b)
		} else if len(t.waiting) < maxNameless {
			t.waiting = append(t.waiting, *n)
		} else {
			b.Unexpected.Add([]byte(nameless))
		}
	}
}

func (t *nameTable) find(number uint64) *knownName {
	if t.latest == nil || t.latest.number != number {
		known := t.names[number]
		if known == nil {
			return nil
		}
		t.latest = known
	}
	return t.latest
}

// learn enters a name. The newest one of a number holds; one for which there is no room is malformed.
func (t *nameTable) learn(n Name, b *Batch) {
	told := n.Name[:min(len(n.Name), account.MaxNameLength)]
	known := t.names[n.Number]
	if known == nil && len(t.names) >= maxNumbers || t.bytes+len(told) > maxNamesBytes {
		b.Malformed++
		return
	}
	t.bytes += len(told)
	if known != nil {
		t.bytes -= len(known.text)
		known.text, known.expected = append([]byte(nil), told...), t.expected(n.Name)
		return
	}
	known = &knownName{number: n.Number, text: append([]byte(nil), told...), expected: t.expected(n.Name)}
	t.names[n.Number] = known
	left := t.waiting[:0]
	for i := range t.waiting {
		if t.waiting[i].Number == n.Number {
			known.enter(&t.waiting[i], b)
		} else {
			left = append(left, t.waiting[i])
		}
	}
	t.waiting = left
}

func (k *knownName) enter(n *Numbered, b *Batch) {
	if k.expected {
		b.Records = append(b.Records, n.Record)
	} else {
		b.Unexpected.Add(k.text)
	}
}

// giveUp lets no record wait any longer, and returns how many have.
func (t *nameTable) giveUp() int64 {
	given := int64(len(t.waiting))
	t.waiting = t.waiting[:0]
	return given
}

// NamesMethod reports whether a Kieker signature, such as "public long a.B.run(long,int)", is of the named method.
func NamesMethod(signature, name string) bool {
	for at := 0; ; {
		found := strings.Index(signature[at:], name+"(")
		if found < 0 {
			return false
		}
		at += found
		if at == 0 || signature[at-1] == ' ' || signature[at-1] == '.' {
			return true
		}
		at++
	}
}
