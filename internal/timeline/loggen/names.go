package loggen

import (
	"crypto/sha1" // Calico derives interface names from it
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"
)

const hexDigits = "0123456789abcdef"

// A namer generates unique names.
type namer struct {
	*rand.Rand
	pods map[string]bool
	pid  int
}

func (n *namer) hex(length int) string {
	var b strings.Builder
	for b.Len() < length {
		b.WriteByte(hexDigits[n.IntN(16)])
	}
	return b.String()
}

func (n *namer) letters(length int) string {
	const some = "bcdfghjklmnpqrstvwxz2456789"
	b := make([]byte, length)
	for i := range b {
		b[i] = some[n.IntN(len(some))]
	}
	return string(b)
}

func (n *namer) uuid() string {
	return n.hex(8) + "-" + n.hex(4) + "-4" + n.hex(3) + "-8" + n.hex(3) + "-" + n.hex(12)
}

// set gives the namespace and the name of a pod of a StatefulSet, which come back.
func (n *namer) set() (namespace, pod string) {
	words := []string{"shop", "billing", "etcd", "kafka", "redis", "mysql", "search", "queue", "index", "ledger"}
	for {
		namespace, pod = "team-"+n.letters(3), fmt.Sprintf("%s%s-%d", words[n.IntN(len(words))], n.letters(3), n.IntN(5))
		if !n.pods[namespace+"/"+pod] {
			n.pods[namespace+"/"+pod] = true
			return namespace, pod
		}
	}
}

// device gives the name of a pod's host veth, which Calico derives from the pod name.
func device(namespace, pod string) string {
	sum := sha1.Sum([]byte(namespace + "." + pod))
	return "cali" + hex.EncodeToString(sum[:])[:11]
}

// fresh generates a value for a role that the scene does not set.
func (n *namer) fresh(role string) string {
	switch sort(role) {
	case "id", "sandbox", "container":
		return n.hex(64)
	case "uid", "uuid":
		return n.uuid()
	case "volume":
		return n.letters(5)
	case "event":
		return n.hex(16)
	case "mac":
		m := n.hex(10)
		return "3a:" + m[:2] + ":" + m[2:4] + ":" + m[4:6] + ":" + m[6:8] + ":" + m[8:]
	case "pid":
		n.pid++
		return fmt.Sprintf("[%d]", n.pid)
	default: // name and what else names something that no scene is about
		return "x" + n.letters(7)
	}
}
