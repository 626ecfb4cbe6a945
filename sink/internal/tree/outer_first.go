package tree

// OuterFirst is the structure of Datadog's traces: spans as OpenTelemetry's, but a trace is sent when all of it has
// ended, the outer span first.
type OuterFirst struct{ SpanChain }

// Complete reports whether the nodes form one chain.
func (o *OuterFirst) Complete(nodes []Node) bool {
	return childrenFollow(nodes) || o.SpanChain.Complete(nodes)
}

// childrenFollow recognises the chain in the order in which the agent sends it.
func childrenFollow(nodes []Node) bool {
	for i, n := range nodes[1:] {
		if n.Up != nodes[i].ID {
			return false
		}
	}
	return nodes[0].Up == 0
}
