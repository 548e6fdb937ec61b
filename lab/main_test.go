package lab

import (
	"context"
	"os"
	"runtime"
	"testing"
)

// tiedEnv makes the test binary a process that holds a lab and waits to be killed.
const tiedEnv = "PLUMBLINE_LAB_TEST_TIED"

func TestMain(m *testing.M) {
	Init() // the tests start this binary again as the first process of a lab
	if name := os.Getenv(tiedEnv); name != "" {
		runtime.LockOSThread()
		if _, err := createOuter(context.Background(), name, true); err != nil {
			panic(err)
		}
		select {}
	}
	os.Exit(m.Run())
}
