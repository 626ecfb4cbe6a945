package scouter

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"tracetax/sink/internal/account"
	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/message"
	"tracetax/sink/internal/samples"
	"tracetax/sink/internal/sink"
	"tracetax/sink/internal/sinktest"
	"tracetax/sink/internal/tree"
)

func TestScoutersStepsAreCountedExactlyInTheirTrees(t *testing.T) {
	r := start(t, samples.Method)
	send := r.UDP("scouter")
	send(scouterNames)
	size := len(scouterNames)
	for txid := range uint64(1000) {
		for _, datagram := range scouterCall([]byte{packProfile, packProfile2}[txid%2], txid+1, 10) {
			send(datagram)
			size += len(datagram)
		}
		if txid%100 == 99 {
			r.Await("read", func(c sink.Counts) bool { return c.Records == int64(txid+1)*10 })
		}
	}
	c := r.Stop().Protocols["scouter"]
	if c.Requests != 2001 || c.Bytes != int64(size) || c.FirstArrivalNs == 0 || c.LostDatagrams != 0 {
		t.Errorf("counted %+v", c)
	}
	if c.ReceiveBufferBytes <= 0 {
		t.Errorf("the kernel says that it holds %d bytes", c.ReceiveBufferBytes)
	}
	c.ReceiveBufferBytes = 0
	samples.ExpectCount(t, c, account.Account{Records: 10_000, CompleteTrees: 1000})
}

func TestScoutersTransactionsAreTheRecordsWhereTheNameSaysSo(t *testing.T) {
	datagrams := [][]byte{onePack(textPack("service", scouterName)), onePack(textPack("service", "other()V"))}
	for txid := range uint64(3) {
		datagrams = append(datagrams, scouterCall(packProfile, txid, 10)...)
	}
	datagrams = append(datagrams, onePack(xlogPack(9, "other()V")), onePack(xlogPack(2, scouterName)))
	samples.ExpectCount(t, count(t, 1, servicePrefix+samples.Method, datagrams...), account.Account{
		Records: 3, CompleteTrees: 3, Duplicates: 1, UnexpectedNames: 1, Unexpected: map[string]int64{"other()V": 1},
	})
}

func TestScoutersRecordsWaitForTheirName(t *testing.T) {
	call := scouterCall(packProfile, 1, 10)
	samples.ExpectCount(t, count(t, 10, samples.Method, append(call, scouterNames)...), account.Account{Records: 10, CompleteTrees: 1})
	samples.ExpectCount(t, count(t, 10, samples.Method, append(call, onePack(textPack("service", scouterName)))...), account.Account{
		UnexpectedNames: 10, Unexpected: map[string]int64{"without a name": 10},
	})
}

func TestScoutersNamesAreTheMethodsAlone(t *testing.T) {
	steps := append(methodStep("demo.Other.run()V", -1, 2, 0), callSteps(1)...)
	got := count(t, 1, samples.Method, onePack(textPack("method", "demo.Other.run()V")), scouterNames,
		onePack(profilePack(packProfile, 1, steps)))
	samples.ExpectCount(t, got, account.Account{
		Records: 1, CompleteTrees: 1, UnexpectedNames: 1, Unexpected: map[string]int64{"demo.Other.run()V": 1},
	})
}

func TestAScouterTransactionMayBringItsStepsInSeveralProfiles(t *testing.T) {
	steps := [][]byte{threadStep()}
	for level := int64(30); level > 0; level-- {
		parent := level - 1
		if parent == 0 {
			parent = -1
		}
		steps = append(steps, methodStep(scouterName, parent, level, 0))
	}
	datagrams := [][]byte{scouterNames}
	for part := range slices.Chunk(steps, 7) {
		datagrams = append(datagrams, onePack(profilePack(packProfile2, 1, slices.Concat(part...))))
	}
	samples.ExpectCount(t, count(t, 30, samples.Method, datagrams...), account.Account{Records: 30, CompleteTrees: 1})
}

func TestAScouterStepWithoutItsParentIsAnOrphan(t *testing.T) {
	steps := slices.Concat(methodStep(scouterName, -1, 1, 0), methodStep(scouterName, 2, 3, 0))
	got := count(t, 3, samples.Method, scouterNames, onePack(profilePack(packProfile, 1, steps)))
	samples.ExpectCount(t, got, account.Account{Records: 2, PartialTrees: 1, Orphans: 1})
}

