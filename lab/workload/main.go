// Command workload runs in the lab's pods: it waits (pause), serves HTTP and sends
// requests to peers (serve), requests one URL (get), sends requests to peers
// continuously and counts those without an answer (ask), or misbehaves as the incidents
// need it (hang, leader-exit, fail, sleep). It uses the standard library only, so that
// its image is one small static binary.
package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "workload:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return errors.New("want pause, serve, ask, get URL, read FILE, hang FILE, leader-exit, sleep SECONDS or fail")
	}
	switch mode := args[0]; {
	case mode == "pause":
		pause()
		return nil
	case mode == "serve":
		return serve()
	case mode == "ask":
		new(asking).handle()
		return serve()
	case mode == "get" && len(args) == 2:
		return get(args[1])
	case mode == "read" && len(args) == 2:
		return readFor(args[1])
	case mode == "hang" && len(args) == 2:
		go func() { fmt.Fprintln(os.Stderr, readFor(args[1])) }()
		select {} // the leader waits, another thread is in the read
	case mode == "leader-exit":
		return leaderExit()
	case mode == "sleep" && len(args) == 2:
		s, err := strconv.Atoi(args[1])
		time.Sleep(time.Duration(s) * time.Second)
		return err
	case mode == "fail":
		return errors.New("failing as requested")
	default:
		return fmt.Errorf("unknown or incomplete command %q", args)
	}
}

// pause holds the pod's namespaces and reaps orphans.
func pause() {
	c := make(chan os.Signal, 16)
	signal.Notify(c, syscall.SIGINT, syscall.SIGTERM, syscall.SIGCHLD)
	for s := range c {
		if s != syscall.SIGCHLD {
			return
		}
		for {
			if pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); pid <= 0 || err != nil {
				break
			}
		}
	}
}

var client = http.Client{Timeout: 3 * time.Second}

func get(url string) error {
	c := client
	if strings.HasPrefix(url, "http://127.0.0.1:") {
		c.Timeout = 30 * time.Second // a command to this pod; its machine may be slow
	}
	r, err := c.Get(url)
	if err != nil {
		return err
	}
	defer func() { _ = r.Body.Close() }()
	_, err = io.Copy(os.Stdout, io.LimitReader(r.Body, 1<<20))
	return err
}

// serve answers with its host name, and sends a request to a peer if asked to.
func serve() error {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	go func() { <-stop; os.Exit(0) }()
	host, _ := os.Hostname()
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		addrs, _ := net.InterfaceAddrs()
		_, _ = fmt.Fprintf(w, "host=%s local=%v remote=%s addrs=%v\n", host, r.Context().Value(http.LocalAddrContextKey), r.RemoteAddr, addrs)
	})
	http.HandleFunc("/probe", func(w http.ResponseWriter, r *http.Request) {
		x, err := client.Get(r.URL.Query().Get("url"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer func() { _ = x.Body.Close() }()
		_, _ = io.Copy(w, io.LimitReader(x.Body, 1<<20))
	})
	srv := http.Server{Addr: ":8080", ReadHeaderTimeout: 5 * time.Second}
	return srv.ListenAndServe()
}

// readFor reads the file repeatedly; on a file system that does not answer, it stays in
// the first read.
func readFor(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	b := make([]byte, 4096)
	for {
		n, err := f.ReadAt(b, 0)
		fmt.Println(time.Now().Format(time.RFC3339), "read", n, err)
		time.Sleep(time.Second)
	}
}

// leaderExit ends only the main thread: the process becomes a zombie leader with running
// threads, which no runtime expects.
func leaderExit() error {
	go func() {
		runtime.LockOSThread()
		time.Sleep(time.Hour)
	}()
	time.Sleep(2 * time.Second)
	_, _, errno := syscall.RawSyscall(syscall.SYS_EXIT, 0, 0, 0)
	return errno
}

func init() {
	// The main goroutine stays on the thread that is the kernel's thread group leader.
	runtime.LockOSThread()
}
