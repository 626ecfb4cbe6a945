package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const executionClass = "kieker.common.record.controlflow.OperationExecutionRecord"

// kiekerLog writes a log as Kieker's file writer does: a folder with a map and numbered files.
type kiekerLog struct {
	t       testing.TB
	root    string
	folder  string
	format  *fileFormat
	records kiekerWriter
	text    strings.Builder
	files   int
}

func newKiekerLog(t testing.TB, format *fileFormat) *kiekerLog {
	root := t.TempDir()
	l := &kiekerLog{t: t, root: root, folder: filepath.Join(root, "kieker-20260101-101500-UTC--tracetax"), format: format}
	l.records = kiekerWriter{ids: map[string]int32{}, apart: true}
	if err := os.Mkdir(l.folder, 0o700); err != nil {
		t.Fatal(err)
	}
	l.records.metadata()
	l.text.WriteString("$0;1;2.0.2;controller;host;1;false;0;NANOSECONDS;0\n")
	return l
}

func (l *kiekerLog) execution(e execution) {
	l.records.execution(e)
	if e.signature == "" {
		e.signature = testSignature
	}
	if e.class == "" {
		e.class = executionClass
	}
	fmt.Fprintf(&l.text, "$%d;1;%s;<no-session>;%d;%d;%d;host;%d;%d\n",
		l.records.ids[e.class], e.signature, e.trace, e.start, e.end, e.eoi, e.ess)
}

func (l *kiekerLog) call(trace int64, depth int) {
	for level := int32(depth) - 1; level >= 0; level-- {
		l.execution(execution{trace: trace, eoi: level, ess: level, start: 1, end: 2})
	}
}

// turn ends a file: what comes next goes into another one.
func (l *kiekerLog) turn() {
	l.files++
	data := l.records.data
	if l.format == kiekerTextFile.files {
		data = []byte(l.text.String())
	}
	// The time in a name is not what they are ordered by.
	l.write(fmt.Sprintf("kieker-20260101-1015%02d000-UTC-%03d%s", 59-l.files%60, l.files, l.format.extension), data)
	l.records.data = nil
	l.text.Reset()
}

// end writes the last file and the map.
func (l *kiekerLog) end() string {
	l.turn()
	lines := make([]string, len(l.records.ids))
	for text, id := range l.records.ids {
		lines[id] = fmt.Sprintf("$%d=%s\n", id, text)
	}
	l.write(kiekerMapName, []byte(strings.Join(lines, "")))
	return l.root
}

func (l *kiekerLog) write(name string, data []byte) {
	l.t.Helper()
	if err := os.WriteFile(filepath.Join(l.folder, name), data, 0o600); err != nil {
		l.t.Fatal(err)
	}
}

func (l *kiekerLog) bytes() (sum int64) {
	entries, _ := os.ReadDir(l.folder)
	for _, entry := range entries {
		info, _ := entry.Info()
		sum += info.Size()
	}
	return sum
}

// countFolder reads a folder to its end and returns the phases before and behind the edge.
func countFolder(t *testing.T, format *fileFormat, folder string, at edge) (before, after protocolCount) {
	t.Helper()
	found, err := openFolder(folder, format)
	if err != nil {
		t.Fatal(err)
	}
	l := newLedger(newTreeTable(&executionChain{}, 10, 1000, 8<<20), nil)
	reader := &folderReader{recordName: testMethod, format: format, ledger: l}
	if err := reader.read(found, at); err != nil {
		t.Fatal(err)
	}
	early := l.takeEarly()
	if early == nil {
		return l.close(), protocolCount{}
	}
	return early.count, l.close()
}

func inBothFormats(t *testing.T, test func(t *testing.T, l *kiekerLog)) {
	for _, p := range []protocol{kiekerBinaryFile, kiekerTextFile} {
		t.Run(p.files.extension, func(t *testing.T) { test(t, newKiekerLog(t, p.files)) })
	}
}

