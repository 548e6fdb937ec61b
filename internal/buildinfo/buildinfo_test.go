package buildinfo

import (
	"runtime/debug"
	"testing"
)

func TestRead(t *testing.T) {
	t.Parallel()
	b := &debug.BuildInfo{Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "a1"}, {Key: "vcs.time", Value: "2026-01-02T03:04:05Z"}, {Key: "vcs.modified", Value: "true"}}}
	if got, want := read(b), (Info{Version: Devel, Commit: "a1", Date: "2026-01-02T03:04:05Z", Modified: true}); got != want {
		t.Errorf("%+v", got)
	}
	b.Main.Version = "v1.2.3"
	if got := read(b); got.Version != "v1.2.3" {
		t.Errorf("%+v", got)
	}
}
