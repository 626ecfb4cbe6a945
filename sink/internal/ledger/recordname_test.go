package ledger

import "testing"

func TestARecordIsExpectedByItsNameOrWhateverItIs(t *testing.T) {
	for _, c := range []struct {
		expected RecordName
		name     string
		is       bool
	}{{"GET /", "GET /", true}, {"GET /", "get /", false}, {"GET /", "", false}, {AnyName, "GET /", true}, {AnyName, "", true}, {"**", "*", false}} {
		if c.expected.Is([]byte(c.name)) != c.is {
			t.Errorf("%q is %q: %t", c.name, c.expected, !c.is)
		}
	}
}
