package lab

import (
	"strings"
	"testing"

	"plumbline.dev/plumbline/lab/supervise"
)

func TestUnitQuotesArguments(t *testing.T) {
	t.Parallel()
	got := unit(supervise.Part{Name: "x", Argv: []string{"/bin/x", "--a=50%", "b c"}, Env: []string{"PATH=/host", "K=v w"}})
	for _, want := range []string{`ExecStart="/bin/x" "--a=50%%" "b c"`, `Environment="K=v w"`, unitMark + "\n", "WantedBy=multi-user.target"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	if strings.Contains(got, "/host") {
		t.Error("a machine has its own PATH")
	}
}

func TestUnitStatus(t *testing.T) {
	t.Parallel()
	for block, want := range map[string]supervise.Status{
		"Id=kubelet.service\nActiveState=active\nMainPID=412\nNRestarts=2\nResult=success\nExecMainStatus=0":     {Name: "kubelet", PID: 412, Running: true, Starts: 3},
		"Id=kubelet.service\nActiveState=activating\nMainPID=0\nNRestarts=9\nResult=exit-code\nExecMainStatus=1": {Name: "kubelet", Running: true, Starts: 10},
		"Id=felix.service\nActiveState=inactive\nMainPID=0\nNRestarts=0\nResult=success\nExecMainStatus=0":       {Name: "felix", Down: true, Starts: 1, Exit: "success, exit code 0"},
		"Id=containerd.service\nActiveState=failed\nMainPID=0\nNRestarts=0\nResult=signal\nExecMainStatus=9":     {Name: "containerd", Starts: 1, Exit: "signal, exit code 9"},
	} {
		if got, err := unitStatus(block); err != nil || got != want {
			t.Errorf("%q: %+v, %v", block, got, err)
		}
	}
	if _, err := unitStatus("Id=x.service\n"); err == nil {
		t.Error("a unit that systemd does not know: no error")
	}
}
