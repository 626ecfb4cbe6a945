package kieker

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tracetax/sink/internal/account"
	"tracetax/sink/internal/control"
	"tracetax/sink/internal/files"
	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/samples"
	"tracetax/sink/internal/sink"
	"tracetax/sink/internal/sinktest"
	"tracetax/sink/internal/tree"
)

func TestEveryRecordOfALogIsCountedOverAllItsFiles(t *testing.T) {
	inBothFormats(t, func(t *testing.T, l *logWriter) {
		for trace := range int64(1200) {
			l.execution(samples.Execution{Trace: trace, EOI: 9, ESS: 9, Start: 1, End: 2})
			l.turn() // in the middle of a tree
			l.call(trace, 9)
		}
		before, after := countFolder(t, l.format, l.end(), files.Edge{Records: 2000})
		samples.ExpectCount(t, before, account.Account{Records: 2000, CompleteTrees: 200})
		samples.ExpectCount(t, after, account.Account{Records: 10000, CompleteTrees: 1000})
		if before.Bytes+after.Bytes != l.bytes() || before.Requests+after.Requests != 1201 {
			t.Errorf("%d and %d bytes, %d in the folder; %d and %d files",
				before.Bytes, after.Bytes, l.bytes(), before.Requests, after.Requests)
		}
	})
}

func TestThePhaseOfTheLastRecordsBeginsWithAsManyAsAreLeft(t *testing.T) {
	for last, expected := range map[int64][2]int64{30: {70, 30}, 100: {0, 100}, 5000: {0, 100}, 0: {100, 0}} {
		inBothFormats(t, func(t *testing.T, l *logWriter) {
			for trace := range int64(10) {
				l.call(trace, 10)
			}
			before, after := countFolder(t, l.format, l.end(), files.Edge{Records: last, Last: true})
			if before.Records != expected[0] || after.Records != expected[1] {
				t.Errorf("the last %d: %d and %d", last, before.Records, after.Records)
			}
		})
	}
}

func TestARecordThatIsCutAtTheEndOfTheLastFileIsCutOff(t *testing.T) {
	inBothFormats(t, func(t *testing.T, l *logWriter) {
		l.call(1, 10)
		folder := l.end()
		whole, _ := countFolder(t, l.format, folder, files.Edge{Records: 1 << 40})
		samples.ExpectCount(t, whole, account.Account{Records: 10, CompleteTrees: 1})
		name := fmt.Sprintf("kieker-20260101-101558000-UTC-001%s", l.format.Extension)
		data, _ := os.ReadFile(filepath.Join(l.folder, name))
		l.write(name, data[:len(data)-1])
		cut, _ := countFolder(t, l.format, folder, files.Edge{Records: 1 << 40})
		samples.ExpectCount(t, cut, account.Account{Records: 9, PartialTrees: 1, CutOff: 1, Orphans: 1})
	})
}

func TestARecordThatIsCutInTheMiddleOfTheLogIsMalformed(t *testing.T) {
	inBothFormats(t, func(t *testing.T, l *logWriter) {
		l.call(1, 10)
		l.turn()
		name := fmt.Sprintf("kieker-20260101-101558000-UTC-001%s", l.format.Extension)
		data, _ := os.ReadFile(filepath.Join(l.folder, name))
		l.write(name, append(data, data[len(data)-20:len(data)-1]...))
		l.call(2, 10)
		count, _ := countFolder(t, l.format, l.end(), files.Edge{Records: 1 << 40})
		samples.ExpectCount(t, count, account.Account{Records: 20, CompleteTrees: 2, Malformed: 1})
	})
}

func TestOtherMethodsInALogAreUnexpectedNames(t *testing.T) {
	inBothFormats(t, func(t *testing.T, l *logWriter) {
		l.execution(samples.Execution{Signature: "public demo.Größe.<init>()"})
		l.call(1, 10)
		count, _ := countFolder(t, l.format, l.end(), files.Edge{Records: 1 << 40})
		samples.ExpectCount(t, count, account.Account{
			Records: 10, CompleteTrees: 1, UnexpectedNames: 1, Unexpected: map[string]int64{"public demo.Größe.<init>()": 1},
		})
	})
}

func TestAnUnknownClassInALogIsMalformed(t *testing.T) {
	inBothFormats(t, func(t *testing.T, l *logWriter) {
		l.call(1, 10)
		l.execution(samples.Execution{Class: "some.Record"})
		l.turn()
		l.call(2, 10)
		count, _ := countFolder(t, l.format, l.end(), files.Edge{Records: 1 << 40})
		samples.ExpectCount(t, count, account.Account{Records: 20, CompleteTrees: 2, Malformed: 1})
	})
}

