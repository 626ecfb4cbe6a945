package monitor

import (
	"runtime"
	"testing"
	"time"
)

func TestTheWorldStopsWhileAProcessorSleeps(t *testing.T) {
	t.Cleanup(func() { runtime.GOMAXPROCS(runtime.NumCPU()) })
	Calm(1)
	if processors := runtime.GOMAXPROCS(0); processors != 2 {
		t.Errorf("%d processors", processors)
	}
	time.Sleep(50 * time.Millisecond) // it sleeps by now
	stopped := make(chan struct{})
	go func() {
		for range 20 {
			runtime.GC()
		}
		close(stopped)
	}()
	select {
	case <-stopped:
	case <-time.After(time.Minute):
		t.Fatal("the world did not stop")
	}
}