func TestEveryRecordOfALogIsCountedOverAllItsFiles(t *testing.T) {
	inBothFormats(t, func(t *testing.T, l *kiekerLog) {
		for trace := range int64(1200) {
			l.execution(execution{trace: trace, eoi: 9, ess: 9, start: 1, end: 2})
			l.turn() // in the middle of a tree
			l.call(trace, 9)
		}
		before, after := countFolder(t, l.format, l.end(), edge{records: 2000})
		expectCount(t, before, protocolCount{Records: 2000, CompleteTrees: 200})
		expectCount(t, after, protocolCount{Records: 10000, CompleteTrees: 1000})
		if before.Bytes+after.Bytes != l.bytes() || before.Requests+after.Requests != 1201 {
			t.Errorf("%d and %d bytes, %d in the folder; %d and %d files",
				before.Bytes, after.Bytes, l.bytes(), before.Requests, after.Requests)
		}
	})
}

func TestThePhaseOfTheLastRecordsBeginsWithAsManyAsAreLeft(t *testing.T) {
	for last, expected := range map[int64][2]int64{30: {70, 30}, 100: {0, 100}, 5000: {0, 100}, 0: {100, 0}} {
		inBothFormats(t, func(t *testing.T, l *kiekerLog) {
			for trace := range int64(10) {
				l.call(trace, 10)
			}
			before, after := countFolder(t, l.format, l.end(), edge{records: last, last: true})
			if before.Records != expected[0] || after.Records != expected[1] {
				t.Errorf("the last %d: %d and %d", last, before.Records, after.Records)
			}
		})
	}
}

func TestARecordThatIsCutAtTheEndOfTheLastFileIsCutOff(t *testing.T) {
	inBothFormats(t, func(t *testing.T, l *kiekerLog) {
		l.call(1, 10)
		folder := l.end()
		whole, _ := countFolder(t, l.format, folder, edge{records: 1 << 40})
		expectCount(t, whole, protocolCount{Records: 10, CompleteTrees: 1})
		name := fmt.Sprintf("kieker-20260101-101558000-UTC-001%s", l.format.extension)
		data, _ := os.ReadFile(filepath.Join(l.folder, name))
		l.write(name, data[:len(data)-1])
		cut, _ := countFolder(t, l.format, folder, edge{records: 1 << 40})
		expectCount(t, cut, protocolCount{Records: 9, PartialTrees: 1, CutOff: 1, Orphans: 1})
	})
}

func TestARecordThatIsCutInTheMiddleOfTheLogIsMalformed(t *testing.T) {
	inBothFormats(t, func(t *testing.T, l *kiekerLog) {
		l.call(1, 10)
		l.turn()
		name := fmt.Sprintf("kieker-20260101-101558000-UTC-001%s", l.format.extension)
		data, _ := os.ReadFile(filepath.Join(l.folder, name))
		l.write(name, append(data, data[len(data)-20:len(data)-1]...))
		l.call(2, 10)
		count, _ := countFolder(t, l.format, l.end(), edge{records: 1 << 40})
		expectCount(t, count, protocolCount{Records: 20, CompleteTrees: 2, Malformed: 1})
	})
}

func TestOtherMethodsInALogAreUnexpectedNames(t *testing.T) {
	inBothFormats(t, func(t *testing.T, l *kiekerLog) {
		l.execution(execution{signature: "public demo.Größe.<init>()"})
		l.call(1, 10)
		count, _ := countFolder(t, l.format, l.end(), edge{records: 1 << 40})
		expectCount(t, count, protocolCount{
			Records: 10, CompleteTrees: 1, UnexpectedNames: 1, Unexpected: map[string]int64{"public demo.Größe.<init>()": 1},
		})
	})
}

func TestAnUnknownClassInALogIsMalformed(t *testing.T) {
	inBothFormats(t, func(t *testing.T, l *kiekerLog) {
		l.call(1, 10)
		l.execution(execution{class: "some.Record"})
		l.turn()
		l.call(2, 10)
		count, _ := countFolder(t, l.format, l.end(), edge{records: 1 << 40})
		expectCount(t, count, protocolCount{Records: 20, CompleteTrees: 2, Malformed: 1})
	})
}

func TestALogWithoutItsMapCannotBeUnderstood(t *testing.T) {
	inBothFormats(t, func(t *testing.T, l *kiekerLog) {
		l.call(1, 1)
		folder := l.end()
		os.Remove(filepath.Join(l.folder, kiekerMapName))
		count, _ := countFolder(t, l.format, folder, edge{records: 1 << 40})
		if count.Records != 0 || count.Malformed == 0 {
			t.Errorf("counted %+v", count)
		}
	})
}

