package main

import (
	_ "embed"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"
)

// stopGrace is how long connections may go on delivering what they have already sent when the sink stops.
const stopGrace = 200 * time.Millisecond

// receiver speaks one protocol: serve accepts connections until the listener is closed; stop returns when the open
// ones have ended, and ends them after the grace.
type receiver interface {
	serve(net.Listener)
	stop(grace time.Duration)
}

// protocol is what the sink must know to offer one.
type protocol struct {
	// signals are carried besides records, are answered, and their bytes counted.
	signals []string
	// connectionBytes is what an open connection may hold in buffers.
	connectionBytes int64
	structure       func() structure
	receiver        func(recordName string, l *ledger, m *messages) receiver
	// files is how its files are read, of a protocol that has no receiver and no port.
	files *fileFormat
	// scraped is true of one where the sink asks: it has no receiver and no port either.
	scraped bool
}

// protocols are all that the sink speaks. To add one: a file for the protocol, a file for its
// structure, a line here and one in protocols.txt.
var protocols = map[string]protocol{
	"kieker-binary-file": kiekerBinaryFile,
	"kieker-text-file":   kiekerTextFile,
	"kieker-tcp":         kiekerTCP,
	"otlp-http":          otlpHTTP,
	"otlp-grpc":          otlpGRPC,
	"zipkin":             zipkin,
	"elastic":            elastic,
	"scouter":            scouter,
	"pinpoint":           pinpoint,
	"skywalking":         skyWalking,
	"prometheus":         prometheus,
	"datadog":            datadog,
	"app-insights":       insights,
}

//go:embed protocols.txt
var protocolList string

// protocolNames are the names in protocols.txt, which those who write an agent's file read too.
func protocolNames() []string {
	return strings.Fields(protocolList)
}

// sink is the receivers with their ledgers, and the phase that they count in.
type sink struct {
	channels []*channel

	phase     string
	cpuBefore int64 // CPU time at the beginning of the phase

	next    string   // the phase that begins by itself; "" for none
	armed   *channel // whose records decide when
	earlier []report // phases that have closed by themselves, for the last report
}

// channel is one protocol at work: with a receiver and its listener, a reader of files, or a scraper.
type channel struct {
	name     string
	ledger   *ledger
	reader   *folderReader
	scraper  *scraper
	receiver receiver
	limit    int // of connections that are served at a time
	silent   int // of connections that are held besides
	listener *boundedListener
	served   chan struct{} // every connection has been handed to the receiver
}

func newSink(cfg config) (*sink, error) {
	bounds := divide(cfg.maxMemory, len(cfg.protocols))
	messages := newMessages(bounds.messageLimit, bounds.messageBytes)
	s := &sink{phase: "start", cpuBefore: cpuNs()}
	for _, name := range cfg.protocols {
		p, ok := protocols[name]
		if !ok {
			return nil, fmt.Errorf("unknown protocol %q", name)
		}
		ledger := newLedger(newTreeTable(p.structure(), cfg.depth, cfg.maxOpenTrees, bounds.treeBytes), p.signals)
		c := &channel{name: name, ledger: ledger}
		switch {
		case p.files != nil:
			c.reader = &folderReader{recordName: cfg.recordName, format: p.files, ledger: ledger}
		case p.scraped:
			c.scraper = newScraper(ledger, messages)
		default:
			c.receiver = p.receiver(cfg.recordName, ledger, messages)
			c.limit, c.silent = bounds.connections(p.connectionBytes), bounds.silent
		}
		s.channels = append(s.channels, c)
	}
	return s, nil
}

// listen opens a free loopback port per protocol that is received, begins to accept, and returns the ports.
func (s *sink) listen() (map[string]int, error) {
	ports := map[string]int{}
	for _, c := range s.channels {
		if c.receiver == nil {
			continue
		}
		l, err := listenFor(c.receiver)
		if err != nil {
			return nil, fmt.Errorf("no port for %s: %w", c.name, err)
		}
		c.listener, c.served = bound(l, c.limit, c.silent), make(chan struct{})
		ports[c.name] = l.Addr().(*net.TCPAddr).Port
	}
	for _, c := range s.channels {
		if c.receiver != nil {
			go func() {
				defer close(c.served)
				c.receiver.serve(c.listener)
			}()
		}
	}
	return ports, nil
}

