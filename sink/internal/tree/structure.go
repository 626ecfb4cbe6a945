package tree

// Structure knows how records of a protocol form a tree.
type Structure interface {
	// Complete reports whether the nodes, exactly as many as a complete tree has, form a chain from a single root.
	Complete(nodes []Node) bool
	// Orphans counts the nodes whose parent is not among them.
	Orphans(nodes []Node) int
}

// Ordered is a structure that recognises a complete tree by the order in which its records come.
type Ordered interface {
	// Ordered reports whether the records are of one tree, with a node each and identities of their own, none of which
	// ends before it starts, and form a chain from a single root. It may say no where they do.
	Ordered(records []Record) bool
}
