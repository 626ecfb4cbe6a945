// Command service is the HTTP service without an agent.
package main

import (
	"os"

	"tracetax/requests"
)

func main() {
	os.Exit(requests.Main(requests.Instrumentation{}))
}
