package message

import (
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"io"
)

// Inflate undoes the encoding of a body.
func Inflate(body io.Reader, encoding string) (io.Reader, error) {
	switch encoding {
	case "", "identity":
		return body, nil
	case "gzip":
		return gzip.NewReader(body)
	case "deflate":
		return zlib.NewReader(body)
	default:
		return nil, fmt.Errorf("unknown encoding %q", encoding)
	}
}

// CountingReader counts what arrives of a body.
type CountingReader struct {
	io.Reader
	Count  int64
	Broken bool // the sender left before the end
}

// Read reads from the body.
func (c *CountingReader) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.Count += int64(n)
	c.Broken = c.Broken || err != nil && err != io.EOF
	return n, err
}
