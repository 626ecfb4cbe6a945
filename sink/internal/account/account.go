// Package account is what the sink reports: the counts of one protocol in one phase.
package account

// Account is what arrived on one protocol in one phase. Times are CLOCK_MONOTONIC nanoseconds.
type Account struct {
	Records         int64 `json:"records"`
	CompleteTrees   int64 `json:"complete_trees"`
	PartialTrees    int64 `json:"partial_trees"`
	Orphans         int64 `json:"orphans"`
	Duplicates      int64 `json:"duplicates"`
	UnexpectedNames int64 `json:"unexpected_names"`
	EndBeforeStart  int64 `json:"end_before_start"`
	Malformed       int64 `json:"malformed"`
	CutOff          int64 `json:"cut_off"`
	// Connections that spoke gRPC to a port for HTTP/1, and HTTP/1 to one for gRPC.
	GRPCAtHTTP     int64            `json:"grpc_at_http"`
	HTTPAtGRPC     int64            `json:"http_at_grpc"`
	EvictedTrees   int64            `json:"evicted_trees"`
	EvictedRecords int64            `json:"evicted_records"`
	Refused        int64            `json:"refused"`
	Unanswered     int64            `json:"unanswered"`
	Requests       int64            `json:"requests"`
	Bytes          int64            `json:"bytes"`
	OtherBytes     map[string]int64 `json:"other_bytes"`
	ReportedDrops  int64            `json:"reported_drops"`
	// LostDatagrams found no room in the kernel's buffer of ReceiveBufferBytes: this machine lost them, not their
	// sender. -1 where the kernel does not tell.
	LostDatagrams      int64            `json:"lost_datagrams"`
	ReceiveBufferBytes int64            `json:"receive_buffer_bytes"`
	LimitedTrees       int64            `json:"limited_trees"`
	LimitedRecords     int64            `json:"limited_records"`
	FirstArrivalNs     int64            `json:"first_arrival_ns"`
	LastArrivalNs      int64            `json:"last_arrival_ns"`
	Unexpected         map[string]int64 `json:"unexpected"`
	// Scopes are records by what the protocol says has made them, such as an instrumentation of one library.
	Scopes map[string]int64 `json:"scopes"`
}

// New is an empty account; signals are what the protocol carries besides records.
func New(signals []string) Account {
	other := make(map[string]int64, len(signals))
	for _, signal := range signals {
		other[signal] = 0
	}
	return Account{OtherBytes: other, Unexpected: map[string]int64{}, Scopes: map[string]int64{}}
}
