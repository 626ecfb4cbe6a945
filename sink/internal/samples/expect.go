package samples

import (
	"encoding/json"
	"testing"

	"tracetax/sink/internal/account"
)

// CheckTrees fails where an account has more trees or orphans than its records can make.
func CheckTrees(t *testing.T, depth int64, c account.Account) {
	t.Helper()
	if c.CompleteTrees*depth > c.Records || c.Orphans > c.Records || c.CompleteTrees+c.PartialTrees > c.Records {
		t.Fatalf("no possible trees: %+v", c)
	}
}

// ExpectCount compares two counts but for bytes, requests and times, and for scopes where none are expected.
func ExpectCount(t *testing.T, got, want account.Account) {
	t.Helper()
	got.Bytes, got.FirstArrivalNs, got.LastArrivalNs, got.Requests = 0, 0, 0, 0
	if want.OtherBytes == nil {
		want.OtherBytes = got.OtherBytes
	}
	if len(want.Unexpected) == 0 && len(got.Unexpected) == 0 {
		want.Unexpected = got.Unexpected
	}
	if want.Scopes == nil {
		want.Scopes = got.Scopes
	}
	g, _ := json.MarshalIndent(got, "", " ")
	w, _ := json.MarshalIndent(want, "", " ")
	if string(g) != string(w) {
		t.Errorf("counted %s\nexpected %s", g, w)
	}
}

// CheckMessage counts a message once and twice: a span that comes again is a duplicate, unless its tree was evicted.
func CheckMessage(t *testing.T, data []byte, count func(depth int, messages ...[]byte) account.Account) {
	t.Helper()
	once := count(3, data)
	CheckTrees(t, 3, once)
	if once.Malformed == 0 && !json.Valid(data) {
		t.Fatalf("%q is taken", data)
	}
	twice := count(3, data, data)
	if twice.EvictedTrees == 0 && (twice.Records != once.Records || twice.Duplicates != 2*once.Duplicates+once.Records) {
		t.Fatalf("once %+v, twice %+v", once, twice)
	}
}
