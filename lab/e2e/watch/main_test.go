//go:build e2e

package watch

import (
	"flag"
	"os"
	"testing"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/e2e/product"
)

var (
	program = flag.String("plumbline", "", "path of plumbline; if empty, bin/plumbline")
	modes   = flag.String("modes", "kdd,etcd", "comma-separated datastores")
	pods    = flag.String("pods", "3000", "TestWatchAtSize: how many pods to load, one cluster after the other")
	rate    = flag.Int("rate", 1000, "changes per second")
	lasting = flag.Duration("lasting", time.Minute, "for how long there are changes")
	through = flag.String("through", "etcd", "how pods and custom resources are written: etcd, or api")
)

// TestMain is also the main of the bare watch.
func TestMain(m *testing.M) {
	if os.Getenv(roleEnv) != "" {
		os.Exit(act())
	}
	lab.Main(m)
}

func plumbline(t *testing.T) string {
	t.Helper()
	if *program != "" {
		return *program
	}
	return product.Binary(t)
}
