package main

import (
	"os"
	"strconv"
	"strings"
)

// resent is the number of TCP segments that this network namespace has retransmitted. It
// shows a lost packet even if the request was answered in the end.
func resent() int {
	text, err := os.ReadFile("/proc/net/snmp")
	if err != nil {
		return 0
	}
	return resentOf(string(text))
}

// resentOf reads the column from the two lines that begin with Tcp: names, then values.
func resentOf(snmp string) int {
	var names []string
	for line := range strings.Lines(snmp) {
		f := strings.Fields(line)
		if len(f) == 0 || f[0] != "Tcp:" {
			continue
		}
		if names == nil {
			names = f
			continue
		}
		for i, n := range names {
			if n == "RetransSegs" && i < len(f) {
				v, _ := strconv.Atoi(f[i])
				return v
			}
		}
	}
	return 0
}
