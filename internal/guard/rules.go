package guard

// Replayed is the verb, in the record only, of a DEL from the queue: the guard's own.
const Replayed Verb = "REPLAY"

// A Rule is one line of the table of decisions, in words. docs/guard.md has the same
// table, and a test compares the two.
type Rule struct {
	Number int
	Title  string // when it applies
	Does   string // what the guard does
	Why    string // one sentence
	Alone  string // what today's Calico does without the guard
}

// Rules is the table, by number from one.
var Rules = [...]Rule{
	{
		1, "ADD of a new container",
		"the intent is recorded, the plugin called, its result recorded; in enforce it first lets an older sandbox's DEL end that runs, for at most 5 s",
		"which of two sandboxes is newer is known only if every ADD is counted before it begins",
		"the same, without a record",
	},
	{
		2, "ADD that failed",
		"its error is passed on; in enforce a DEL is queued, called once, and taken out of the queue if it succeeds",
		"a runtime whose own DEL fails too never asks again, and what was assigned would stay",
		"it takes back what it had taken on most errors, not on all; its collector frees the rest after its grace",
	},
	{
		3, "ADD of a container that has one",
		"passed on, counted anew, and marked as against the protocol",
		"nobody knows which of the two results is in use, so that both stay on record",
		"the same, unmarked",
	},
	{
		4, "DEL of the name's newest owner",
		"passed on",
		"it deletes what is its own",
		"the same",
	},
	{
		5, "DEL of an older sandbox, the name has a newer owner: late",
		"in observe passed on, and the newer owner looked at before and after; in enforce only what is the old container's own is released, and what is found by name is left alone",
		"what is found by the pod's name belongs to the newer sandbox now",
		"it keeps the newer endpoint, for it compares container IDs since 2018, but calico-ipam still releases the handle that is called after the pod, whoever has it",
	},
	{
		6, "DEL of a container that is not on record",
		"passed on, always",
		"who knows nothing of a container has no right to call it late: it may be from before the guard",
		"the same",
	},
	{
		7, "DEL while its own ADD runs",
		"in enforce it waits for the ADD for at most 5 s, then ends it; it is passed on, and once more after 150 s",
		"calico-ipam may still assign an address after whoever asked is gone",
		"both run at once, and an address that is assigned last stays",
	},
	{
		8, "DEL whose ADD died",
		"passed on; in enforce once more after 150 s",
		"calico-ipam may still assign an address after whoever asked is gone",
		"one DEL, and an address that is assigned after it stays",
	},
	{
		9, "late DEL while the newer sandbox's ADD runs",
		"as rule 5",
		"the newer sandbox is not finished, but the name is its own already",
		"custom resources: safe by revision and UID; etcd: the endpoint may be deleted under the ADD, which then fails and is tried again",
	},
	{
		10, "DEL that succeeded before",
		"passed on again",
		"the first may have met a handle that was not there yet",
		"the same: what is not there counts as deleted",
	},
	{
		11, "DEL that the plugin refuses",
		"its error is passed on; in enforce it becomes a success only if the endpoint or the namespace is what is missing, the namespace is proven gone, and the rest is queued",
		"an endless DEL has nothing left to delete but the next pod of that name; errors of API, rights or datastore never become success",
		"the error goes to the kubelet, which asks again for ever",
	},
	{
		12, "plugin that hangs",
		"it is ended with all that it started, on the deadline, and the call fails",
		"that something did not answer is never a success",
		"it waits, for a lock without end; the runtime ends only the process that it started itself",
	},
	{
		13, "CHECK and STATUS",
		"passed on; CHECK also looks at device, address, route and gateway, and what it sees counts in enforce",
		"they only read, and troubles of the guard's own are not the node's",
		"its CHECK looks at nothing, and it has no STATUS",
	},
	{
		14, "GC",
		"the call goes to a plugin that knows it; the keeper queues a DEL for what no sandbox, record, young result or running call speaks for, and refuses if the runtime does not answer, tells nothing, or more than one in five would go",
		"where very much would be deleted at once, it is more likely that something was not seen",
		"it has no GC",
	},
}

// RuleOf gives a rule; what was decided without one was passed on as it came.
func RuleOf(number int) Rule {
	if number < 1 || number > len(Rules) {
		return Rule{
			Number: number, Title: "no rule", Does: "passed on as it came",
			Why: "the guard had no record to decide by, or did not know the call", Alone: "the same",
		}
	}
	return Rules[number-1]
}

// Alone says what the plugin would have done with a call without the guard.
func (e *Event) Alone() string {
	if !e.Late {
		return RuleOf(e.Rule).Alone
	}
	switch e.Keyed {
	case ByName:
		return "it finds by the pod's name: it would have taken endpoint and address of the newer sandbox"
	case ByBoth:
		return "it would have kept the newer endpoint and released the old container's address; then the handle that is called after the pod, whoever has it"
	case ByContainer:
		return "it finds all by container: the newer sandbox would have kept what it has; here the guard adds nothing but the record"
	default:
		return "it is not known by what this plugin finds things"
	}
}

// Stopped tells that a late DEL was kept from the plugin.
func (e *Event) Stopped() bool { return e.Late && !e.Called }
