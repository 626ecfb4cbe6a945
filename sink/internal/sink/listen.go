package sink

import (
	"net"

	"tracetax/sink/internal/network"
	"tracetax/sink/internal/protocol"
)

// portTries is how many free ports for connections are looked at until one is free for datagrams too.
const portTries = 32

// listenFor opens a free loopback port for connections, and for datagrams if the receiver takes them.
func listenFor(r protocol.Receiver) (net.Listener, error) {
	takes, both := r.(protocol.DatagramReceiver)
	for try := 1; ; try++ {
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil || !both {
			return l, err
		}
		d, err := network.OpenDatagrams(l.Addr().(*net.TCPAddr).Port, network.ReceiveBuffer)
		if err == nil {
			takes.TakeFrom(d)
			return l, nil
		}
		l.Close()
		if try == portTries {
			return nil, err
		}
	}
}