func TestAScouterStepThatEndsBeforeItStartsIsNoCompleteTree(t *testing.T) {
	got := count(t, 1, samples.Method, scouterNames,
		onePack(profilePack(packProfile, 1, methodStep(scouterName, -1, 1, -1))))
	samples.ExpectCount(t, got, account.Account{Records: 1, PartialTrees: 1, EndBeforeStart: 1})
}

func TestEveryKindOfScouterStepIsPassedOver(t *testing.T) {
	head := func(kind byte) *scouterWriter { return (&scouterWriter{}).bytes(kind).decimal(-1, 0, 0, 0) }
	steps := [][]byte{
		head(2).decimal(1, 2, 3).text("a = 1").decimal(0).data,
		head(3).text("message").data,
		head(5).blob([]byte{127, 0, 0, 1}).decimal(80, 1, 0).data,
		head(6).decimal(1<<40, 1, 2, 3, 0).bytes(1).text("host").data,
		head(6).decimal(1<<40, 1, 2, 3, 0).bytes(0).data,
		head(7).decimal(-1<<40, 1, 2, 3, 0).data,
		head(8).decimal(1, 2, 3).text("a = 1").decimal(0).bytes(1).data,
		threadStep(),
		head(12).short(2).int32(1).int32(2).long(1).text("main").text("RUNNABLE").long(0).text("").text("").data,
		head(13).decimal(1, 2, 3, 4, 5).bytes(1).text("dispatch").data,
		head(14).decimal(1, 2, 3).bytes(1).data,
		head(15).decimal(1, 2, 3, 4, 5).bytes(0).bytes(1).data,
		head(16).decimal(1, 2, 3).text("a = 1").decimal(0).bytes(1).decimal(-1).data,
		head(17).decimal(1, -1, 0).text("x").data,
		head(stepMethod2).decimal(int64(scouterHash(scouterName)), 1, 0, 5).data,
	}
	for _, order := range [][]int{rand.Perm(len(steps)), rand.Perm(len(steps))} {
		var profile []byte
		for _, at := range order {
			profile = append(profile, steps[at]...)
		}
		got := count(t, 1, samples.Method, scouterNames, onePack(profilePack(packProfile, 1, profile)))
		samples.ExpectCount(t, got, account.Account{Records: 1, CompleteTrees: 1})
	}
}

func TestAnUnknownScouterStepEndsItsProfile(t *testing.T) {
	steps := slices.Concat(callSteps(2), []byte{77}, methodStep(scouterName, -1, 9, 0))
	got := count(t, 2, samples.Method, scouterNames, onePack(profilePack(packProfile, 1, steps)))
	samples.ExpectCount(t, got, account.Account{Records: 2, CompleteTrees: 1, Malformed: 1})
}

func TestWhatScouterSaysBesideRecordsIsCountedApart(t *testing.T) {
	counters, heartbeat := packList(counterPack(), counterPack()), onePack(heartbeatPack())
	got := count(t, 10, samples.Method, counters, heartbeat, onePack([]byte{70, 1, 2, 3}), onePack([]byte{22, 0}))
	want := map[string]int64{ledger.Metrics: int64(len(counters)), heartbeats: int64(len(heartbeat)), otherSignal: 8 + 6}
	if got.Bytes != 0 || got.Requests != 0 {
		t.Errorf("counted %+v", got)
	}
	samples.ExpectCount(t, got, account.Account{OtherBytes: want})
}

func TestAScouterListMayHaveHeartbeatsAmongItsNames(t *testing.T) {
	list := packList(heartbeatPack(), textPack("hmsg", "main"), heartbeatPack(), textPack("method", scouterName))
	got := count(t, 10, samples.Method, append([][]byte{list}, scouterCall(packProfile, 1, 10)...)...)
	samples.ExpectCount(t, got, account.Account{Records: 10, CompleteTrees: 1})
}

func TestScoutersFormatsHaveTwoNames(t *testing.T) {
	other := map[string]string{"CAFE": "JAVA", "CAFN": "JAVN", "CAFM": "JMTU"}
	datagrams := append([][]byte{scouterNames}, scouterCall(packProfile, 1, 10)...)
	datagrams = append(datagrams, inParts(1, profilePack(packProfile, 2, callSteps(10)), 50)...)
	for i, datagram := range datagrams {
		datagrams[i] = append([]byte(other[string(datagram[:4])]), datagram[4:]...)
	}
	samples.ExpectCount(t, count(t, 10, samples.Method, datagrams...), account.Account{Records: 20, CompleteTrees: 2})
}

