package host

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// The test binary is also the child that the tests need: a probe, or a process that is stuck.
func TestMain(m *testing.M) {
	if ProbeMain() {
		return
	}
	if role := os.Getenv(roleVariable); role != "" {
		play(role)
		return
	}
	goleak.VerifyTestMain(m)
}
