package kieker

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tracetax/sink/internal/account"
	"tracetax/sink/internal/files"
	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/protocol"
	"tracetax/sink/internal/samples"
	"tracetax/sink/internal/sinktest"
	"tracetax/sink/internal/tree"
)

func count(depth int, data []byte) account.Account {
	l := ledger.New(tree.NewTable(&tree.ExecutionChain{}, depth, 1000, 8<<20), nil)
	b := ledger.NewBatch(16)
	stream := newStream(samples.Method)
	if stream.Consume(append([]byte(nil), data...), b) > 0 {
		b.Malformed++
	}
	stream.End(b)
	l.Apply(b)
	return l.Close()
}

const executionClass = "kieker.common.record.controlflow.OperationExecutionRecord"

// logWriter writes a log as Kieker's file writer does: a folder with a map and numbered files.
type logWriter struct {
	t       testing.TB
	root    string
	folder  string
	format  *files.Format
	records samples.KiekerWriter
	text    strings.Builder
	files   int
}

func newLogWriter(t testing.TB, format *files.Format) *logWriter {
	root := t.TempDir()
	l := &logWriter{t: t, root: root, folder: filepath.Join(root, "kieker-20260101-101500-UTC--tracetax"), format: format}
	l.records = samples.KiekerWriter{Ids: map[string]int32{}, Apart: true}
	if err := os.Mkdir(l.folder, 0o700); err != nil {
		t.Fatal(err)
	}
	l.records.Metadata()
	l.text.WriteString("$0;1;2.0.2;controller;host;1;false;0;NANOSECONDS;0\n")
	return l
}

func (l *logWriter) execution(e samples.Execution) {
	l.records.Execution(e)
	if e.Signature == "" {
		e.Signature = samples.Signature
	}
	if e.Class == "" {
		e.Class = executionClass
	}
	fmt.Fprintf(&l.text, "$%d;1;%s;<no-session>;%d;%d;%d;host;%d;%d\n",
		l.records.Ids[e.Class], e.Signature, e.Trace, e.Start, e.End, e.EOI, e.ESS)
}

func (l *logWriter) event(e samples.Event) {
	l.records.Event(e)
	fmt.Fprintf(&l.text, "$%d;1;%d;%d;%d;monitoredMethod;demo.MonitoredClass", l.records.Ids[e.Kind], e.Time, e.Trace, e.Index)
	if e.Kind == samples.FailedOperation {
		l.text.WriteString(";ValueError('wrong')")
	}
	l.text.WriteString("\n")
}

func (l *logWriter) call(trace int64, depth int) {
	for level := int32(depth) - 1; level >= 0; level-- {
		l.execution(samples.Execution{Trace: trace, EOI: level, ESS: level, Start: 1, End: 2})
	}
}

// turn ends a file: what comes next goes into another one.
func (l *logWriter) turn() {
	l.files++
	data := l.records.Data
	if l.format == TextFile.Files {
		data = []byte(l.text.String())
	}
	// The time in a name is not what they are ordered by.
	l.write(fmt.Sprintf("kieker-20260101-1015%02d000-UTC-%03d%s", 59-l.files%60, l.files, l.format.Extension), data)
	l.records.Data = nil
	l.text.Reset()
}

// end writes the last file and the map.
func (l *logWriter) end() string {
	l.turn()
	lines := make([]string, len(l.records.Ids))
	for text, id := range l.records.Ids {
		lines[id] = fmt.Sprintf("$%d=%s\n", id, text)
	}
	l.write(mapName, []byte(strings.Join(lines, "")))
	return l.root
}

func (l *logWriter) write(name string, data []byte) {
	l.t.Helper()
	if err := os.WriteFile(filepath.Join(l.folder, name), data, 0o600); err != nil {
		l.t.Fatal(err)
	}
}

func (l *logWriter) bytes() (sum int64) {
	entries, _ := os.ReadDir(l.folder)
	for _, entry := range entries {
		info, _ := entry.Info()
		sum += info.Size()
	}
	return sum
}

// countFolder reads a folder to its end and returns the phases before and behind the edge.
func countFolder(t *testing.T, format *files.Format, folder string, at files.Edge) (before, after account.Account) {
	t.Helper()
	found, err := files.Open(folder, format)
	if err != nil {
		t.Fatal(err)
	}
	l := ledger.New(tree.NewTable(&tree.ExecutionChain{}, 10, 1000, 8<<20), nil)
	reader := files.NewReader(samples.Method, format, l)
	if err := reader.Read(found, at); err != nil {
		t.Fatal(err)
	}
	early := l.TakeEarly()
	if early == nil {
		return l.Close(), account.Account{}
	}
	return early.Account, l.Close()
}

func inBothFormats(t *testing.T, test func(t *testing.T, l *logWriter)) {
	for _, p := range []protocol.Protocol{BinaryFile, TextFile} {
		t.Run(p.Files.Extension, func(t *testing.T) { test(t, newLogWriter(t, p.Files)) })
	}
}

// spoken is what Kieker speaks.
var spoken = protocol.Table{"kieker-tcp": TCP, "kieker-binary-file": BinaryFile, "kieker-text-file": TextFile}

func start(t *testing.T, arguments ...string) *sinktest.Running {
	t.Helper()
	return sinktest.Start(t, spoken, append([]string{"--protocols", "kieker-tcp", "--depth", "10", "--record-name", samples.Method}, arguments...)...)
}
