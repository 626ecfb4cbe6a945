package handlers

import (
	"testing"

	"github.com/klauspost/compress/zstd"

	"tracetax/sink/internal/account"
	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/samples"
	"tracetax/sink/internal/tree"
)

// zeros is so many of them in Zstandard.
func zeros(t testing.TB, size int) []byte {
	t.Helper()
	writer, err := zstd.NewWriter(nil, zstd.WithSingleSegment(true))
	if err != nil {
		t.Fatal(err)
	}
	return writer.EncodeAll(make([]byte, size), nil)
}

// pieces counts two files of a folder that are read in pieces of this size.
func pieces(data []byte, piece int) account.Account {
	l := ledger.New(tree.NewTable(&tree.ExecutionChain{}, testDepth, 1000, 8<<20), nil)
	b := ledger.NewBatch(ledger.BatchRecords)
	d := File.Files.Decoder(samples.Method)
	d.Entry([]byte("0="+methodName), b)
	d.Entry([]byte("1="+otherName), b)
	buffer := make([]byte, len(data)+piece)
	for range 2 {
		d.Begin()
		for at, rest := 0, 0; ; {
			n := copy(buffer[rest:rest+piece], data[at:])
			at += n
			before := rest + n
			rest = d.Consume(buffer[:before], b)
			l.Apply(b)
			if at == len(data) && (rest == 0 || rest == before) {
				break
			}
		}
	}
	d.End(b)
	l.Apply(b)
	return l.Close()
}

func FuzzFile(f *testing.F) {
	for _, encoding := range encodings {
		events := append(chain(4, testDepth), event{method: 1}, event{method: 1, ends: true}, event{})
		f.Add(fileOf(f, encoding, events, 5), uint16(5))
	}
	f.Fuzz(func(t *testing.T, data []byte, piece uint16) {
		whole := pieces(data, 1<<20)
		samples.CheckTrees(t, testDepth, whole)
		if whole.Duplicates != 0 || whole.Malformed > 2 {
			t.Fatalf("%+v", whole)
		}
		samples.ExpectCount(t, pieces(data, int(piece)+1), whole)
	})
}
