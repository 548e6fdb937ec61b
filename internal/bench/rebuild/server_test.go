//go:build e2e

package rebuild

import (
	"bufio"
	"bytes"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// serverOf is the process of the lab's API server.
func (c *cluster) serverOf(t *testing.T) int {
	t.Helper()
	parts, err := c.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range parts {
		if p.Name == "kube-apiserver" {
			return p.PID
		}
	}
	t.Fatal("the lab has no API server")
	return 0
}

// cpuOf is the CPU time of a process so far.
func cpuOf(t *testing.T, pid int) time.Duration {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	var user, system int64
	if _, err := fmt.Sscan(f[11]+" "+f[12], &user, &system); err != nil {
		t.Fatal(err)
	}
	return time.Duration(user+system) * 10 * time.Millisecond
}

var requestLine = regexp.MustCompile(`^apiserver_request_total\{.*[,{]resource="([^"]*)".*verb="([^"]*)".*\} ([0-9.e+]+)$`)

// requests counts the requests that the API server has answered, by verb and resource.
func (c *cluster) requests(t *testing.T) map[string]int {
	t.Helper()
	b, err := c.ask(t.Context(), http.MethodGet, "/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]int{}
	for in := bufio.NewScanner(bytes.NewReader(b)); in.Scan(); {
		if m := requestLine.FindStringSubmatch(in.Text()); m != nil {
			n, err := strconv.ParseFloat(m[3], 64)
			if err != nil {
				t.Fatal(err)
			}
			out[m[2]+" "+m[1]] += int(n)
		}
	}
	return out
}