func TestAScouterPackInPartsIsPutTogetherInAnyOrder(t *testing.T) {
	datagrams := [][]byte{scouterNames}
	for txid := range uint64(5) {
		datagrams = append(datagrams, inParts(txid, profilePack(packProfile2, txid, callSteps(10)), 40)...)
	}
	datagrams = append(datagrams, inParts(9, textPack("hmsg", "x"), 3)...)
	rand.Shuffle(len(datagrams), func(i, j int) { datagrams[i], datagrams[j] = datagrams[j], datagrams[i] })
	samples.ExpectCount(t, count(t, 10, samples.Method, datagrams...), account.Account{Records: 50, CompleteTrees: 5})
}

func TestANameInPartsIsKnown(t *testing.T) {
	datagrams := append(inParts(1, textPack("method", scouterName), 20), scouterCall(packProfile, 1, 10)...)
	samples.ExpectCount(t, count(t, 10, samples.Method, datagrams...), account.Account{Records: 10, CompleteTrees: 1})
}

func TestAScouterPackOfWhichAPartIsMissingIsCutOff(t *testing.T) {
	parts := inParts(1, profilePack(packProfile, 1, callSteps(10)), 40)
	again := append([][]byte{scouterNames, parts[0], parts[0]}, parts[2:]...)
	samples.ExpectCount(t, count(t, 10, samples.Method, again...), account.Account{CutOff: 1})

	var many [][]byte
	for id := range uint64(maxFragmented + 5) {
		many = append(many, inParts(id, profilePack(packProfile, 1, callSteps(10)), 40)[0])
	}
	samples.ExpectCount(t, count(t, 10, samples.Method, many...), account.Account{CutOff: maxFragmented + 5})
}

func TestAScouterPackThatTakesTooLongHoldsMemoryNoLonger(t *testing.T) {
	f := newFragments(message.NewMemory(1<<20, 4<<20))
	b := ledger.NewBatch(0)
	for pack, second := range []int64{0, 59, 60} {
		b.ArrivalNs = second * int64(time.Second)
		if _, err := f.add(fragmentKey{pack: uint64(pack)}, 2, 0, make([]byte, 1000), b); err != nil {
			t.Fatal(err)
		}
	}
	if late := f.expire(int64(message.Time)); late != 0 {
		t.Errorf("%d packs are late after as long as a message may take", late)
	}
	if late := f.expire(int64(message.Time) + int64(time.Second)); late != 1 || len(f.open) != 2 {
		t.Errorf("%d packs are late, %d are open", late, len(f.open))
	}
	if late := f.expire(10 * int64(message.Time)); late != 2 || f.messages.Held() != 0 {
		t.Errorf("%d packs are late, and %d bytes are held", late, f.messages.Held())
	}
}

func TestAPartThatIsNotOfItsScouterPackIsMalformed(t *testing.T) {
	part := func(total, number int) []byte {
		return (&scouterWriter{}).bytes([]byte("CAFM")...).int32(7).long(1).short(total).short(number).text("x").data
	}
	got := count(t, 10, samples.Method, part(0, 0), part(2, 2), part(-1, 0), part(2, -1), part(3, 0), part(4, 1))
	samples.ExpectCount(t, got, account.Account{Malformed: 5, CutOff: 1})
}

func TestAScouterPackInPartsTakesNoMoreMemoryThanAMessageMay(t *testing.T) {
	part := func(pack uint64, number int) []byte {
		w := (&scouterWriter{}).bytes([]byte("CAFM")...).int32(7).long(pack)
		return w.short(1000).short(number).blob(make([]byte, 60_000)).data
	}
	var datagrams [][]byte
	for number := range 18 { // the last one is beyond the megabyte that the test allows
		datagrams = append(datagrams, part(1, number))
	}
	samples.ExpectCount(t, count(t, 10, samples.Method, datagrams...), account.Account{Malformed: 1})

	datagrams = nil
	for pack := range uint64(5) { // all together are beyond 4 MiB
		for number := range 16 {
			datagrams = append(datagrams, part(pack, number))
		}
	}
	got := count(t, 10, samples.Method, datagrams...)
	if got.Refused == 0 || got.Malformed != 0 || got.CutOff == 0 {
		t.Errorf("counted %+v", got)
	}
}

