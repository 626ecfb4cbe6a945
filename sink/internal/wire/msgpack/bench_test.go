package msgpack

import (
	"testing"

	"github.com/tinylib/msgp/msgp"

	"tracetax/sink/internal/samples"
)

// spansOf is a message as Datadog's tracers for Java write it: one trace of so many spans, which are maps.
func spansOf(spans int) []byte {
	message := msgp.AppendArrayHeader(nil, uint32(spans))
	for i := range uint64(spans) {
		message = msgp.AppendMapHeader(message, 12)
		for _, pair := range [][2]string{
			{"service", "tracetax"}, {"name", "trace.annotation"}, {"resource", "MonitoredClass.monitoredMethod"},
		} {
			message = msgp.AppendString(msgp.AppendString(message, pair[0]), pair[1])
		}
		for _, name := range []string{"trace_id", "span_id", "parent_id", "start"} {
			message = msgp.AppendUint64(msgp.AppendString(message, name), 1<<62+i)
		}
		message = msgp.AppendInt64(msgp.AppendString(message, "duration"), 1000)
		message = msgp.AppendNil(msgp.AppendString(message, "type"))
		message = msgp.AppendInt64(msgp.AppendString(message, "error"), 0)
		message = msgp.AppendMapHeader(msgp.AppendString(message, "metrics"), 2)
		message = msgp.AppendInt64(msgp.AppendString(message, "_sampling_priority_v1"), 1)
		message = msgp.AppendInt64(msgp.AppendString(message, "thread.id"), 1)
		message = msgp.AppendMapHeader(msgp.AppendString(message, "meta"), 2)
		for _, text := range []string{"thread.name", "main", "component", "trace"} {
			message = msgp.AppendString(message, text)
		}
	}
	return message
}

// BenchmarkSpan reads of each span what places it in its tree, by the scan and by the library's functions.
func BenchmarkSpan(b *testing.B) {
	const spans = 1000
	message := spansOf(spans)
	var sum uint64
	for name, read := range map[string]func([]byte) uint64{"scan": byScan, "library": byLibrary} {
		b.Run(name, func(b *testing.B) {
			var cpu samples.CPUTime
			counted := 0
			for ; b.Loop(); counted++ {
				if counted%spans == 0 {
					cpu.Begin()
					sum += read(message)
					cpu.End()
				}
			}
			cpu.Report(b, counted)
		})
	}
	if byScan(message) != byLibrary(message) || sum == 0 {
		b.Fatal("they read something else")
	}
}

func byScan(message []byte) (sum uint64) {
	s := &Scan{Data: message}
	for range s.Array() {
		for range s.Pairs() {
			switch string(s.Text()) {
			case "resource":
				sum += uint64(len(s.Text()))
			case "trace_id", "span_id", "parent_id", "duration":
				number, _ := s.Number()
				sum += number
			default:
				s.Skip()
			}
		}
	}
	return sum
}

func byLibrary(message []byte) (sum uint64) {
	spans, rest, err := msgp.ReadArrayHeaderBytes(message)
	for range spans {
		var pairs uint32
		pairs, rest, err = msgp.ReadMapHeaderBytes(rest)
		for range pairs {
			var text []byte
			var number uint64
			if text, rest, err = msgp.ReadStringZC(rest); err != nil {
				return 0
			}
			switch string(text) {
			case "resource":
				text, rest, err = msgp.ReadStringZC(rest)
				sum += uint64(len(text))
			case "trace_id", "span_id", "parent_id", "duration":
				number, rest, err = msgp.ReadUint64Bytes(rest)
				sum += number
			default:
				rest, err = msgp.Skip(rest)
			}
			if err != nil {
				return 0
			}
		}
	}
	if err != nil {
		return 0
	}
	return sum
}
