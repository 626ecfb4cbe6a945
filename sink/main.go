// Command sink receives the records of a tracing agent on loopback ports, checks that they form the expected call
// trees, and counts them. It is driven over standard input and ends with it. See README.md.
package main

import (
	"os"

	"tracetax/sink/internal/control"
	"tracetax/sink/internal/receiver"
)

func main() {
	os.Exit(control.Run(receiver.Table, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