// counts is the cheap view for polling.
type counts struct {
	Phase           string `json:"phase"`
	Records         int64  `json:"records"`
	Bytes           int64  `json:"bytes"`
	LastArrivalNs   int64  `json:"last_arrival_ns"`
	OpenConnections int    `json:"open_connections"`
	Malformed       int64  `json:"malformed"`
	CPUNs           int64  `json:"cpu_ns"`
	Reading         bool   `json:"reading"`
	ReadBytes       int64  `json:"read_bytes"`
	ReadError       string `json:"read_error,omitempty"`
	Answers         int64  `json:"answers"` // to what the sink asked, in all phases
}

func (s *sink) counts() counts {
	var sum counts
	for _, c := range s.channels {
		if c.reader != nil {
			// Before all else: if nothing is being read any more, all that was read is in the rest.
			c.reader.tell(&sum)
		}
	}
	s.settle()
	sum.Phase, sum.OpenConnections, sum.CPUNs = s.phase, s.openConnections(), cpuNs()-s.cpuBefore
	for _, c := range s.channels {
		t := c.ledger.totals()
		sum.Records += t.records
		sum.Bytes += t.bytes
		sum.Malformed += t.malformed
		sum.LastArrivalNs = max(sum.LastArrivalNs, t.lastArrivalNs)
		if c.scraper != nil {
			sum.Answers += c.scraper.answers.Load()
		}
	}
	return sum
}

// report is the account of one phase.
type report struct {
	Phase           string                   `json:"phase"`
	Protocols       map[string]protocolCount `json:"protocols"`
	CPUNs           int64                    `json:"cpu_ns"`
	MaxRSSBytes     int64                    `json:"max_rss_bytes"`
	OpenConnections int                      `json:"open_connections"`
	// Earlier is told with the last report only.
	Earlier []report `json:"earlier,omitempty"`
}

// beginPhaseAfter lets the current phase close itself when all protocols together have brought so many records, and
// another one begin with the next record. It is for one ordered stream: only the protocol that has brought the most
// so far is watched, and none whose counter is scraped: that does not say which record is the last. The closed phase is
// told with the last report.
func (s *sink) beginPhaseAfter(records int64, name string) (armedPhase, error) {
	s.disarm()
	var most *channel
	var mostRecords, sum int64
	for _, c := range s.channels {
		got := c.ledger.totals().records
		sum += got
		if c.scraper == nil && (most == nil || got > mostRecords) {
			most, mostRecords = c, got
		}
	}
	if sum >= records {
		s.earlier = append(s.earlier, s.beginPhase(name))
		return armedPhase{Phase: s.phase}, nil
	}
	if most == nil {
		return armedPhase{}, errors.New("no record that is scraped is known to be the last one of a phase")
	}
	s.next, s.armed = name, most
	most.ledger.closeAfter(records - sum + mostRecords)
	return armedPhase{Phase: s.phase, Next: name}, nil
}

// read lets the files of a folder be read into the current phase, which closes itself at the edge; another one begins
// there. It returns at once: counts says when it is done.
func (s *sink) read(protocol, folder string, edge edge, name string) (armedPhase, error) {
	if err := s.stillReading(); err != nil {
		return armedPhase{}, err
	}
	at := slices.IndexFunc(s.channels, func(c *channel) bool { return c.name == protocol && c.reader != nil })
	if at < 0 {
		return armedPhase{}, fmt.Errorf("%.100q is no protocol that is read from files here", protocol)
	}
	c := s.channels[at]
	found, err := openFolder(folder, c.reader.format)
	if err != nil {
		return armedPhase{}, err
	}
	s.disarm()
	s.next, s.armed = name, c
	c.reader.begin(found, edge)
	return armedPhase{Phase: s.phase, Next: name}, nil
}