func TestALogWithoutItsMapCannotBeUnderstood(t *testing.T) {
	inBothFormats(t, func(t *testing.T, l *logWriter) {
		l.call(1, 1)
		folder := l.end()
		os.Remove(filepath.Join(l.folder, mapName))
		count, _ := countFolder(t, l.format, folder, files.Edge{Records: 1 << 40})
		if count.Records != 0 || count.Malformed == 0 {
			t.Errorf("counted %+v", count)
		}
	})
}

func TestAMapThatIsGarbledIsMalformedLineByLine(t *testing.T) {
	l := newLogWriter(t, BinaryFile.Files)
	l.call(1, 10)
	folder := l.end()
	kept, _ := os.ReadFile(filepath.Join(l.folder, mapName))
	long := "$7=" + strings.Repeat("x", maxStringBytes+1) + "\n" + strings.Repeat("y", 100<<10) + "\n"
	l.write(mapName, append([]byte("x\n$=a\n$-1=a\n$99999999999=a\n$16384=a\n"+long), kept...))
	count, _ := countFolder(t, l.format, folder, files.Edge{Records: 1 << 40})
	samples.ExpectCount(t, count, account.Account{Records: 10, CompleteTrees: 1, Malformed: 7})
}

func TestStringsBetweenTheRecordsOfABinaryFileAreMalformed(t *testing.T) {
	l := newLogWriter(t, BinaryFile.Files)
	l.records.Apart = false
	l.records.ID("a string")
	l.records.Apart = true
	l.call(1, 10)
	count, _ := countFolder(t, l.format, l.end(), files.Edge{Records: 1 << 40})
	samples.ExpectCount(t, count, account.Account{Malformed: 1})
}

func TestALineOfNoRecordIsMalformedAndTheNextOneCounts(t *testing.T) {
	l := newLogWriter(t, TextFile.Files)
	wrong := []string{
		"", "$", "1;1", "$x;1", "$-1;1", "$999;1", "$5;1;s;n;1;1;2;host;0;0",
		"$1;1;s;n;1;1;2;host;0", "$1;1;s;n;1;1;2;host;0;0;0", "$1;1;s;n;x;1;2;host;0;0", "$1;1;s;n;1;1;2;host;4294967296;0",
		"$1;1;s;n;9223372036854775808;1;2;host;0;0", strings.Repeat("x", maxTextLine+1), strings.Repeat("y", 3*readBytes),
	}
	l.records.Ids[executionClass] = 1
	for _, line := range wrong {
		l.text.WriteString(line + "\n")
	}
	l.text.WriteString("$1;1;" + samples.Signature + ";n;-9223372036854775808;1;2;host;0;0\r\n")
	l.turn()
	l.write(mapName, []byte("$0=kieker.common.record.misc.KiekerMetadataRecord\n$1="+executionClass+"\n"))
	count, _ := countFolder(t, l.format, l.root, files.Edge{Records: 1 << 40})
	samples.ExpectCount(t, count, account.Account{Records: 1, PartialTrees: 1, Malformed: int64(len(wrong))})
}

func TestAFolderIsReadOnCommandAndItsPhasesAreInTheLastReport(t *testing.T) {
	inBothFormats(t, func(t *testing.T, l *logWriter) {
		for trace := range int64(50) {
			l.call(trace, 10)
		}
		name := map[string]string{".bin": "kieker-binary-file", ".dat": "kieker-text-file"}[l.format.Extension]
		s := sinktest.Start(t, spoken, "--depth", "10", "--record-name", samples.Method, "--protocols", "kieker-tcp,"+name)
		if _, ported := s.Ports[name]; ported || len(s.Ports) != 1 {
			t.Errorf("the ports are %v", s.Ports)
		}
		var first sink.Report
		s.Ask("phase warm-up", &first)
		var armed sink.ArmedPhase
		s.Ask("read "+name+" measured after 200 "+l.end(), &armed)
		if armed != (sink.ArmedPhase{Phase: "warm-up", Next: "measured"}) {
			t.Errorf("answered %+v", armed)
		}
		s.Await("read", func(c sink.Counts) bool { return !c.Reading && c.Phase == "measured" && c.Records == 300 })
		last := s.Stop()
		if len(last.Earlier) != 1 || last.Earlier[0].Protocols[name].Records != 200 || last.Protocols[name].CompleteTrees != 30 {
			t.Errorf("the last report is %+v", last)
		}
	})
}

