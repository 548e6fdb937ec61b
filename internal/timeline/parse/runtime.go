package parse

import (
	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/records"
)

// runtimeSays are the messages of containerd, CRI-O and dockerd that are parsed, by first byte.
var runtimeSays = [256][]phrase{
	'A': {{"Adding pod ", (*Parser).crioCalls}},
	'C': {
		{`CreateContainer within sandbox "`, (*Parser).containerCreated},
		{"Created container ", (*Parser).crioContainer},
		{"Creation of sandbox ", (*Parser).crioSlow},
		{"Container ", (*Parser).dockerContainer},
	},
	'D': {{"Deleting pod ", (*Parser).crioCalls}, {"Daemon has completed initialization", (*Parser).dockerStarted}},
	'E': {
		{`ExecSync for "`, (*Parser).containerCall},
		{"Error running exec in container", (*Parser).dockerExec},
		{"Error removing mounted layer ", (*Parser).dockerBusy},
		{"Error stopping network on cleanup: ", (*Parser).crioNetworkFailed},
		{"Error adding pod ", (*Parser).crioAddFailed},
		{"Error while adding pod to CNI network ", (*Parser).crioAddFailed},
	},
	'F': {
		{`Failed to destroy network for sandbox "`, (*Parser).networkKept},
		{"Failed to destroy network for pod sandbox ", (*Parser).crioNetworkFailed},
	},
	'G': {{"Got pod network &{", (*Parser).crioNetwork}},
	'H': {{"Handler for DELETE /", (*Parser).dockerBusy}},
	'K': {{"Killing container ", (*Parser).crioKillFailed}},
	'R': {
		{"RunPodSandbox for ", (*Parser).sandboxRun},
		{`RemovePodSandbox "`, (*Parser).sandboxCall},
		{`RemovePodSandbox for "`, (*Parser).sandboxCall},
		{"Ran pod sandbox ", (*Parser).crioSandbox},
		{"Removed pod sandbox: ", (*Parser).crioSandbox},
	},
	'S': {
		{`StopPodSandbox for "`, (*Parser).sandboxCall},
		{`StartContainer for "`, (*Parser).containerCall},
		{`StopContainer for "`, (*Parser).containerCall},
		{"Stopped pod sandbox: ", (*Parser).crioSandbox},
		{"Stopped container ", (*Parser).crioContainer},
		{"Started container", (*Parser).crioStarted},
		{"Stopping container ", (*Parser).crioKillFailed},
		{"Starting CRI-O, version: ", (*Parser).crioBooted},
	},
	'T': {
		{`TearDown network for sandbox "`, (*Parser).tornDown},
		{"TaskExit event ", (*Parser).taskExit},
	},
	'r': {{"received exit event ", (*Parser).taskExit}},
	's': {{"shim disconnected", (*Parser).shimGone}, {"starting containerd", (*Parser).containerdStarted}},
}

func wantsRuntime(r *records.Record) bool {
	return len(r.Text) > 0 && heard(runtimeSays[r.Text[0]], r.Text) != nil
}

func (t *Parser) runtime(r *records.Record) {
	t.secrets(r)
	if len(r.Text) == 0 {
		return
	}
	if p := heard(runtimeSays[r.Text[0]], r.Text); p != nil {
		p.parse(t, r)
	}
}

// reason gives a line's error field, unescaped.
func reason(r *records.Record) []byte { return unescaped(field(r.Fields, "error")) }

// failedOn reports that a call to the runtime failed; if the error is about the network, also that
// the CNI DEL failed, which the runtime called.
func (t *Parser) failedOn(r *records.Record, source string, e timeline.Event, words []byte) {
	e.Note = note(words)
	t.say(r, source, e)
	if e.Kind == timeline.SandboxStopFailed && ofNetwork(words) {
		e.Kind = timeline.DelFailed
		t.say(r, source, e)
	}
}
