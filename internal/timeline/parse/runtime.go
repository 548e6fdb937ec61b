package parse

import (
	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/records"
)

// runtimeSays is what containerd, CRI-O and dockerd say that matters, by its first byte.
var runtimeSays = [256][]phrase{
	'A': {{"Adding pod ", (*Teller).crioCalls}},
	'C': {
		{`CreateContainer within sandbox "`, (*Teller).containerCreated},
		{"Created container ", (*Teller).crioContainer},
		{"Creation of sandbox ", (*Teller).crioSlow},
		{"Container ", (*Teller).dockerContainer},
	},
	'D': {{"Deleting pod ", (*Teller).crioCalls}, {"Daemon has completed initialization", (*Teller).dockerStarted}},
	'E': {
		{`ExecSync for "`, (*Teller).containerCall},
		{"Error running exec in container", (*Teller).dockerExec},
		{"Error removing mounted layer ", (*Teller).dockerBusy},
		{"Error stopping network on cleanup: ", (*Teller).crioNetworkFailed},
	},
	'F': {
		{`Failed to destroy network for sandbox "`, (*Teller).networkKept},
		{"Failed to destroy network for pod sandbox ", (*Teller).crioNetworkFailed},
	},
	'G': {{"Got pod network &{", (*Teller).crioNetwork}},
	'H': {{"Handler for DELETE /", (*Teller).dockerBusy}},
	'K': {{"Killing container ", (*Teller).crioKillFailed}},
	'R': {
		{"RunPodSandbox for ", (*Teller).sandboxRun},
		{`RemovePodSandbox "`, (*Teller).sandboxCall},
		{`RemovePodSandbox for "`, (*Teller).sandboxCall},
		{"Ran pod sandbox ", (*Teller).crioSandbox},
		{"Removed pod sandbox: ", (*Teller).crioSandbox},
	},
	'S': {
		{`StopPodSandbox for "`, (*Teller).sandboxCall},
		{`StartContainer for "`, (*Teller).containerCall},
		{`StopContainer for "`, (*Teller).containerCall},
		{"Stopped pod sandbox: ", (*Teller).crioSandbox},
		{"Stopped container ", (*Teller).crioContainer},
		{"Started container", (*Teller).crioStarted},
		{"Stopping container ", (*Teller).crioKillFailed},
		{"Starting CRI-O, version: ", (*Teller).crioBooted},
	},
	'T': {
		{`TearDown network for sandbox "`, (*Teller).tornDown},
		{"TaskExit event ", (*Teller).taskExit},
	},
	'r': {{"received exit event ", (*Teller).taskExit}},
	's': {{"shim disconnected", (*Teller).shimGone}, {"starting containerd", (*Teller).containerdStarted}},
}

func wantsRuntime(r *records.Record) bool {
	return len(r.Text) > 0 && heard(runtimeSays[r.Text[0]], r.Text) != nil
}

func (t *Teller) runtime(r *records.Record) {
	t.secrets(r)
	if len(r.Text) == 0 {
		return
	}
	if p := heard(runtimeSays[r.Text[0]], r.Text); p != nil {
		p.tell(t, r)
	}
}

// reason gives a line's error field in plain words.
func reason(r *records.Record) []byte { return unescaped(field(r.Fields, "error")) }

// failedOn tells that a call to the runtime failed, and if it was the network, that the
// CNI's DEL failed: the runtime is who called it.
func (t *Teller) failedOn(r *records.Record, source string, e timeline.Event, words []byte) {
	e.Note = note(words)
	t.say(r, source, e)
	if e.Kind == timeline.SandboxStopFailed && ofNetwork(words) {
		e.Kind = timeline.DelFailed
		t.say(r, source, e)
	}
}