func TestAFolderThatHoldsFewerRecordsThanTheFirstPhaseLeavesItOpen(t *testing.T) {
	l := newLogWriter(t, BinaryFile.Files)
	l.call(1, 10)
	s := sinktest.Start(t, spoken, "--depth", "10", "--record-name", samples.Method)
	var armed sink.ArmedPhase
	s.Ask("read kieker-binary-file measured after 11 "+l.end(), &armed)
	s.Await("read", func(c sink.Counts) bool { return !c.Reading && c.Records == 10 })
	if last := s.Stop(); last.Phase != "start" || len(last.Earlier) != 0 {
		t.Errorf("the last report is %+v", last)
	}
}

func TestReadingWhatCannotBeReadIsAComplaint(t *testing.T) {
	s := sinktest.Start(t, spoken, "--depth", "10", "--record-name", samples.Method)
	for _, command := range []string{
		"read", "read kieker-binary-file", "read kieker-binary-file m after 1", "read kieker-binary-file m before 1 /tmp",
		"read kieker-binary-file m after -1 /tmp", "read kieker-binary-file m after x /tmp",
		"read kieker-tcp m after 1 /tmp", "read other m after 1 /tmp", "read kieker-binary-file m after 1 relative",
		"read kieker-binary-file m after 1 /no such folder", "read kieker-binary-file  after 1 /tmp",
		"read kieker-binary-file " + strings.Repeat("m", 101) + " after 1 /tmp",
	} {
		var answer control.Complaint
		s.Ask(command, &answer)
		if answer.Error == "" {
			t.Errorf("%q is obeyed", command)
		}
	}
	if last := s.Stop(); last.Phase != "start" {
		t.Errorf("the last report is %+v", last)
	}
}

func TestAFileThatCannotBeReadIsToldInTheCounts(t *testing.T) {
	l := newLogWriter(t, BinaryFile.Files)
	l.call(1, 10)
	found, err := files.Open(l.end(), l.format)
	if err != nil {
		t.Fatal(err)
	}
	os.RemoveAll(l.root)
	reader := files.NewReader("x", l.format, ledger.New(tree.NewTable(&tree.ExecutionChain{}, 10, 10, 8<<20), nil))
	reader.Begin(found, files.Edge{Records: 1})
	reading, _, failure := reader.Progress()
	for reading {
		time.Sleep(time.Millisecond)
		reading, _, failure = reader.Progress()
	}
	if failure == nil || !strings.Contains(failure.Error(), "no such file") {
		t.Errorf("told %v", failure)
	}
}

func TestStoppingEndsAReadingWithoutEnd(t *testing.T) {
	l := newLogWriter(t, BinaryFile.Files)
	folder := l.end()
	os.Remove(filepath.Join(l.folder, "kieker-20260101-101558000-UTC-001.bin"))
	if err := os.Truncate(filepath.Join(l.folder, mapName), 1<<40); err != nil {
		t.Skip("no sparse files of this size here")
	}
	s := sinktest.Start(t, spoken, "--depth", "10", "--record-name", samples.Method)
	s.Ask("read kieker-binary-file measured after 1 "+folder, &sink.ArmedPhase{})
	for _, command := range []string{"read kieker-binary-file measured after 1 " + folder, "phase other", "phase other after 3"} {
		var answer control.Complaint
		if s.Ask(command, &answer); !strings.Contains(answer.Error, "still") {
			t.Errorf("%q: answered %+v", command, answer)
		}
	}
	s.Stop()
}

func TestASecondFolderIsCountedFromItsOwnFirstRecord(t *testing.T) {
	inBothFormats(t, func(t *testing.T, first *logWriter) {
		second := newLogWriter(t, first.format)
		first.call(1, 10)
		second.call(2, 10)
		second.call(3, 10)
		name := map[string]string{".bin": "kieker-binary-file", ".dat": "kieker-text-file"}[first.format.Extension]
		s := sinktest.Start(t, spoken, "--depth", "10", "--record-name", samples.Method, "--protocols", name)
		s.Ask("read "+name+" measured after 11 "+first.end(), &sink.ArmedPhase{})
		s.Await("read", func(c sink.Counts) bool { return !c.Reading && c.Phase == "start" && c.Records == 10 })
		s.Ask("read "+name+" measured after 10 "+second.end(), &sink.ArmedPhase{})
		s.Await("read", func(c sink.Counts) bool { return !c.Reading && c.Phase == "measured" && c.Records == 10 })
		last := s.Stop()
		if len(last.Earlier) != 1 || last.Earlier[0].Protocols[name].CompleteTrees != 2 || last.Protocols[name].CompleteTrees != 1 {
			t.Errorf("reported %+v", last)
		}
	})
}
