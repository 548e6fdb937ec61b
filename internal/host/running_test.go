package host

import "testing"

// A zombie lives only in its threads; what cannot be seen is not called dead.
func TestRootLives(t *testing.T) {
	inside(t, func(t *testing.T, g ground) {
		h := g.host()
		defer h.Close()
		runs, threads, ended := spawn(t, "sleep"), spawn(t, "leader-exit"), spawn(t, "sleep")
		eventually(t, "a zombie leader", func() bool { return row(look(t, h, "processes"), threads.Pid).State == "Z" })
		if err := ended.Kill(); err != nil { // and nobody waits for it yet
			t.Fatal(err)
		}
		eventually(t, "a zombie", func() bool { return !h.ProcessRunning(ended.Pid) })
		if !h.ProcessRunning(runs.Pid) || !h.ProcessRunning(threads.Pid) || h.ProcessRunning(4_000_000) {
			t.Error("it is wrong about who lives")
		}
		if blind := New(Options{Proc: g.dir + "/none"}); !blind.ProcessRunning(runs.Pid) {
			t.Error("of what it cannot see it says that it is dead")
		}
	})
}
