package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

func TestScoutersStepsAreCountedExactlyInTheirTrees(t *testing.T) {
	r := startScouter(t, testMethod)
	send := r.udp("scouter")
	send(scouterNames)
	size := len(scouterNames)
	for txid := range uint64(1000) {
		for _, datagram := range scouterCall([]byte{packProfile, packProfile2}[txid%2], txid+1, 10) {
			send(datagram)
			size += len(datagram)
		}
		if txid%100 == 99 {
			r.await("read", func(c counts) bool { return c.Records == int64(txid+1)*10 })
		}
	}
	c := r.stop().Protocols["scouter"]
	if c.Requests != 2001 || c.Bytes != int64(size) || c.FirstArrivalNs == 0 || c.LostDatagrams != 0 {
		t.Errorf("counted %+v", c)
	}
	if c.ReceiveBufferBytes <= 0 {
		t.Errorf("the kernel says that it holds %d bytes", c.ReceiveBufferBytes)
	}
	c.ReceiveBufferBytes = 0
	expectCount(t, c, protocolCount{Records: 10_000, CompleteTrees: 1000})
}

func TestScoutersTransactionsAreTheRecordsWhereTheNameSaysSo(t *testing.T) {
	datagrams := [][]byte{onePack(textPack("service", scouterName)), onePack(textPack("service", "other()V"))}
	for txid := range uint64(3) {
		datagrams = append(datagrams, scouterCall(packProfile, txid, 10)...)
	}
	datagrams = append(datagrams, onePack(xlogPack(9, "other()V")), onePack(xlogPack(2, scouterName)))
	expectCount(t, countScouter(t, 1, scouterService+testMethod, datagrams...), protocolCount{
		Records: 3, CompleteTrees: 3, Duplicates: 1, UnexpectedNames: 1, Unexpected: map[string]int64{"other()V": 1},
	})
}

func TestScoutersRecordsWaitForTheirName(t *testing.T) {
	call := scouterCall(packProfile, 1, 10)
	expectCount(t, countScouter(t, 10, testMethod, append(call, scouterNames)...), protocolCount{Records: 10, CompleteTrees: 1})
	expectCount(t, countScouter(t, 10, testMethod, append(call, onePack(textPack("service", scouterName)))...), protocolCount{
		UnexpectedNames: 10, Unexpected: map[string]int64{nameless: 10},
	})
}

