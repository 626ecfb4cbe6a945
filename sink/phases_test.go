package main

import (
	"strings"
	"testing"

	"tracetax/sink/internal/account"
	"tracetax/sink/internal/control"
	"tracetax/sink/internal/grpctest"
	"tracetax/sink/internal/receiver"
	"tracetax/sink/internal/samples"
	"tracetax/sink/internal/sink"
	"tracetax/sink/internal/sinktest"
)

func TestAPhaseThatIsArmedAnewForgetsWhenItWasToClose(t *testing.T) {
	r := sinktest.Start(t, receiver.Table, "--protocols", "kieker-tcp,otlp-grpc", "--depth", "10", "--record-name", samples.Method)
	conn := r.Dial("kieker-tcp")
	w := samples.NewKiekerWriter()
	w.Call(1, 10)
	sinktest.Write(t, conn, w.Data)
	r.Await("arrived", func(c sink.Counts) bool { return c.Records == 10 })
	r.Ask("phase one after 15", &sink.ArmedPhase{})

	var spans []samples.Span
	for _, s := range samples.Calls(1, 2, 10) {
		s.Name = samples.Method
		spans = append(spans, s)
	}
	p := grpctest.Greet(t, r.Dial("otlp-grpc"))
	p.Call(1, samples.ExportRequest(spans...), 1000)
	p.Expect(1, "0")
	var armed sink.ArmedPhase
	r.Ask("phase two after 40", &armed)
	if armed != (sink.ArmedPhase{Phase: "start", Next: "two"}) {
		t.Errorf("armed %+v", armed)
	}
	before := len(w.Data)
	w.Call(2, 10)
	sinktest.Write(t, conn, w.Data[before:])
	r.Await("arrived", func(c sink.Counts) bool { return c.Records == 40 })
	last := r.Stop()
	if last.Phase != "start" || len(last.Earlier) != 0 {
		t.Errorf("reported %+v", last)
	}
	samples.ExpectCount(t, last.Protocols["kieker-tcp"], account.Account{Records: 20, CompleteTrees: 2})
}

func TestANextPhaseByCommandHasAllThatBelongsToIt(t *testing.T) {
	r := startWithKieker(t)
	conn := r.Dial("kieker-tcp")
	w := samples.NewKiekerWriter()
	w.Call(1, 10)
	sinktest.Write(t, conn, w.Data)
	r.Await("arrived", func(c sink.Counts) bool { return c.Records == 10 })
	r.Ask("phase one after 20", &sink.ArmedPhase{})
	var first sink.Report
	r.Ask("phase two", &first)
	before := len(w.Data)
	for trace := range int64(4) {
		w.Call(trace+2, 10)
	}
	sinktest.Write(t, conn, w.Data[before:])
	r.Await("arrived", func(c sink.Counts) bool { return c.Records == 40 })
	last := r.Stop()
	if first.Phase != "start" || last.Phase != "two" || len(last.Earlier) != 0 {
		t.Errorf("reported %+v, then %+v", first, last)
	}
}

func TestASinkThatDoesNotScrapeSaysSo(t *testing.T) {
	r := sinktest.Start(t, receiver.Table, "--protocols", "zipkin", "--depth", "10", "--record-name", samples.SpanName)
	for _, command := range []string{"scrape 1 / 1000 a", "scrape last"} {
		var answer control.Complaint
		if r.Ask(command, &answer); !strings.Contains(answer.Error, "none of the protocols here") {
			t.Errorf("%s: %q", command, answer.Error)
		}
	}
}
