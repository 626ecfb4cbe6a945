package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/HdrHistogram/hdrhistogram-go"

	"tracetax/load/internal/clock"
)

// latencies are quantiles of durations, ns, to three significant digits.
type latencies struct {
	Mean   float64 `json:"mean_ns"`
	Median int64   `json:"median_ns"`
	P90    int64   `json:"p90_ns"`
	P99    int64   `json:"p99_ns"`
	P999   int64   `json:"p999_ns"`
	Max    int64   `json:"max_ns"`
}

// newHistogram holds the longest duration that the options allow: a start as late as can be, and a whole time-out after.
func newHistogram() *hdrhistogram.Histogram { return hdrhistogram.New(1, int64(2*longest), 3) }

// record counts a duration. Only if this whole process was stopped can one be longer than the histogram holds.
func record(h *hdrhistogram.Histogram, ns int64) { h.RecordValue(min(ns, h.HighestTrackableValue())) }

func latenciesOf(h *hdrhistogram.Histogram) latencies {
	return latencies{
		Mean:   h.Mean(),
		Median: h.ValueAtPercentile(50),
		P90:    h.ValueAtPercentile(90),
		P99:    h.ValueAtPercentile(99),
		P999:   h.ValueAtPercentile(99.9),
		Max:    h.Max(),
	}
}

// tally is what came of the requests to one endpoint.
type tally struct {
	Name     string            `json:"name"`
	Requests int               `json:"requests"`
	Outcomes map[string]int    `json:"outcomes"`
	Statuses map[string]int    `json:"statuses"`
	First    map[string]string `json:"first_failures"` // in words, by outcome
	Service  latencies         `json:"service"`
	Response *latencies        `json:"response,omitempty"` // from the intended start; none back to back
}

// tallies counts by endpoint. A request that failed is among the durations, by how long that took.
func (t *trial) tallies() []tally {
	all := make([]tally, len(t.mix))
	service := make([]*hdrhistogram.Histogram, len(t.mix))
	response := make([]*hdrhistogram.Histogram, len(t.mix))
	for i := range t.mix {
		all[i] = tally{Name: t.mix[i].Name, Outcomes: map[string]int{}, Statuses: map[string]int{}, First: map[string]string{}}
		service[i], response[i] = newHistogram(), newHistogram()
	}
	for k, i := range t.plan.endpoints {
		all[i].Requests++
		all[i].Outcomes[outcomeNames[t.results.outcomes[k]]]++
		if status := t.results.statuses[k]; status != 0 {
			all[i].Statuses[strconv.Itoa(int(status))]++
		}
		record(service[i], t.results.serviceNs[k])
		if t.o.paced() {
			record(response[i], t.results.lateNs[k]+t.results.serviceNs[k])
		}
	}
	for i := range all {
		all[i].Service = latenciesOf(service[i])
		if t.o.paced() {
			found := latenciesOf(response[i])
			all[i].Response = &found
		}
	}
	for of, why := range t.failures.first {
		all[of.endpoint].First[outcomeNames[of.outcome]] = why
	}
	return all
}

// starts are how punctual the requests were sent.
type starts struct {
	Missed int       `json:"missed"` // later than on time, or not at all
	Waited int       `json:"waited"` // of these: because no connection was free
	Late   latencies `json:"late"`   // real minus intended start
}

func (t *trial) starts() *starts {
	if !t.o.paced() {
		return nil
	}
	found, late := &starts{}, newHistogram()
	for k, ns := range t.results.lateNs {
		record(late, ns)
		if ns > int64(t.o.onTime) {
			found.Missed++
			if t.results.waited[k] {
				found.Waited++
			}
		}
	}
	found.Late = latenciesOf(late)
	return found
}

// coreShare is what the load itself used of one core during the measured requests, or the tool that sent them.
func (t *trial) coreShare() float64 {
	first, last := t.snapshots["first_call"], t.snapshots["last_call"]
	return float64(last.ProcessCPUNs-first.ProcessCPUNs+t.toolCPUNs) / float64(last.MonotonicNs-first.MonotonicNs)
}

