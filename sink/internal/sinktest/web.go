package sinktest

import (
	"fmt"
	"io"
	"net"
	"net/http"
)

// URL is an address at the only port of the sink.
func (r *Running) URL(path string) string {
	for _, port := range r.Ports {
		return fmt.Sprintf("http://127.0.0.1:%d%s", port, path)
	}
	return ""
}

// Post sends a body and returns the status, the content type and the body of the reply.
func (r *Running) Post(path, media, encoding string, body io.Reader) (int, string, string) {
	r.t.Helper()
	request, err := http.NewRequest(http.MethodPost, r.URL(path), body)
	if err != nil {
		r.t.Fatal(err)
	}
	request.Header.Set("Content-Type", media)
	if encoding != "" {
		request.Header.Set("Content-Encoding", encoding)
	}
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		r.t.Fatal(err)
	}
	defer reply.Body.Close()
	text, _ := io.ReadAll(reply.Body)
	return reply.StatusCode, reply.Header.Get("Content-Type"), string(text)
}

// UDP is a socket that sends to the sink.
func (r *Running) UDP(protocol string) func([]byte) {
	r.t.Helper()
	conn, err := net.DialUDP("udp4", nil, &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: r.Ports[protocol]})
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { conn.Close() })
	return func(datagram []byte) {
		if _, err := conn.Write(datagram); err != nil {
			r.t.Errorf("not sent: %v", err)
		}
	}
}
