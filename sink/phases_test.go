package main

import "testing"

func TestAPhaseThatIsArmedAnewForgetsWhenItWasToClose(t *testing.T) {
	r := start(t, "--protocols", "kieker-tcp,otlp-grpc", "--depth", "10", "--record-name", testMethod)
	conn := r.dial("kieker-tcp")
	w := newKiekerWriter()
	w.call(1, 10)
	write(t, conn, w.data)
	r.await("arrived", func(c counts) bool { return c.Records == 10 })
	r.ask("phase one after 15", &armedPhase{})

	var spans []span
	for _, s := range calls(1, 2, 10) {
		s.name = testMethod
		spans = append(spans, s)
	}
	p := connectGRPC(t, r)
	p.call(1, exportRequest(spans...), 1000)
	p.expect(1, "0")
	var armed armedPhase
	r.ask("phase two after 40", &armed)
	if armed != (armedPhase{Phase: "start", Next: "two"}) {
		t.Errorf("armed %+v", armed)
	}
	before := len(w.data)
	w.call(2, 10)
	write(t, conn, w.data[before:])
	r.await("arrived", func(c counts) bool { return c.Records == 40 })
	last := r.stop()
	if last.Phase != "start" || len(last.Earlier) != 0 {
		t.Errorf("reported %+v", last)
	}
	expectCount(t, last.Protocols["kieker-tcp"], protocolCount{Records: 20, CompleteTrees: 2})
}

func TestANextPhaseByCommandHasAllThatBelongsToIt(t *testing.T) {
	r := startKieker(t)
	conn := r.dial("kieker-tcp")
	w := newKiekerWriter()
	w.call(1, 10)
	write(t, conn, w.data)
	r.await("arrived", func(c counts) bool { return c.Records == 10 })
	r.ask("phase one after 20", &armedPhase{})
	var first report
	r.ask("phase two", &first)
	before := len(w.data)
	for trace := range int64(4) {
		w.call(trace+2, 10)
	}
	write(t, conn, w.data[before:])
	r.await("arrived", func(c counts) bool { return c.Records == 40 })
	last := r.stop()
	if first.Phase != "start" || last.Phase != "two" || len(last.Earlier) != 0 {
		t.Errorf("reported %+v, then %+v", first, last)
	}
}

func TestASecondFolderIsCountedFromItsOwnFirstRecord(t *testing.T) {
	inBothFormats(t, func(t *testing.T, first *kiekerLog) {
		second := newKiekerLog(t, first.format)
		first.call(1, 10)
		second.call(2, 10)
		second.call(3, 10)
		name := map[string]string{".bin": "kieker-binary-file", ".dat": "kieker-text-file"}[first.format.extension]
		s := start(t, "--depth", "10", "--record-name", testMethod, "--protocols", name)
		s.ask("read "+name+" measured after 11 "+first.end(), &armedPhase{})
		s.await("read", func(c counts) bool { return !c.Reading && c.Phase == "start" && c.Records == 10 })
		s.ask("read "+name+" measured after 10 "+second.end(), &armedPhase{})
		s.await("read", func(c counts) bool { return !c.Reading && c.Phase == "measured" && c.Records == 10 })
		last := s.stop()
		if len(last.Earlier) != 1 || last.Earlier[0].Protocols[name].CompleteTrees != 2 || last.Protocols[name].CompleteTrees != 1 {
			t.Errorf("reported %+v", last)
		}
	})
}
