package ledger

import (
	"fmt"
	"testing"

	"tracetax/sink/internal/samples"
)

func TestASignatureIsExpectedOnlyAsTheWholeNameOfTheMethod(t *testing.T) {
	for signature, expected := range map[string]bool{
		"public long demo.MonitoredClass.monitoredMethod(long,int)": true,
		"demo.MonitoredClass.monitoredMethod(long,int)":             true,
		"long a.b.demo.MonitoredClass.monitoredMethod()":            true,
		"long otherdemo.MonitoredClass.monitoredMethod()":           false,
		"long demo.MonitoredClass.monitoredMethods(long,int)":       false,
		"long demo.MonitoredClass.monitoredMethod":                  false,
		"x" + samples.Method + "( " + samples.Method + "()":         true,
		"": false,
	} {
		if NamesMethod(signature, samples.Method) != expected {
			t.Errorf("%q: expected is %v", signature, expected)
		}
	}
}

func TestNamesAndWhatWaitsForThemAreBounded(t *testing.T) {
	table := newNameTable(func([]byte) bool { return true })
	b := NewBatch(0)
	for number := range uint64(maxNameless + 10) {
		b.Numbered = append(b.Numbered, Numbered{Number: number})
	}
	table.resolve(b)
	if len(table.waiting) != maxNameless || *b.Unexpected[nameless] != 10 {
		t.Errorf("%d records wait, unexpected are %v", len(table.waiting), b.Unexpected.Plain())
	}
	b.Clear()
	for number := range uint64(maxNumbers + 10) {
		b.Names = append(b.Names, Name{Number: number, Name: []byte("x")})
	}
	table.resolve(b)
	if len(table.names) != maxNumbers || b.Malformed != 10 || len(b.Records) != maxNameless || len(table.waiting) != 0 {
		t.Errorf("%d names, %d malformed, %d records, %d wait", len(table.names), b.Malformed, len(b.Records), len(table.waiting))
	}

	table = newNameTable(func([]byte) bool { return true })
	b.Clear()
	for number := range uint64(maxNumbers) {
		b.Names = append(b.Names, Name{Number: number, Name: fmt.Appendf(nil, "%01000d", number)})
	}
	table.resolve(b)
	if table.bytes > maxNamesBytes || b.Malformed != int64(maxNumbers-len(table.names)) || b.Malformed == 0 {
		t.Errorf("%d bytes of %d names, %d malformed", table.bytes, len(table.names), b.Malformed)
	}
}