// scrape lets an endpoint of the agent be asked for its metrics, and the rise of one of them be counted as records.
func (s *sink) scrape(port int, path string, interval time.Duration, metric string) error {
	scraper, err := s.scraper()
	if err != nil {
		return err
	}
	return scraper.begin(port, path, interval, metric)
}

// endScraping asks the endpoint a last time: the agent is about to end.
func (s *sink) endScraping() error {
	scraper, err := s.scraper()
	if err == nil && scraper.ending == nil {
		err = errNotScraping
	}
	if err == nil {
		scraper.end()
	}
	return err
}

func (s *sink) scraper() (*scraper, error) {
	for _, c := range s.channels {
		if c.scraper != nil {
			return c.scraper, nil
		}
	}
	return nil, errors.New("prometheus is none of the protocols here")
}

// stillReading complains while files are read: until then they say where the next phase begins.
func (s *sink) stillReading() error {
	for _, c := range s.channels {
		if c.reader != nil && c.reader.reading.Load() {
			return fmt.Errorf("%s is still being read", c.name)
		}
	}
	return nil
}

// armedPhase says which phase is counted, and which one will begin by itself.
type armedPhase struct {
	Phase string `json:"phase"`
	Next  string `json:"next,omitempty"`
}

// settle enters what an account that has closed itself means for the sink.
func (s *sink) settle() {
	if s.armed == nil {
		return
	}
	early := s.armed.ledger.takeEarly()
	if early == nil {
		return
	}
	r := s.report()
	for _, c := range s.channels {
		if c == s.armed {
			r.Protocols[c.name] = early.count
		} else {
			r.Protocols[c.name] = c.ledger.close()
		}
	}
	r.CPUNs = early.cpuNs - s.cpuBefore
	s.earlier = append(s.earlier, r)
	s.phase, s.cpuBefore, s.next, s.armed = s.next, early.cpuNs, "", nil
}

// disarm lets no account close itself any more; if one just has, that is entered.
func (s *sink) disarm() {
	if s.armed == nil {
		return
	}
	s.armed.ledger.keepOpen()
	s.settle()
	s.next, s.armed = "", nil
}

// report is the current phase's, without its accounts.
func (s *sink) report() report {
	return report{
		Phase:           s.phase,
		Protocols:       map[string]protocolCount{},
		MaxRSSBytes:     maxRSSBytes(),
		OpenConnections: s.openConnections(),
	}
}

// beginPhase closes the current phase, returns its report, and begins another one.
func (s *sink) beginPhase(name string) report {
	for _, c := range s.channels {
		if c.scraper != nil {
			c.scraper.look()
		}
	}
	s.disarm()
	r := s.report()
	for _, c := range s.channels {
		r.Protocols[c.name] = c.ledger.close()
	}
	cpu := cpuNs()
	r.CPUNs = cpu - s.cpuBefore
	s.phase, s.cpuBefore = name, cpu
	return r
}

// stop takes no more connections, lets the open ones finish within the grace, and returns the last phase's report;
// open connections are those that were open when it was called.
func (s *sink) stop() report {
	open := s.openConnections()
	var stopping sync.WaitGroup
	for _, c := range s.channels {
		if c.reader != nil {
			c.reader.stop()
		}
		if c.scraper != nil {
			c.scraper.end()
		}
		if c.listener == nil {
			continue
		}
		stopping.Go(func() {
			c.listener.Close()
			<-c.served
			c.receiver.stop(stopGrace)
		})
	}
	stopping.Wait()
	r := s.beginPhase("")
	r.OpenConnections, r.Earlier = open, s.earlier
	return r
}

func (s *sink) openConnections() int {
	sum := 0
	for _, c := range s.channels {
		if c.listener != nil {
			sum += c.listener.connections()
		}
	}
	return sum
}
