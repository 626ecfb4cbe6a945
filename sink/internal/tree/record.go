package tree

// Record is one execution of the expected method.
type Record struct {
	Tree      Key
	Node      Node
	Backwards bool   // it ends before it starts
	More      uint32 // further executions that it stands for
}

// Key names a tree: the trace id of its protocol.
type Key struct{ Hi, Lo uint64 }

// Node places a record in its tree. What ID and Up mean is for the protocol's structure to say.
type Node struct{ ID, Up uint64 }
