package load

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strconv"
)

// Kubernetes generates names from letters that form no words.
const letters = "bcdfghjklmnpqrstvwxz2456789"

// suffix returns the five letters at the end of a pod's name, different for every n
// below 27⁵: the factor and 27 are coprime, so nothing repeats.
func suffix(n int) string {
	const all = 27 * 27 * 27 * 27 * 27
	v := (n*5_764_801 + 1_234_567) % all
	var b [5]byte
	for i := range b {
		b[i] = letters[v%len(letters)]
		v /= len(letters)
	}
	return string(b[:])
}

func word(r *rand.Rand, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = letters[r.IntN(len(letters))]
	}
	return string(b)
}

// id64 returns an identifier like a container ID.
func id64(r *rand.Rand) string {
	var raw [32]byte
	for i := 0; i < len(raw); i += 8 {
		binary.BigEndian.PutUint64(raw[i:], r.Uint64())
	}
	return hex.EncodeToString(raw[:])
}

// uid returns a random UUID, version 4.
func uid(r *rand.Rand) string {
	var raw [16]byte
	binary.BigEndian.PutUint64(raw[:8], r.Uint64())
	binary.BigEndian.PutUint64(raw[8:], r.Uint64())
	raw[6] = raw[6]&0x0f | 0x40
	raw[8] = raw[8]&0x3f | 0x80
	b := make([]byte, 0, 36)
	for i, part := range [][]byte{raw[:4], raw[4:6], raw[6:8], raw[8:10], raw[10:]} {
		if i > 0 {
			b = append(b, '-')
		}
		b = hex.AppendEncode(b, part)
	}
	return string(b)
}

// mac returns an address like those that the kernel generates: locally administered,
// unicast.
func mac(r *rand.Rand) string {
	v := r.Uint64()
	return fmt.Sprintf("%02x:%02x:%02x:%02x:%02x:%02x", v&0xfc|2, v>>8&0xff, v>>16&0xff, v>>24&0xff, v>>32&0xff, v>>40&0xff)
}

// An app is a Deployment, with its current ReplicaSet.
type app struct {
	namespace, name, hash, uid, image, digest string
}

func (a *app) replicaSet() string { return a.name + "-" + a.hash }

const maxNamespaces = 200

var appNames = []string{
	"web", "api", "worker", "cache", "gateway", "billing", "search", "catalog", "checkout", "auth",
	"mailer", "ingest", "frontend", "scheduler", "inventory", "notifications", "recommendations", "audit", "exporter", "session-store",
}

// newApps returns n apps, spread over the namespaces, with unique names in each.
func newApps(r *rand.Rand, n int) []app {
	apps := make([]app, n)
	for i := range apps {
		round := i / maxNamespaces
		name := appNames[(i+round)%len(appNames)]
		if again := round / len(appNames); again > 0 {
			name += "-" + strconv.Itoa(again+1)
		}
		apps[i] = app{
			namespace: namespace(i % maxNamespaces), name: name, hash: word(r, 9+i%2), uid: uid(r), digest: "sha256:" + id64(r),
			image: fmt.Sprintf("registry.example.com/%s/%s:v1.%d.%d", namespace(i%maxNamespaces), name, r.IntN(60), r.IntN(12)),
		}
	}
	return apps
}

func namespace(i int) string { return fmt.Sprintf("team-%03d", i) }
