package calltree

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"sync/atomic"
)

const (
	topTier = 4 // what a compiler's highest tier is told as: all of a Go program is compiled before it starts
	how     = "ahead-of-time"
)

// trial is one trial, command by command: warm-up, measured calls, drained.
type trial struct {
	o         *options
	status    *statusLog
	stop      *atomic.Bool
	callers   *callers
	offsetNs  int64
	snapshots map[string]snapshot
	calls     int64
	bursts    int
	measured  bool
}

// newTrial starts the callers; everything that the measured calls need is then in place.
func newTrial(o *options, monitored Monitored, status *statusLog, stop *atomic.Bool, begin snapshot) *trial {
	t := &trial{
		o:         o,
		status:    status,
		stop:      stop,
		callers:   newCallers(o, monitored, stop),
		offsetNs:  offsetNs(),
		snapshots: map[string]snapshot{"main": begin},
	}
	status.event("ready", monotonicNs(), "")
	return t
}

// warmUp makes a burst of warm-up calls. The very first call is made by itself and told: until then an agent has set
// itself up.
func (t *trial) warmUp(calls int64) error {
	left := calls
	if t.calls == 0 {
		if err := t.callers.warmUp(1); err != nil {
			return err
		}
		t.status.event("first-monitored", t.offsetNs+t.callers.all[0].lastNs, "")
		left--
	}
	if left > 0 {
		if err := t.callers.warmUp(left); err != nil {
			return err
		}
	}
	if t.stop.Load() {
		return nil
	}
	t.calls += calls
	t.bursts++
	text := fmt.Sprintf("calls=%d driver=%d method=%d how=%s", t.calls, topTier, topTier, how)
	t.status.event("warmed", monotonicNs(), text)
	return nil
}

// measure makes the measured calls.
func (t *trial) measure() error {
	if t.measured {
		return errors.New("measure: the measured calls are already made")
	}
	first := takeSnapshot()
	t.status.event("first-call", first.MonotonicNs, "")
	if err := t.callers.measure(); err != nil {
		return err
	}
	if t.stop.Load() {
		return nil
	}
	last := takeSnapshot()
	t.status.event("last-call", last.MonotonicNs, "")
	t.snapshots["first_call"], t.snapshots["last_call"] = first, last
	t.measured = true
	return nil
}

// drained takes the last snapshots and writes everything.
func (t *trial) drained() error {
	if !t.measured {
		return errors.New("drained: nothing has been measured")
	}
	drained := takeSnapshot()
	t.status.event("drained", drained.MonotonicNs, "")
	t.snapshots["drained"] = drained
	runtime.GC()
	t.snapshots["collected"] = takeSnapshot()
	if err := t.write(); err != nil {
		return err
	}
	t.status.event("written", monotonicNs(), "")
	return nil
}

func (t *trial) write() error {
	if err := os.MkdirAll(t.o.out, 0o777); err != nil {
		return err
	}
	files := map[string][]string{"samples": {}, "start": {}, "late": {}}
	var counters []map[string]int64
	for _, c := range t.callers.all {
		kept := map[string][]int64{"samples": c.samples.durations}
		if t.o.paced() {
			kept["start"], kept["late"] = c.samples.starts, c.samples.lateness
		}
		for kind, values := range kept {
			name := fmt.Sprintf("%s-%d.i64", kind, c.thread)
			if err := writeValues(filepath.Join(t.o.out, name), values); err != nil {
				return err
			}
			files[kind] = append(files[kind], name)
		}
		counters = append(counters, map[string]int64{
			"thread":   int64(c.thread),
			"calls":    int64(len(c.samples.durations)),
			"first_ns": t.offsetNs + c.firstNs,
			"last_ns":  t.offsetNs + c.lastNs,
			"cpu_ns":   c.cpuNs,
		})
	}
	text, err := json.Marshal(map[string]any{
		"format":      1,
		"workload":    "calltree/go",
		"files":       files,
		"threads":     t.o.threads,
		"calls":       t.o.calls,
		"invocations": t.o.calls * int64(t.o.depth),
		"warm_up": map[string]any{
			"calls": t.calls, "bursts": t.bursts, "driver_level": topTier, "method_level": topTier, "how": how,
		},
		"clock":     measureClock(),
		"snapshots": t.snapshots,
		"caller":    counters,
		"versions":  map[string]string{"go.version": runtime.Version()},
		"vm_flags":  settings(),
	})
	if err != nil {
		return err
	}
	return writeWhole(filepath.Join(t.o.out, "trial.json"), append(text, '\n'))
}

// settings are what the environment tells Go's runtime.
func settings() string {
	var said bytes.Buffer
	fmt.Fprintf(&said, "GOMAXPROCS=%d", runtime.GOMAXPROCS(0))
	for _, name := range []string{"GOGC", "GOMEMLIMIT", "GODEBUG"} {
		if value := os.Getenv(name); value != "" {
			fmt.Fprintf(&said, " %s=%s", name, value)
		}
	}
	return said.String()
}

// snapshot is what only the program itself can see, at one moment.
type snapshot struct {
	MonotonicNs    int64  `json:"monotonic_ns"`
	ProcessCPUNs   int64  `json:"process_cpu_ns"`
	Collections    uint64 `json:"gc_count"`
	HeapUsedBytes  uint64 `json:"heap_used_bytes"`
	AllocatedBytes uint64 `json:"allocated_bytes"` // by the whole program so far
}

func takeSnapshot() snapshot {
	read := []metrics.Sample{
		{Name: "/gc/cycles/total:gc-cycles"}, {Name: "/memory/classes/heap/objects:bytes"}, {Name: "/gc/heap/allocs:bytes"},
	}
	metrics.Read(read)
	return snapshot{
		MonotonicNs:    monotonicNs(),
		ProcessCPUNs:   clock(clockProcess),
		Collections:    read[0].Value.Uint64(),
		HeapUsedBytes:  read[1].Value.Uint64(),
		AllocatedBytes: read[2].Value.Uint64(),
	}
}

// writeValues writes values as little-endian 64-bit integers.
func writeValues(path string, values []int64) error {
	var content bytes.Buffer
	content.Grow(8 * len(values))
	if err := binary.Write(&content, binary.LittleEndian, values); err != nil {
		return err
	}
	return os.WriteFile(path, content.Bytes(), 0o666)
}

// writeWhole writes a text so that it is there whole or not at all, whatever happens.
func writeWhole(path string, text []byte) error {
	unfinished, err := os.Create(path + ".tmp")
	if err != nil {
		return err
	}
	_, err = unfinished.Write(text)
	if err := errors.Join(err, unfinished.Sync(), unfinished.Close()); err != nil {
		return err
	}
	if err := os.Rename(path+".tmp", path); err != nil {
		return err
	}
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
