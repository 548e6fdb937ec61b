package lab

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	Init() // the tests start this binary again as the first process of a lab
	os.Exit(m.Run())
}