// summary is what the status file says of the measured requests.
func (t *trial) summary() string {
	var counts [outcomes]int
	for _, o := range t.results.outcomes {
		counts[o]++
	}
	words := []string{fmt.Sprintf("requests=%d", len(t.results.outcomes))}
	for o, count := range counts {
		words = append(words, fmt.Sprintf("%s=%d", outcomeNames[o], count))
	}
	if found := t.starts(); found != nil {
		words = append(words, fmt.Sprintf("missed=%d waited=%d", found.Missed, found.Waited))
	}
	return strings.Join(append(words, fmt.Sprintf("core_share=%.3f", t.coreShare())), " ")
}

// write leaves the files of the trial; trial.json comes last, whole or not at all.
func (t *trial) write() error {
	if err := os.MkdirAll(t.o.out, 0o777); err != nil {
		return err
	}
	files := map[string][]string{"samples": {}, "start": {}, "late": {}}
	keep := func(kind, suffix string, values any) error {
		name := kind + "-0" + suffix
		files[kind] = []string{name}
		var content bytes.Buffer
		if err := binary.Write(&content, binary.LittleEndian, values); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(t.o.out, name), content.Bytes(), 0o666)
	}
	err := errors.Join(
		keep("samples", ".i64", t.results.serviceNs),
		keep("endpoint", ".u8", t.plan.endpoints),
		keep("outcome", ".u8", t.results.outcomes),
	)
	if t.o.inside {
		err = errors.Join(err, keep("inside", ".i64", t.results.insideNs))
	}
	if t.o.paced() {
		err = errors.Join(err, keep("start", ".i64", t.plan.starts), keep("late", ".i64", t.results.lateNs))
	}
	if err != nil {
		return err
	}
	text, err := json.Marshal(t.document(files))
	if err != nil {
		return err
	}
	return writeWhole(filepath.Join(t.o.out, "trial.json"), append(text, '\n'))
}

// document is trial.json: what every driver leaves, and under "load" what only this one knows.
func (t *trial) document(files map[string][]string) map[string]any {
	first, last := t.snapshots["first_call"], t.snapshots["last_call"]
	arrivals := t.o.arrivals
	var rate any = "full"
	if t.o.paced() {
		rate = t.o.rate
	} else {
		arrivals = "back-to-back"
	}
	return map[string]any{
		"format":      1,
		"workload":    "load",
		"files":       files,
		"threads":     1,
		"calls":       t.o.calls,
		"invocations": t.o.calls,
		"warm_up": map[string]any{
			"calls": t.calls, "bursts": t.bursts, "driver_level": topTier, "method_level": topTier, "how": how,
			"failed": t.failed,
		},
		"clock":     map[string]float64{"resolution_ns": clock.ResolutionNs(), "read_ns": clock.ReadNs()},
		"snapshots": t.snapshots,
		"caller": []map[string]int64{{
			"thread": 0, "calls": int64(t.o.calls), "first_ns": first.MonotonicNs, "last_ns": last.MonotonicNs,
			"cpu_ns": last.ProcessCPUNs - first.ProcessCPUNs,
		}},
		"versions": map[string]string{"go.version": runtime.Version()},
		"vm_flags": fmt.Sprintf("GOMAXPROCS=%d", runtime.GOMAXPROCS(0)),
		"load": map[string]any{
			"url": t.target.base, "rate": rate, "arrivals": arrivals, "seed": strconv.FormatUint(t.o.seed, 10),
			"connections": t.o.connections, "connections_opened": t.opened,
			"time_out_ns": t.o.timeOut.Nanoseconds(), "latest_ns": t.o.latest.Nanoseconds(), "on_time_ns": t.o.onTime.Nanoseconds(),
			"unsent_by_tool": t.unsentByTool, "rate_by_tool": t.rateByTool, "ready": t.ready, "core_share": t.coreShare(), "starts": t.starts(), "endpoints": t.tallies(),
		},
	}
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
	return os.Rename(path+".tmp", path)
}
