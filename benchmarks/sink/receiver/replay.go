package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

const (
	// Sizes that the agent's HTTP client (OkHttp) was seen to use: of its frames, where the receiver allows them, and of
	// its writes to the socket.
	agentFrame = 48 << 10
	agentWrite = 8 << 10
	// agentWindow is what it lets the receiver send.
	agentWindow = 16 << 20
)

// client sends unary calls one after the other, as the agent does.
type client struct {
	conn   net.Conn
	framer *http2.Framer
	out    bytes.Buffer

	frame  int   // largest frame that the receiver takes
	window int64 // bytes that it takes on the connection
	begin  int64 // and on a stream that begins
	stream int64 // and on the current one
	id     uint32
	status string
	done   bool
	table  bytes.Buffer
	header *hpack.Encoder
}

// replay sends all messages of the file to a method.
func replay(path, address, method string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	messages := bufio.NewReaderSize(file, 1<<20)
	c, err := dial(address)
	if err != nil {
		return err
	}
	defer c.conn.Close()
	var message []byte
	for {
		var length [4]byte
		if _, err := io.ReadFull(messages, length[:]); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		size := int(binary.BigEndian.Uint32(length[:]))
		message = append(message[:0], 0)
		message = append(message, length[:]...)
		if cap(message) < size+5 {
			message = append(make([]byte, 0, size+5), message...)
		}
		message = message[:size+5]
		if _, err := io.ReadFull(messages, message[5:]); err != nil {
			return err
		}
		if err := c.call(method, message); err != nil {
			return err
		}
	}
}

func dial(address string) (*client, error) {
	conn, err := net.Dial("tcp4", address)
	if err != nil {
		return nil, err
	}
	// As in Java, small writes wait for the acknowledgement of those before (Nagle's algorithm).
	if err := conn.(*net.TCPConn).SetNoDelay(false); err != nil {
		return nil, err
	}
	c := &client{conn: conn, frame: 16 << 10, window: 65_535, begin: 65_535}
	c.framer = http2.NewFramer(&c.out, bufio.NewReader(conn))
	c.framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	c.header = hpack.NewEncoder(&c.table)
	c.out.WriteString(http2.ClientPreface)
	if err := c.framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: agentWindow}); err != nil {
		return nil, err
	}
	if err := c.framer.WriteWindowUpdate(0, agentWindow-65_535); err != nil {
		return nil, err
	}
	if err := c.flush(); err != nil {
		return nil, err
	}
	// The receiver's settings come first; the agent waits for them too before it knows of large frames.
	for settled := false; !settled; {
		f, err := c.framer.ReadFrame()
		if err != nil {
			return nil, err
		}
		settings, ok := f.(*http2.SettingsFrame)
		settled = ok && !settings.IsAck()
		if err := c.take(f); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// call sends one message and waits for its reply.
func (c *client) call(method string, message []byte) error {
	if c.id == 0 {
		c.id = 1
	} else {
		c.id += 2
	}
	c.stream, c.done, c.status = c.begin, false, ""
	c.table.Reset()
	for _, field := range [][2]string{
		{":method", "POST"}, {":path", "/" + method}, {":authority", c.conn.RemoteAddr().String()}, {":scheme", "http"},
		{"te", "trailers"}, {"user-agent", "OTel-OTLP-Exporter-Java"}, {"content-type", "application/grpc"},
	} {
		if err := c.header.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]}); err != nil {
			return err
		}
	}
	headers := http2.HeadersFrameParam{StreamID: c.id, BlockFragment: c.table.Bytes(), EndHeaders: true}
	if err := c.framer.WriteHeaders(headers); err != nil {
		return err
	}
	for len(message) > 0 {
		size := min(int64(len(message)), int64(c.frame), c.window, c.stream)
		if size == 0 {
			if err := c.next(); err != nil {
				return err
			}
			continue
		}
		if err := c.data(message[:size], size == int64(len(message))); err != nil {
			return err
		}
		c.window -= size
		c.stream -= size
		message = message[size:]
	}
	for !c.done {
		if err := c.next(); err != nil {
			return err
		}
	}
	if c.status != "0" {
		return fmt.Errorf("a call ended with status %q", c.status)
	}
	return nil
}

// next waits for a frame.
func (c *client) next() error {
	if err := c.flush(); err != nil {
		return err
	}
	f, err := c.framer.ReadFrame()
	if err != nil {
		return err
	}
	return c.take(f)
}

func (c *client) take(f http2.Frame) error {
	switch f := f.(type) {
	case *http2.SettingsFrame:
		if f.IsAck() {
			return nil
		}
		if value, ok := f.Value(http2.SettingInitialWindowSize); ok {
			c.begin = int64(value)
		}
		if value, ok := f.Value(http2.SettingMaxFrameSize); ok {
			c.frame = min(int(value), agentFrame)
		}
		return c.framer.WriteSettingsAck()
	case *http2.WindowUpdateFrame:
		if f.StreamID == 0 {
			c.window += int64(f.Increment)
		} else if f.StreamID == c.id {
			c.stream += int64(f.Increment)
		}
	case *http2.PingFrame:
		if !f.IsAck() {
			return c.framer.WritePing(true, f.Data)
		}
	case *http2.MetaHeadersFrame:
		for _, field := range f.Fields {
			if field.Name == "grpc-status" {
				c.status = field.Value
			}
		}
		c.done = f.StreamEnded()
	case *http2.RSTStreamFrame:
		return fmt.Errorf("a call was broken off: %v", f.ErrCode)
	case *http2.GoAwayFrame:
		return fmt.Errorf("the connection was ended: %v", f.ErrCode)
	}
	return nil
}

// data sends one frame of data as the agent's client writes it: what goes before, and then the data.
func (c *client) data(data []byte, last bool) error {
	size := len(data)
	c.out.Write([]byte{byte(size >> 16), byte(size >> 8), byte(size), byte(http2.FrameData), 0})
	if last {
		c.out.Bytes()[c.out.Len()-1] = byte(http2.FlagDataEndStream)
	}
	c.out.Write(binary.BigEndian.AppendUint32(nil, c.id))
	if err := c.flush(); err != nil {
		return err
	}
	for len(data) > 0 {
		n, err := c.conn.Write(data[:min(agentWrite, len(data))])
		if err != nil {
			return err
		}
		data = data[n:]
	}
	return nil
}

func (c *client) flush() error {
	if c.out.Len() == 0 {
		return nil
	}
	defer c.out.Reset()
	_, err := c.conn.Write(c.out.Bytes())
	return err
}