func TestAMapThatIsGarbledIsMalformedLineByLine(t *testing.T) {
	l := newKiekerLog(t, kiekerBinaryFile.files)
	l.call(1, 10)
	folder := l.end()
	kept, _ := os.ReadFile(filepath.Join(l.folder, kiekerMapName))
	long := "$7=" + strings.Repeat("x", maxStringBytes+1) + "\n" + strings.Repeat("y", 100<<10) + "\n"
	l.write(kiekerMapName, append([]byte("x\n$=a\n$-1=a\n$99999999999=a\n$16384=a\n"+long), kept...))
	count, _ := countFolder(t, l.format, folder, edge{records: 1 << 40})
	expectCount(t, count, protocolCount{Records: 10, CompleteTrees: 1, Malformed: 7})
}

func TestStringsBetweenTheRecordsOfABinaryFileAreMalformed(t *testing.T) {
	l := newKiekerLog(t, kiekerBinaryFile.files)
	l.records.apart = false
	l.records.id("a string")
	l.records.apart = true
	l.call(1, 10)
	count, _ := countFolder(t, l.format, l.end(), edge{records: 1 << 40})
	expectCount(t, count, protocolCount{Malformed: 1})
}

func TestALineOfNoRecordIsMalformedAndTheNextOneCounts(t *testing.T) {
	l := newKiekerLog(t, kiekerTextFile.files)
	wrong := []string{
		"", "$", "1;1", "$x;1", "$-1;1", "$999;1", "$5;1;s;n;1;1;2;host;0;0",
		"$1;1;s;n;1;1;2;host;0", "$1;1;s;n;1;1;2;host;0;0;0", "$1;1;s;n;x;1;2;host;0;0", "$1;1;s;n;1;1;2;host;4294967296;0",
		"$1;1;s;n;9223372036854775808;1;2;host;0;0", strings.Repeat("x", maxTextLine+1), strings.Repeat("y", 3*kiekerReadBytes),
	}
	l.records.ids[executionClass] = 1
	for _, line := range wrong {
		l.text.WriteString(line + "\n")
	}
	l.text.WriteString("$1;1;" + testSignature + ";n;-9223372036854775808;1;2;host;0;0\r\n")
	l.turn()
	l.write(kiekerMapName, []byte("$0=kieker.common.record.misc.KiekerMetadataRecord\n$1="+executionClass+"\n"))
	count, _ := countFolder(t, l.format, l.root, edge{records: 1 << 40})
	expectCount(t, count, protocolCount{Records: 1, PartialTrees: 1, Malformed: int64(len(wrong))})
}

