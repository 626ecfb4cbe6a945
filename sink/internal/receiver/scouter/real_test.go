package scouter

import (
	hexadecimal "encoding/hex"
	"strings"
	"testing"

	"tracetax/sink/internal/account"
	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/samples"
)

// realScouter are datagrams of the agent 2.0.0, in the order in which it sent them: the method's name, the profile of
// its first call of depth 10, the service's name with a thread's, the call's transaction, a heartbeat.
var realScouter = []string{
	`4341464532066d6574686f64d2b2ced13574726163657461782e63616c6c747265652e4d6f6e69746f726564436c6173732e6d6f6e69746f72
	 65644d6574686f64284a49294a`,
	`434146451a00044d5933bb04d2b2ced158b16ebcaa909a63a40901ff000000047562e6da01ff00010109010a01660004d2b2ced1000001
	 0108010901660004d2b2ced10000010107010801660004d2b2ced10000010106010701660004d2b2ced10000010105010601660004d2b2
	 ced10000010104010501660004d2b2ced10000010103010401660004d2b2ced10000010102010301660004d2b2ced10000010101010201
	 660004d2b2ced100000101ff010101660004d2b2ced10000`,
	`4341464e0002320773657276696365d2b2ced13574726163657461782e63616c6c747265652e4d6f6e69746f726564436c6173732e6d6f
	 6e69746f7265644d6574686f64284a49294a3204686d7367680dbb410863616c6c65722d30`,
	`43414645155000044d5933bb04d2b2ced158b16ebcaa909a6300000000000000000000000000000000016700010500000400000000013a
	 00000000000000000001000000000004680dbb41000000000000000000010b`,
	`4341464550046a617661044d5933bb0c2f766d2f7472616365746178093132372e302e302e311a322e302e3020323031382d30392d3238
	 2030363a323420474d54010050010208646574656374656432046a617661034144430a00`,
}

func TestDatagramsOfTheRealScouterAreUnderstood(t *testing.T) {
	const method = "tracetax.calltree.MonitoredClass.monitoredMethod"
	var datagrams [][]byte
	for _, text := range realScouter {
		datagram, err := hexadecimal.DecodeString(strings.Join(strings.Fields(text), ""))
		if err != nil {
			t.Fatal(err)
		}
		datagrams = append(datagrams, datagram)
	}
	heartbeat := map[string]int64{ledger.Metrics: 0, heartbeats: int64(len(datagrams[4])), otherSignal: 0}
	for depth, name := range map[int]string{10: method, 1: servicePrefix + method} {
		got := count(t, depth, name, datagrams...)
		if got.Requests != 4 {
			t.Errorf("%d requests", got.Requests)
		}
		samples.ExpectCount(t, got, account.Account{Records: int64(depth), CompleteTrees: 1, OtherBytes: heartbeat})
	}
}
