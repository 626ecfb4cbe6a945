package tree

// Structure knows how records of a protocol form a tree.
type Structure interface {
	// complete reports whether the nodes, exactly as many as a complete tree has, form a chain from a single root.
	complete(nodes []Node) bool
	// orphans counts the nodes whose parent is not among them.
	orphans(nodes []Node) int
}
