package cri

import (
	"strconv"
	"strings"
)

// parseNSLink reads the text of a link in /proc/PID/ns: net:[4026531840].
func parseNSLink(s string) uint64 {
	s, ok := strings.CutPrefix(s, "net:[")
	if !ok {
		return 0
	}
	s, ok = strings.CutSuffix(s, "]")
	if !ok {
		return 0
	}
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return 0
	}
	return n
}
