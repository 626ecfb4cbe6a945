package scouter

import (
	"tracetax/sink/internal/clock"
	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/message"
	"tracetax/sink/internal/tree"
)

// Types of packs. Of the others, only what they are is known, and how the bytes of a heartbeat lie.
const (
	packXLog     = 21
	packProfile  = 26
	packProfile2 = 27
	packText     = 50
	packObject   = 80

	heartbeats  = "heartbeats"
	otherSignal = "other"
)

// otherPacks are packs that are no records and introduce none, and what their bytes count as.
var otherPacks = map[byte]string{
	10:         otherSignal,    // map
	22:         otherSignal,    // transaction left out by sampling
	60:         ledger.Metrics, // counters
	61:         ledger.Metrics, // status
	62:         otherSignal,    // stack
	63:         ledger.Metrics, // summary
	64:         otherSignal,    // batch
	65:         ledger.Metrics, // counters of calls between services
	70:         otherSignal,    // alert
	packObject: heartbeats,
}

// Steps of a profile that are executions of a method.
const (
	stepMethod  = 1
	stepMethod2 = 10
)

// stepLayouts are the fields of a profile's steps behind parent, index, start and CPU: there is no length to skip
// another one by.
var stepLayouts = map[byte]string{
	stepMethod:  "ddd",
	stepMethod2: "dddd",
	2:           "dddtd",   // SQL
	3:           "t",       // message
	5:           "tddd",    // socket
	6:           "dddddo",  // call of an API
	7:           "ddddd",   // another thread
	8:           "dddtdb",  // SQL
	9:           "ddd",     // hashed message
	12:          "alttltt", // stack
	13:          "dddddo",  // dispatch
	14:          "dddb",    // another thread, possibly
	15:          "dddddob", // call of an API
	16:          "dddtdbd", // SQL
	17:          "dddt",    // message with parameters
}

// walk finds the records in datagrams: the steps of a profile, or the transactions themselves.
type walk struct {
	ledger *ledger.Ledger
	batch  *ledger.Batch
	// services says that the transactions (XLOG) are the records: then nothing inside them is looked at.
	services  bool
	fragments *fragments

	ours    bool   // the datagram carries records, or what belongs to them
	signal  string // or else this
	refused bool   // there was no memory for a part of a pack
	whole   []byte // a pack that was put together
}

// datagram enters one datagram.
func (w *walk) datagram(data []byte) {
	b := w.batch
	b.ArrivalNs = clock.MonotonicNs()
	if late := w.fragments.expire(b.ArrivalNs); late > 0 {
		b.CutOff += late
		w.ledger.Apply(b)
	}
	w.ours, w.signal, w.refused = false, otherSignal, false
	if !w.packs(data) {
		b.Malformed++
		w.ours = true
	}
	if w.refused {
		w.ledger.Refuse()
	}
	if !w.ours {
		w.ledger.Other(w.signal, int64(len(data)))
		return
	}
	b.Bytes += int64(len(data))
	b.Requests++
	w.ledger.Apply(b)
	if w.whole != nil {
		w.fragments.release(w.whole)
		w.whole = nil
	}
}

// packs enters what a datagram holds, and reports whether it was understood.
func (w *walk) packs(data []byte) bool {
	s := &scan{data: data}
	switch string(s.bytes(4)) {
	case "CAFE", "JAVA":
		return w.pack(s)
	case "CAFN", "JAVN":
		for range uint16(s.number(2)) {
			if !w.pack(s) {
				return false
			}
			if s.opaque {
				return true
			}
		}
		return !s.failed
	case "CAFM", "JMTU":
		w.ours = true
		return w.fragment(s)
	default:
		return false
	}
}

// pack enters one, and reports whether it was understood.
func (w *walk) pack(s *scan) bool {
	kind := s.byte()
	signal, other := otherPacks[kind]
	switch {
	case other && kind == packObject:
		s.skip("tdtttbd")
		s.value(0)
		w.signal = signal
	case other:
		w.signal, s.opaque = signal, true
	case kind == packXLog:
		w.ours = true
		return w.transaction(&scan{data: s.blob()})
	case kind == packProfile || kind == packProfile2:
		w.ours = true
		return w.profile(s, kind)
	case kind == packText:
		w.ours = true
		category, hash, name := s.blob(), s.number(4), s.blob()
		if !s.failed && w.names(category) {
			w.batch.Names = append(w.batch.Names, ledger.Name{Number: uint64(hash), Name: name})
		}
	default:
		return false
	}
	return !s.failed
}

// names reports whether texts of a category are names of records.
func (w *walk) names(category []byte) bool {
	return string(category) == "service" && w.services || string(category) == "method" && !w.services
}

// transaction enters an XLOG: end, object, service, id, and much that is not looked at.
func (w *walk) transaction(s *scan) bool {
	s.skip("dd")
	service, id := s.decimal(), s.long()
	if !s.failed && w.services {
		w.enter(service, tree.Record{Tree: tree.Key{Lo: id}, Node: tree.Node{ID: 1}})
	}
	return !s.failed
}

// profile enters the steps of a transaction, or some of them: time, object, service, id, steps. Version 2 says more
// behind them.
func (w *walk) profile(s *scan, kind byte) bool {
	s.skip("ddd")
	id, steps := s.long(), s.blob()
	if kind == packProfile2 {
		s.skip("lbbb")
	}
	if s.failed {
		return false
	}
	return w.services || w.steps(tree.Key{Lo: id}, &scan{data: steps})
}

// steps enters the executions among the steps of a profile. A step's index is its identity in the transaction, and
// its parent, from 0 on, the index of the step around it.
func (w *walk) steps(key tree.Key, s *scan) bool {
	for len(s.data) > 0 {
		kind := s.byte()
		layout, known := stepLayouts[kind]
		if !known {
			return false
		}
		parent, index := s.decimal(), s.decimal()
		s.skip("dd")
		if kind != stepMethod && kind != stepMethod2 {
			s.skip(layout)
			continue
		}
		hash, elapsed := s.decimal(), s.decimal()
		s.skip(layout[2:])
		if s.failed {
			return false
		}
		w.enter(hash, tree.Record{
			Tree:      key,
			Node:      tree.Node{ID: uint64(index + 1), Up: uint64(parent + 1)},
			Backwards: elapsed < 0,
		})
	}
	return !s.failed
}

// enter takes a record whose name has this hash.
func (w *walk) enter(hash int64, r tree.Record) {
	w.batch.Numbered = append(w.batch.Numbered, ledger.Numbered{Record: r, Number: uint64(hash)})
	if len(w.batch.Numbered) == ledger.BatchRecords {
		w.ledger.Apply(w.batch)
	}
}

// fragment enters a part of a pack that is too large for one datagram, and the pack when it is whole: object, pack,
// parts, number of this one, its bytes.
func (w *walk) fragment(s *scan) bool {
	key := fragmentKey{object: s.number(4), pack: s.long()}
	parts, number, part := int(s.number(2)), int(s.number(2)), s.blob()
	if s.failed {
		return false
	}
	whole, err := w.fragments.add(key, parts, number, part, w.batch)
	if err == message.ErrBusy {
		w.refused = true
		return true
	}
	if whole == nil {
		return err == nil
	}
	w.whole = whole
	return w.pack(&scan{data: whole})
}