func TestFilesAreReadByTheirNumberAndNotByTheirTime(t *testing.T) {
	names := []string{"k-20260101-101500999-UTC-999.bin", "k-20260101-101500000-UTC-1000.bin", "k-2-UTC-002.bin", "other.bin"}
	folder := t.TempDir()
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(folder, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	found, err := openFolder(folder, kiekerBinaryFile.files)
	if err != nil || len(found.logs) != 1 {
		t.Fatal(found, err)
	}
	var order []string
	for _, path := range found.logs[0].data {
		order = append(order, filepath.Base(path))
	}
	if expected := []string{names[3], names[2], names[0], names[1]}; strings.Join(order, " ") != strings.Join(expected, " ") {
		t.Errorf("read in the order %v", order)
	}
}

func TestAFolderIsReadOnCommandAndItsPhasesAreInTheLastReport(t *testing.T) {
	inBothFormats(t, func(t *testing.T, l *kiekerLog) {
		for trace := range int64(50) {
			l.call(trace, 10)
		}
		name := map[string]string{".bin": "kieker-binary-file", ".dat": "kieker-text-file"}[l.format.extension]
		s := start(t, "--depth", "10", "--record-name", testMethod, "--protocols", "kieker-tcp,"+name)
		if _, ported := s.ports[name]; ported || len(s.ports) != 1 {
			t.Errorf("the ports are %v", s.ports)
		}
		var first report
		s.ask("phase warm-up", &first)
		var armed armedPhase
		s.ask("read "+name+" measured after 200 "+l.end(), &armed)
		if armed != (armedPhase{Phase: "warm-up", Next: "measured"}) {
			t.Errorf("answered %+v", armed)
		}
		s.await("read", func(c counts) bool { return !c.Reading && c.Phase == "measured" && c.Records == 300 })
		last := s.stop()
		if len(last.Earlier) != 1 || last.Earlier[0].Protocols[name].Records != 200 || last.Protocols[name].CompleteTrees != 30 {
			t.Errorf("the last report is %+v", last)
		}
	})
}

func TestAFolderThatHoldsFewerRecordsThanTheFirstPhaseLeavesItOpen(t *testing.T) {
	l := newKiekerLog(t, kiekerBinaryFile.files)
	l.call(1, 10)
	s := start(t, "--depth", "10", "--record-name", testMethod)
	var armed armedPhase
	s.ask("read kieker-binary-file measured after 11 "+l.end(), &armed)
	s.await("read", func(c counts) bool { return !c.Reading && c.Records == 10 })
	if last := s.stop(); last.Phase != "start" || len(last.Earlier) != 0 {
		t.Errorf("the last report is %+v", last)
	}
}

func TestReadingWhatCannotBeReadIsAComplaint(t *testing.T) {
	s := start(t, "--depth", "10", "--record-name", testMethod)
	for _, command := range []string{
		"read", "read kieker-binary-file", "read kieker-binary-file m after 1", "read kieker-binary-file m before 1 /tmp",
		"read kieker-binary-file m after -1 /tmp", "read kieker-binary-file m after x /tmp",
		"read kieker-tcp m after 1 /tmp", "read other m after 1 /tmp", "read kieker-binary-file m after 1 relative",
		"read kieker-binary-file m after 1 /no such folder", "read kieker-binary-file  after 1 /tmp",
		"read kieker-binary-file " + strings.Repeat("m", maxPhaseName+1) + " after 1 /tmp",
	} {
		var answer complaint
		s.ask(command, &answer)
		if answer.Error == "" {
			t.Errorf("%q is obeyed", command)
		}
	}
	if last := s.stop(); last.Phase != "start" {
		t.Errorf("the last report is %+v", last)
	}
}

func TestAFileThatCannotBeReadIsToldInTheCounts(t *testing.T) {
	l := newKiekerLog(t, kiekerBinaryFile.files)
	l.call(1, 10)
	found, err := openFolder(l.end(), l.format)
	if err != nil {
		t.Fatal(err)
	}
	os.RemoveAll(l.root)
	reader := &folderReader{format: l.format, ledger: newLedger(newTreeTable(&executionChain{}, 10, 10, 8<<20), nil)}
	reader.begin(found, edge{records: 1})
	for reader.reading.Load() {
		time.Sleep(time.Millisecond)
	}
	var c counts
	reader.tell(&c)
	if c.Reading || !strings.Contains(c.ReadError, "no such file") {
		t.Errorf("told %+v", c)
	}
}

func TestStoppingEndsAReadingWithoutEnd(t *testing.T) {
	l := newKiekerLog(t, kiekerBinaryFile.files)
	folder := l.end()
	os.Remove(filepath.Join(l.folder, "kieker-20260101-101558000-UTC-001.bin"))
	if err := os.Truncate(filepath.Join(l.folder, kiekerMapName), 1<<40); err != nil {
		t.Skip("no sparse files of this size here")
	}
	s := start(t, "--depth", "10", "--record-name", testMethod)
	s.ask("read kieker-binary-file measured after 1 "+folder, &armedPhase{})
	for _, command := range []string{"read kieker-binary-file measured after 1 " + folder, "phase other", "phase other after 3"} {
		var answer complaint
		if s.ask(command, &answer); !strings.Contains(answer.Error, "still") {
			t.Errorf("%q: answered %+v", command, answer)
		}
	}
	s.stop()
}

// BenchmarkKiekerFileRecord reads a log of 100,000 records from files, as it lies in the page cache.
func BenchmarkKiekerFileRecord(b *testing.B) {
	for _, p := range []protocol{kiekerBinaryFile, kiekerTextFile} {
		b.Run(p.files.extension, func(b *testing.B) {
			const calls = 10_000
			log := newKiekerLog(b, p.files)
			for trace := range int64(calls) {
				log.call(trace, 10)
			}
			folder, err := openFolder(log.end(), p.files)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(log.bytes() / (calls * 10))
			for counted := 0; b.Loop(); counted++ {
				if counted%(calls*10) == 0 {
					l := newLedger(newTreeTable(&executionChain{}, 10, defaultMaxOpenTrees, 64<<20), nil)
					reader := &folderReader{recordName: testMethod, format: p.files, ledger: l}
					if err := reader.read(folder, edge{records: 1 << 40}); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
