package tree

// Structure knows how records of a protocol form a tree.
type Structure interface {
	// Complete reports whether the nodes, exactly as many as a complete tree has, form a chain from a single root.
	Complete(nodes []Node) bool
	// Orphans counts the nodes whose parent is not among them.
	Orphans(nodes []Node) int
}
