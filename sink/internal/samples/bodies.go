package samples

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"io"
)

// Pieces is a body that arrives in pieces.
type Pieces struct {
	Text []byte
	Size int
}

func (p *Pieces) Read(b []byte) (int, error) {
	if len(p.Text) == 0 {
		return 0, io.EOF
	}
	n := copy(b[:min(p.Size, len(b))], p.Text)
	p.Text = p.Text[n:]
	return n, nil
}

// Compressions are the encodings of a body over HTTP.
var Compressions = map[string]func(io.Writer) io.WriteCloser{
	"gzip":    func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
	"deflate": func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) },
}

// Compressed is a body in an encoding.
func Compressed(encoding string, text []byte) []byte {
	var body bytes.Buffer
	w := Compressions[encoding](&body)
	// A buffer takes everything.
	_, _ = w.Write(text)
	_ = w.Close()
	return body.Bytes()
}

// Endless is a body that never ends.
type Endless struct{}

func (Endless) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
