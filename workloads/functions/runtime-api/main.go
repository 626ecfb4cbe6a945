// Command runtime-api stands where AWS Lambda's service would: it starts one of AWS's runtime interface clients, and
// hands it every HTTP request that comes as an invocation.
//
//	runtime-api 127.0.0.1:PORT CLIENT [WORD…]
//
// A client has one invocation at a time, as an execution environment of Lambda has. Further requests wait.
package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"time"
)

// Within which a client ends that is told to, before it is killed.
const endWithin = 5 * time.Second

func main() {
	runtime.LockOSThread() // a client dies with the thread that has started it
	if len(os.Args) < 3 {
		fail(errors.New("usage: runtime-api 127.0.0.1:PORT CLIENT [WORD…]"))
	}
	status, err := serve(os.Args[1], os.Args[2:])
	if err != nil {
		fail(err)
	}
	os.Exit(status)
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "runtime-api:", err)
	os.Exit(1)
}

// serve runs a client until it ends, or TERM or INT comes. It gives the status to end with.
func serve(address string, command []string) (int, error) {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	front, err := net.Listen("tcp", address)
	if err != nil {
		return 0, err
	}
	back, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	service := newService()
	for listener, handler := range map[net.Listener]http.Handler{front: service.front(), back: service.back()} {
		server := &http.Server{Handler: handler}
		go server.Serve(listener) //nolint:errcheck // it ends with the program
	}
	client := exec.Command(command[0], command[1:]...)
	client.Env = append(os.Environ(), "AWS_LAMBDA_RUNTIME_API="+back.Addr().String())
	client.Stdout, client.Stderr = os.Stdout, os.Stderr
	client.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := client.Start(); err != nil {
		return 0, err
	}
	ended := make(chan error, 1)
	go func() { ended <- client.Wait() }()
	select {
	case <-ended:
		return 1, fmt.Errorf("the client has ended: %s", client.ProcessState)
	case <-stop:
		return 0, end(client.Process, ended)
	}
}

// end asks a client to end, and kills it where it does not.
func end(client *os.Process, ended <-chan error) error {
	if err := client.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	within, cancel := context.WithTimeout(context.Background(), endWithin)
	defer cancel()
	select {
	case <-ended:
		return nil
	case <-within.Done():
		return client.Kill()
	}
}