func TestALargeScouterPackIsEnteredInBatches(t *testing.T) {
	const calls = 2000
	steps := threadStep()
	for range calls {
		steps = append(steps, methodStep(scouterName, -1, 1, 0)...)
	}
	l := ledger.New(tree.NewTable(&tree.SpanChain{}, 1, 1000, 8<<20), Protocol.Signals)
	s := newReceiver(samples.Method, l, message.NewMemory(1<<20, 4<<20))
	s.walk.datagram(scouterNames)
	for _, part := range inParts(1, profilePack(packProfile, 1, steps), 1000) {
		s.walk.datagram(part)
	}
	if held := cap(s.walk.batch.Numbered); held > 2*ledger.BatchRecords {
		t.Errorf("%d records were held at once", held)
	}
	samples.ExpectCount(t, l.Close(), account.Account{Records: 1, CompleteTrees: 1, Duplicates: calls - 1})
}

func TestACutScouterDatagramIsMalformed(t *testing.T) {
	for _, whole := range append(scouterCall(packProfile2, 1, 3), scouterNames, onePack(heartbeatPack())) {
		for cut := range len(whole) {
			if got := count(t, 3, samples.Method, whole[:cut]); got.Malformed != 1 {
				t.Fatalf("%q cut at %d of %d: %+v", whole[:cut], cut, len(whole), got)
			}
		}
	}
}

func TestGarbageIsNoScouterDatagram(t *testing.T) {
	for _, garbage := range []string{
		"", "x", "CAFE", "CAFX\x15", "CAFE\x63", "CAFE\x15\x02xx", "CAFN\x00\x01", "CAFM", "CAFE\x1a\x07",
		"CAFE\x32\xfe\xff\xff\xff\xffx", "CAFE\x50\x00\x00\x00\x00\x00\x01\x00\x50\x04\x7f\xff\xff\xff",
		"CAFE\x50\x00\x00\x00\x00\x00\x01\x00" + string(bytes.Repeat([]byte{70, 1, 1}, 200)),
	} {
		if got := count(t, 3, samples.Method, []byte(garbage)); got.Malformed != 1 || got.Records != 0 {
			t.Errorf("%.40q: %+v", garbage, got)
		}
	}
}

func TestScoutersConnectionIsReadAndThrownAway(t *testing.T) {
	r := start(t, samples.Method)
	agent, stranger := r.Dial("scouter"), r.Dial("scouter")
	sinktest.Write(t, agent, (&scouterWriter{}).long(markAgentV2<<32|7).data)
	sinktest.Write(t, stranger, []byte("GET / HTTP/1.1\r\n\r\n"))
	r.Await("read", func(c sink.Counts) bool { return c.OpenConnections == 2 && c.Malformed == 1 })
	agent.Close()
	stranger.Close()
	r.Await("ended", func(c sink.Counts) bool { return c.OpenConnections == 0 })
	c := r.Stop().Protocols["scouter"]
	if c.OtherBytes[otherSignal] != 8+18 || c.Bytes != 0 {
		t.Errorf("counted %+v", c)
	}
}

func TestWhatLiesInScoutersSocketAtTheStopIsCounted(t *testing.T) {
	r := start(t, samples.Method)
	send := r.UDP("scouter")
	send(scouterNames)
	for txid := range uint64(300) {
		send(scouterCall(packProfile, txid, 10)[0])
	}
	if c := r.Stop().Protocols["scouter"]; c.Records != 3000 || c.CompleteTrees != 300 {
		t.Errorf("counted %+v", c)
	}
}

func TestScouterNamesStayKnownInTheNextPhase(t *testing.T) {
	r := start(t, samples.Method)
	send := r.UDP("scouter")
	send(scouterNames)
	for phase := range 3 {
		for txid := range uint64(10) {
			send(scouterCall(packProfile, uint64(phase)<<8|txid, 10)[0])
		}
		r.Await("read", func(c sink.Counts) bool { return c.Records == 100 })
		var closed sink.Report
		r.Ask(fmt.Sprint("phase next", phase), &closed)
		c := closed.Protocols["scouter"]
		c.ReceiveBufferBytes = 0
		samples.ExpectCount(t, c, account.Account{Records: 100, CompleteTrees: 10})
	}
}
