package main

// outerFirst is the structure of Datadog's traces: spans as OpenTelemetry's, but a trace is sent when all of it has
// ended, the outer span first.
type outerFirst struct{ spanChain }

func (o *outerFirst) complete(nodes []node) bool {
	return childrenFollow(nodes) || o.spanChain.complete(nodes)
}

// childrenFollow recognises the chain in the order in which the agent sends it.
func childrenFollow(nodes []node) bool {
	for i, n := range nodes[1:] {
		if n.up != nodes[i].id {
			return false
		}
	}
	return nodes[0].up == 0
}
