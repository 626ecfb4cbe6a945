// Package control is how the sink is told what to do: its arguments, and a command per line of its standard input.
// Each command is answered by one line of JSON.
package control

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"tracetax/sink/internal/files"
	"tracetax/sink/internal/sink"
)

const (
	maxCommand   = 4 << 10
	maxPhaseName = 100
)

// Greeting is the first line that the sink says.
type Greeting struct {
	Ports map[string]int `json:"ports"`
	PID   int            `json:"pid"`
}

// Complaint is the answer to a command that is not obeyed.
type Complaint struct {
	Error string `json:"error"`
}

// control tells the ports, answers every command of stdin by one line of JSON, and stops the sink with the last
// phase's report when they end. An error says that the answers cannot be written.
func converse(s *sink.Sink, ports map[string]int, stdin io.Reader, stdout io.Writer) error {
	answers := json.NewEncoder(stdout)
	answers.SetEscapeHTML(false)
	if err := answers.Encode(Greeting{Ports: ports, PID: os.Getpid()}); err != nil {
		s.Stop()
		return err
	}
	commands := bufio.NewReaderSize(stdin, maxCommand)
	for {
		line, err := nextLine(commands)
		if errors.Is(err, bufio.ErrBufferFull) {
			if err := answers.Encode(Complaint{fmt.Sprintf("a command has at most %d bytes", maxCommand)}); err != nil {
				s.Stop()
				return err
			}
			continue
		}
		command := strings.TrimSpace(string(line))
		// What stands before the end of the input without a line's end is no command: its writer died within it.
		if err != nil || command == "stop" {
			return answers.Encode(s.Stop())
		}
		if err := answers.Encode(obey(s, command)); err != nil {
			s.Stop()
			return err
		}
	}
}

// nextLine returns a line, or bufio.ErrBufferFull for one that was too long, all of which it has read.
func nextLine(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return bytes.TrimSuffix(line, []byte("\n")), err
	}
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = r.ReadSlice('\n')
	}
	if err != nil {
		return nil, err
	}
	return nil, bufio.ErrBufferFull
}

func obey(s *sink.Sink, command string) any {
	name, argument, _ := strings.Cut(command, " ")
	argument = strings.TrimSpace(argument)
	switch {
	case command == "counts":
		return s.Counts()
	case name == "phase":
		return phase(s, argument)
	case name == "read":
		return read(s, argument)
	case name == "scrape":
		return scrape(s, argument)
	default:
		return Complaint{fmt.Sprintf("unknown command %.100q: counts, phase NAME, phase NAME after N, "+
			"read PROTOCOL NAME after N FOLDER, read PROTOCOL NAME last N FOLDER, scrape PORT PATH INTERVAL_MS METRIC, "+
			"scrape last and stop are understood", command)}
	}
}

// phase obeys "phase NAME", or "phase NAME after N" where the current phase shall close itself at N records.
func phase(s *sink.Sink, argument string) any {
	words := strings.Fields(argument)
	switch {
	case len(words) == 0:
		return Complaint{"phase needs a name: phase NAME"}
	case len(words[0]) > maxPhaseName:
		return Complaint{fmt.Sprintf("the name of a phase has at most %d bytes", maxPhaseName)}
	case len(words) != 1 && (len(words) != 3 || words[1] != "after"):
		return Complaint{fmt.Sprintf("phase NAME or phase NAME after N, not %.100q", argument)}
	}
	if err := s.StillReading(); err != nil {
		return Complaint{err.Error()}
	}
	if len(words) == 1 {
		return s.BeginPhase(words[0])
	}
	records, err := strconv.ParseInt(words[2], 10, 64)
	if err != nil || records < 1 {
		return Complaint{fmt.Sprintf("a phase ends after a positive number of records, not %.100q", words[2])}
	}
	armed, err := s.BeginPhaseAfter(records, words[0])
	if err != nil {
		return Complaint{err.Error()}
	}
	return armed
}

// read obeys "read PROTOCOL NAME after N FOLDER", and "last" in place of "after": the files of the folder are read,
// and the phase NAME begins after the first N of their records, or with the last N.
func read(s *sink.Sink, argument string) any {
	words := strings.SplitN(argument, " ", 5)
	if len(words) < 5 || words[2] != "after" && words[2] != "last" {
		return Complaint{fmt.Sprintf("read PROTOCOL NAME after N FOLDER or read PROTOCOL NAME last N FOLDER, not %.100q", argument)}
	}
	if len(words[1]) == 0 || len(words[1]) > maxPhaseName {
		return Complaint{fmt.Sprintf("the name of a phase has 1 to %d bytes", maxPhaseName)}
	}
	records, err := strconv.ParseInt(words[3], 10, 64)
	if err != nil || records < 0 {
		return Complaint{fmt.Sprintf("a phase begins after, or with the last, so many records, not %.100q", words[3])}
	}
	answer, err := s.Read(words[0], words[4], files.Edge{Records: records, Last: words[2] == "last"}, words[1])
	if err != nil {
		return Complaint{err.Error()}
	}
	return answer
}

// scrape obeys "scrape PORT PATH INTERVAL_MS METRIC", in which the metric may be missing, and "scrape last".
func scrape(s *sink.Sink, argument string) any {
	words := strings.Fields(argument)
	var err error
	switch len(words) {
	case 1:
		if words[0] != "last" {
			return Complaint{fmt.Sprintf("scrape last, not scrape %.100q", argument)}
		}
		err = s.EndScraping()
	case 3, 4:
		port, wrong := strconv.ParseUint(words[0], 10, 16)
		if wrong != nil || port == 0 {
			return Complaint{fmt.Sprintf("a port is 1 to 65535, not %.100q", words[0])}
		}
		if words[1][0] != '/' {
			return Complaint{fmt.Sprintf("a path begins with a slash: not %.100q", words[1])}
		}
		interval, wrong := strconv.ParseUint(words[2], 10, 32)
		if wrong != nil || interval == 0 {
			return Complaint{fmt.Sprintf("an interval is a positive number of milliseconds, not %.100q", words[2])}
		}
		metric := strings.Join(words[3:], "")
		err = s.Scrape(int(port), words[1], time.Duration(interval)*time.Millisecond, metric)
	default:
		return Complaint{fmt.Sprintf("scrape PORT PATH INTERVAL_MS METRIC or scrape last, not %.100q", argument)}
	}
	if err != nil {
		return Complaint{err.Error()}
	}
	return s.Counts()
}
