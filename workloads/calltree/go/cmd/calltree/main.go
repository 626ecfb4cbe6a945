// Command calltree is the call tree workload without an agent.
package main

import (
	"os"

	"tracetax/calltree"
)

func main() {
	os.Exit(calltree.Main(calltree.MonitoredMethod))
}
