package sink

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"tracetax/sink/internal/account"
	"tracetax/sink/internal/clock"
	"tracetax/sink/internal/files"
	"tracetax/sink/internal/protocol"
)

// Report is the account of one phase.
type Report struct {
	Phase           string                     `json:"phase"`
	Protocols       map[string]account.Account `json:"protocols"`
	CPUNs           int64                      `json:"cpu_ns"`
	MaxRSSBytes     int64                      `json:"max_rss_bytes"`
	OpenConnections int                        `json:"open_connections"`
	// Earlier is told with the last report only.
	Earlier []Report `json:"earlier,omitempty"`
}

// BeginPhaseAfter lets the current phase close itself when all protocols together have brought so many records, and
// another one begin with the next record. It is for one ordered stream: only the protocol that has brought the most
// so far is watched, and none whose counter is scraped: that does not say which record is the last. The closed phase is
// told with the last report.
func (s *Sink) BeginPhaseAfter(records int64, name string) (ArmedPhase, error) {
	s.disarm()
	var most *channel
	var mostRecords, sum int64
	for _, c := range s.channels {
		got := c.ledger.Totals().Records
		sum += got
		if c.scraper == nil && (most == nil || got > mostRecords) {
			most, mostRecords = c, got
		}
	}
	if sum >= records {
		s.earlier = append(s.earlier, s.BeginPhase(name))
		return ArmedPhase{Phase: s.phase}, nil
	}
	if most == nil {
		return ArmedPhase{}, errors.New("no record that is scraped is known to be the last one of a phase")
	}
	s.next, s.armed = name, most
	most.ledger.CloseAfter(records - sum + mostRecords)
	return ArmedPhase{Phase: s.phase, Next: name}, nil
}

// Read lets the files of a folder be read into the current phase, which closes itself at the edge; another one begins
// there. It returns at once: counts says when it is done.
func (s *Sink) Read(protocol, folder string, edge files.Edge, name string) (ArmedPhase, error) {
	if err := s.StillReading(); err != nil {
		return ArmedPhase{}, err
	}
	at := slices.IndexFunc(s.channels, func(c *channel) bool { return c.name == protocol && c.reader != nil })
	if at < 0 {
		return ArmedPhase{}, fmt.Errorf("%.100q is no protocol that is read from files here", protocol)
	}
	c := s.channels[at]
	found, err := files.Open(folder, c.reader.Format)
	if err != nil {
		return ArmedPhase{}, err
	}
	s.disarm()
	s.next, s.armed = name, c
	c.reader.Begin(found, edge)
	return ArmedPhase{Phase: s.phase, Next: name}, nil
}

// Scrape lets an endpoint of the agent be asked for its metrics, and the rise of one of them be counted as records.
func (s *Sink) Scrape(port int, path string, interval time.Duration, metric string) error {
	scraper, err := s.scraper()
	if err != nil {
		return err
	}
	return scraper.Begin(port, path, interval, metric)
}

// EndScraping asks the endpoint a last time: the agent is about to end.
func (s *Sink) EndScraping() error {
	scraper, err := s.scraper()
	if err != nil {
		return err
	}
	return scraper.Last()
}

func (s *Sink) scraper() (protocol.Scraper, error) {
	for _, c := range s.channels {
		if c.scraper != nil {
			return c.scraper, nil
		}
	}
	return nil, errors.New("prometheus is none of the protocols here")
}

// StillReading complains while files are read: until then they say where the next phase begins.
func (s *Sink) StillReading() error {
	for _, c := range s.channels {
		if c.reader != nil && c.reader.Busy() {
			return fmt.Errorf("%s is still being read", c.name)
		}
	}
	return nil
}

// ArmedPhase says which phase is counted, and which one will begin by itself.
type ArmedPhase struct {
	Phase string `json:"phase"`
	Next  string `json:"next,omitempty"`
}

// settle enters what an account that has closed itself means for the sink.
func (s *Sink) settle() {
	if s.armed == nil {
		return
	}
	early := s.armed.ledger.TakeEarly()
	if early == nil {
		return
	}
	r := s.report()
	for _, c := range s.channels {
		if c == s.armed {
			r.Protocols[c.name] = early.Account
		} else {
			r.Protocols[c.name] = c.ledger.Close()
		}
	}
	r.CPUNs = early.CPUNs - s.cpuBefore
	s.earlier = append(s.earlier, r)
	s.phase, s.cpuBefore, s.next, s.armed = s.next, early.CPUNs, "", nil
}

// disarm lets no account close itself any more; if one just has, that is entered.
func (s *Sink) disarm() {
	if s.armed == nil {
		return
	}
	s.armed.ledger.KeepOpen()
	s.settle()
	s.next, s.armed = "", nil
}

// report is the current phase's, without its accounts.
func (s *Sink) report() Report {
	return Report{
		Phase:           s.phase,
		Protocols:       map[string]account.Account{},
		MaxRSSBytes:     clock.MaxRSSBytes(),
		OpenConnections: s.openConnections(),
	}
}

// BeginPhase closes the current phase, returns its report, and begins another one.
func (s *Sink) BeginPhase(name string) Report {
	for _, c := range s.channels {
		if c.scraper != nil {
			c.scraper.Look()
		}
	}
	s.disarm()
	r := s.report()
	for _, c := range s.channels {
		r.Protocols[c.name] = c.ledger.Close()
	}
	cpu := clock.CPUNs()
	r.CPUNs = cpu - s.cpuBefore
	s.phase, s.cpuBefore = name, cpu
	return r
}