func TestScoutersNamesAreTheMethodsAlone(t *testing.T) {
	steps := append(methodStep("demo.Other.run()V", -1, 2, 0), callSteps(1)...)
	got := countScouter(t, 1, testMethod, onePack(textPack("method", "demo.Other.run()V")), scouterNames,
		onePack(profilePack(packProfile, 1, steps)))
	expectCount(t, got, protocolCount{
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
	expectCount(t, countScouter(t, 30, testMethod, datagrams...), protocolCount{Records: 30, CompleteTrees: 1})
}

func TestAScouterStepWithoutItsParentIsAnOrphan(t *testing.T) {
	steps := slices.Concat(methodStep(scouterName, -1, 1, 0), methodStep(scouterName, 2, 3, 0))
	got := countScouter(t, 3, testMethod, scouterNames, onePack(profilePack(packProfile, 1, steps)))
	expectCount(t, got, protocolCount{Records: 2, PartialTrees: 1, Orphans: 1})
}

func TestAScouterStepThatEndsBeforeItStartsIsNoCompleteTree(t *testing.T) {
	got := countScouter(t, 1, testMethod, scouterNames,
		onePack(profilePack(packProfile, 1, methodStep(scouterName, -1, 1, -1))))
	expectCount(t, got, protocolCount{Records: 1, PartialTrees: 1, EndBeforeStart: 1})
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
		got := countScouter(t, 1, testMethod, scouterNames, onePack(profilePack(packProfile, 1, profile)))
		expectCount(t, got, protocolCount{Records: 1, CompleteTrees: 1})
	}
}

func TestAnUnknownScouterStepEndsItsProfile(t *testing.T) {
	steps := slices.Concat(callSteps(2), []byte{77}, methodStep(scouterName, -1, 9, 0))
	got := countScouter(t, 2, testMethod, scouterNames, onePack(profilePack(packProfile, 1, steps)))
	expectCount(t, got, protocolCount{Records: 2, CompleteTrees: 1, Malformed: 1})
}

func TestWhatScouterSaysBesideRecordsIsCountedApart(t *testing.T) {
	counters, heartbeat := packList(counterPack(), counterPack()), onePack(heartbeatPack())
	got := countScouter(t, 10, testMethod, counters, heartbeat, onePack([]byte{70, 1, 2, 3}), onePack([]byte{22, 0}))
	want := map[string]int64{metrics: int64(len(counters)), heartbeats: int64(len(heartbeat)), otherSignal: 8 + 6}
	if got.Bytes != 0 || got.Requests != 0 {
		t.Errorf("counted %+v", got)
	}
	expectCount(t, got, protocolCount{OtherBytes: want})
}

func TestAScouterListMayHaveHeartbeatsAmongItsNames(t *testing.T) {
	list := packList(heartbeatPack(), textPack("hmsg", "main"), heartbeatPack(), textPack("method", scouterName))
	got := countScouter(t, 10, testMethod, append([][]byte{list}, scouterCall(packProfile, 1, 10)...)...)
	expectCount(t, got, protocolCount{Records: 10, CompleteTrees: 1})
}

func TestScoutersFormatsHaveTwoNames(t *testing.T) {
	other := map[string]string{"CAFE": "JAVA", "CAFN": "JAVN", "CAFM": "JMTU"}
	datagrams := append([][]byte{scouterNames}, scouterCall(packProfile, 1, 10)...)
	datagrams = append(datagrams, inParts(1, profilePack(packProfile, 2, callSteps(10)), 50)...)
	for i, datagram := range datagrams {
		datagrams[i] = append([]byte(other[string(datagram[:4])]), datagram[4:]...)
	}
	expectCount(t, countScouter(t, 10, testMethod, datagrams...), protocolCount{Records: 20, CompleteTrees: 2})
}

func TestAScouterPackInPartsIsPutTogetherInAnyOrder(t *testing.T) {
	datagrams := [][]byte{scouterNames}
	for txid := range uint64(5) {
		datagrams = append(datagrams, inParts(txid, profilePack(packProfile2, txid, callSteps(10)), 40)...)
	}
	datagrams = append(datagrams, inParts(9, textPack("hmsg", "x"), 3)...)
	rand.Shuffle(len(datagrams), func(i, j int) { datagrams[i], datagrams[j] = datagrams[j], datagrams[i] })
	expectCount(t, countScouter(t, 10, testMethod, datagrams...), protocolCount{Records: 50, CompleteTrees: 5})
}

func TestANameInPartsIsKnown(t *testing.T) {
	datagrams := append(inParts(1, textPack("method", scouterName), 20), scouterCall(packProfile, 1, 10)...)
	expectCount(t, countScouter(t, 10, testMethod, datagrams...), protocolCount{Records: 10, CompleteTrees: 1})
}

func TestAScouterPackOfWhichAPartIsMissingIsCutOff(t *testing.T) {
	parts := inParts(1, profilePack(packProfile, 1, callSteps(10)), 40)
	again := append([][]byte{scouterNames, parts[0], parts[0]}, parts[2:]...)
	expectCount(t, countScouter(t, 10, testMethod, again...), protocolCount{CutOff: 1})

	var many [][]byte
	for id := range uint64(maxFragmented + 5) {
		many = append(many, inParts(id, profilePack(packProfile, 1, callSteps(10)), 40)[0])
	}
	expectCount(t, countScouter(t, 10, testMethod, many...), protocolCount{CutOff: maxFragmented + 5})
}

func TestAScouterPackThatTakesTooLongHoldsMemoryNoLonger(t *testing.T) {
	f := newFragments(newMessages(1<<20, 4<<20))
	b := newBatch(0)
	for pack, second := range []int64{0, 59, 60} {
		b.arrivalNs = second * int64(time.Second)
		if _, err := f.add(fragmentKey{pack: uint64(pack)}, 2, 0, make([]byte, 1000), b); err != nil {
			t.Fatal(err)
		}
	}
	if late := f.expire(int64(messageTime)); late != 0 {
		t.Errorf("%d packs are late after as long as a message may take", late)
	}
	if late := f.expire(int64(messageTime) + int64(time.Second)); late != 1 || len(f.open) != 2 {
		t.Errorf("%d packs are late, %d are open", late, len(f.open))
	}
	if late := f.expire(10 * int64(messageTime)); late != 2 || f.messages.budget.used.Load() != 0 {
		t.Errorf("%d packs are late, and %d bytes are held", late, f.messages.budget.used.Load())
	}
}

func TestAPartThatIsNotOfItsScouterPackIsMalformed(t *testing.T) {
	part := func(total, number int) []byte {
		return (&scouterWriter{}).bytes([]byte("CAFM")...).int32(7).long(1).short(total).short(number).text("x").data
	}
	got := countScouter(t, 10, testMethod, part(0, 0), part(2, 2), part(-1, 0), part(2, -1), part(3, 0), part(4, 1))
	expectCount(t, got, protocolCount{Malformed: 5, CutOff: 1})
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
	expectCount(t, countScouter(t, 10, testMethod, datagrams...), protocolCount{Malformed: 1})

	datagrams = nil
	for pack := range uint64(5) { // all together are beyond 4 MiB
		for number := range 16 {
			datagrams = append(datagrams, part(pack, number))
		}
	}
	got := countScouter(t, 10, testMethod, datagrams...)
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
	l := newLedger(newTreeTable(&spanChain{}, 1, 1000, 8<<20), scouter.signals)
	s := newScouterReceiver(testMethod, l, newMessages(1<<20, 4<<20))
	s.walk.datagram(scouterNames)
	for _, part := range inParts(1, profilePack(packProfile, 1, steps), 1000) {
		s.walk.datagram(part)
	}
	if held := cap(s.walk.batch.numbered); held > 2*spansPerBatch {
		t.Errorf("%d records were held at once", held)
	}
	expectCount(t, l.close(), protocolCount{Records: 1, CompleteTrees: 1, Duplicates: calls - 1})
}

func TestACutScouterDatagramIsMalformed(t *testing.T) {
	for _, whole := range append(scouterCall(packProfile2, 1, 3), scouterNames, onePack(heartbeatPack())) {
		for cut := range len(whole) {
			if got := countScouter(t, 3, testMethod, whole[:cut]); got.Malformed != 1 {
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
		if got := countScouter(t, 3, testMethod, []byte(garbage)); got.Malformed != 1 || got.Records != 0 {
			t.Errorf("%.40q: %+v", garbage, got)
		}
	}
}

func TestScoutersConnectionIsReadAndThrownAway(t *testing.T) {
	r := startScouter(t, testMethod)
	agent, stranger := r.dial("scouter"), r.dial("scouter")
	write(t, agent, (&scouterWriter{}).long(scouterAgentV2<<32|7).data)
	write(t, stranger, []byte("GET / HTTP/1.1\r\n\r\n"))
	r.await("read", func(c counts) bool { return c.OpenConnections == 2 && c.Malformed == 1 })
	agent.Close()
	stranger.Close()
	r.await("ended", func(c counts) bool { return c.OpenConnections == 0 })
	c := r.stop().Protocols["scouter"]
	if c.OtherBytes[otherSignal] != 8+18 || c.Bytes != 0 {
		t.Errorf("counted %+v", c)
	}
}

func TestWhatLiesInScoutersSocketAtTheStopIsCounted(t *testing.T) {
	r := startScouter(t, testMethod)
	send := r.udp("scouter")
	send(scouterNames)
	for txid := range uint64(300) {
		send(scouterCall(packProfile, txid, 10)[0])
	}
	if c := r.stop().Protocols["scouter"]; c.Records != 3000 || c.CompleteTrees != 300 {
		t.Errorf("counted %+v", c)
	}
}

func TestScouterNamesStayKnownInTheNextPhase(t *testing.T) {
	r := startScouter(t, testMethod)
	send := r.udp("scouter")
	send(scouterNames)
	for phase := range 3 {
		for txid := range uint64(10) {
			send(scouterCall(packProfile, uint64(phase)<<8|txid, 10)[0])
		}
		r.await("read", func(c counts) bool { return c.Records == 100 })
		var closed report
		r.ask(fmt.Sprint("phase next", phase), &closed)
		c := closed.Protocols["scouter"]
		c.ReceiveBufferBytes = 0
		expectCount(t, c, protocolCount{Records: 100, CompleteTrees: 10})
	}
}
