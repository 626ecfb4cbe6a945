package kieker

import (
	"net"
	"testing"

	"golang.org/x/sys/unix"

	"tracetax/sink/internal/account"
	"tracetax/sink/internal/samples"
	"tracetax/sink/internal/sink"
	"tracetax/sink/internal/sinktest"
)

// idle opens connections that send nothing, and keeps them open.
func idle(t *testing.T, r *sinktest.Running, protocol string, number int) []net.Conn {
	t.Helper()
	conns := make([]net.Conn, number)
	for i := range conns {
		conns[i] = r.Dial(protocol)
	}
	return conns
}

func TestTenThousandIdleConnectionsKeepNoSenderWaiting(t *testing.T) {
	r := start(t)
	// An agent that has connected, and holds its records back.
	agent := r.Dial("kieker-tcp")
	r.Await("connected", func(c sink.Counts) bool { return c.OpenConnections == 1 })
	idle(t, r, "kieker-tcp", min(10_000, descriptors(t)/3))
	for trace, conn := range []net.Conn{agent, r.Dial("kieker-tcp")} {
		w := samples.NewKiekerWriter()
		w.Call(int64(trace), 10)
		sinktest.Write(t, conn, w.Data)
	}
	r.Await("counted", func(c sink.Counts) bool { return c.Records == 20 })
	agent.Close()
	samples.ExpectCount(t, r.Stop().Protocols["kieker-tcp"], account.Account{Records: 20, CompleteTrees: 2})
}

// descriptors is how many this process may have.
func descriptors(t *testing.T) int {
	t.Helper()
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	return int(limit.Cur)
}
