package guard

// Replayed is the verb, in the event log only, of a DEL that the guard runs from its queue.
const Replayed Verb = "REPLAY"

// A Rule is one row of the decision table, as text. docs/guard.md has the same table, and a
// test compares the two.
type Rule struct {
	Number int
	Title  string // when it applies
	Does   string // what the guard does
	Why    string // one sentence
	Alone  string // what current Calico does without the guard
}

// Rules is the table; Rules[i].Number is i+1.
var Rules = [...]Rule{
	{
		1, "ADD of a new container",
		"the guard records the ADD, calls the plugin and records its result; in enforce it first waits at most 5 s for a running DEL of an older sandbox of the pod",
		"the guard can tell which of two sandboxes is newer only if it counts every ADD before the ADD begins",
		"the same, without a record",
	},
	{
		2, "ADD that failed",
		"the guard returns the plugin's error; in enforce it queues a DEL, calls it once, and removes it from the queue if it succeeds",
		"a runtime whose own DEL fails too never calls DEL again, and what the ADD assigned would leak",
		"it rolls back what it assigned on most errors, not on all; the IPAM garbage collector releases the rest after its grace period",
	},
	{
		3, "second ADD of the same container",
		"passed on, counted again, and recorded as a violation of the CNI protocol",
		"the guard cannot tell which of the two results is in use, so it keeps both on record",
		"the same, without the recorded violation",
	},
	{
		4, "DEL of the newest owner of the pod name",
		"passed on",
		"the DEL deletes what its own sandbox owns",
		"the same",
	},
	{
		5, "late DEL: a DEL of an older sandbox, and the pod name has a newer owner",
		"in observe passed on, and the guard checks the newer owner before and after; in enforce the guard releases only what belongs to the old container, and leaves what the plugin finds by pod name",
		"what the plugin finds by pod name belongs to the newer sandbox now",
		"it keeps the newer endpoint, because it compares container IDs since 2018, but calico-ipam still releases the handle that is named after the pod, whichever sandbox owns it",
	},
	{
		6, "DEL of a container without an ownership record",
		"always passed on",
		"without a record the guard cannot call a DEL late: the container may be older than the guard",
		"the same",
	},
	{
		7, "DEL while the ADD of the same container runs",
		"passed on; in enforce the guard first waits at most 5 s for the ADD, then ends it, and repeats the DEL after 150 s",
		"calico-ipam may still assign an address after its caller has exited",
		"both run at the same time, and an address that is assigned after the DEL leaks",
	},
	{
		8, "DEL of a container whose ADD exited without a result",
		"passed on; in enforce repeated after 150 s",
		"calico-ipam may still assign an address after its caller has exited",
		"one DEL, and an address that is assigned after it leaks",
	},
	{
		9, "late DEL while the ADD of the newer sandbox runs",
		"as rule 5",
		"the newer sandbox is not complete, but it already owns the pod name",
		"custom resources: safe, because Calico compares revision and UID; etcd: the DEL may delete the endpoint during the ADD, which then fails and is retried",
	},
	{
		10, "DEL that succeeded before",
		"passed on again",
		"the handle may not have existed yet when the first DEL ran",
		"the same: a missing object counts as deleted",
	},
	{
		11, "DEL that fails in the plugin",
		"the guard returns the plugin's error; in enforce it returns success only if the error is a missing endpoint or network namespace, the network namespace is verified gone, and the rest is queued",
		"a retried DEL has nothing left to delete but the next pod of that name; errors of API, authorization or datastore never become success",
		"the kubelet receives the error and retries the DEL without end",
	},
	{
		12, "plugin that hangs",
		"at the deadline the guard ends the plugin with all processes that it started, and the call fails",
		"a missing answer is never a success",
		"it waits, for a lock without a limit; the runtime ends only the process that it started itself",
	},
	{
		13, "CHECK and STATUS",
		"passed on; on CHECK the guard also checks interface, address, route and gateway, and in enforce a problem that it finds fails the CHECK",
		"they only read, and an error of the guard itself is not an error of the node",
		"its CHECK checks nothing, and it has no STATUS",
	},
	{
		14, "GC",
		"passed on to a plugin that supports GC; the guard daemon queues a DEL for each attachment that no sandbox, ownership record, recent result or running call needs, and refuses if the runtime does not answer, reports no sandbox, or more than one attachment in five would be deleted",
		"if very many attachments would be deleted at once, it is more likely that the guard daemon did not read everything",
		"it has no GC",
	},
	{
		15, "ADD that got an address which another running sandbox of the node has",
		"recorded; in enforce the guard refuses the ADD and undoes it as in rule 2, and the kubelet tries again with another address",
		"two pods with one address take each other's packets; it is certain only if the other sandbox's network namespace has the address and a process uses it, and no DEL for it runs",
		"it refuses only if the host route to the other pod is still there",
	},
}

// RuleOf returns a rule. A call that was decided without one was passed on unchanged.
func RuleOf(number int) Rule {
	if number < 1 || number > len(Rules) {
		return Rule{
			Number: number, Title: "no rule", Does: "passed on unchanged",
			Why: "the guard had no ownership record for the call, or the CNI command is unknown", Alone: "the same",
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
		return "it finds by the pod's name: it would have deleted the endpoint and released the address of the newer sandbox"
	case ByBoth:
		return "it would have kept the newer endpoint and released the old container's address; then the handle that is named after the pod, whichever sandbox owns it"
	case ByContainer:
		return "it finds everything by container ID: the newer sandbox would have kept its endpoint and address; the guard only records the call"
	default:
		return "it is unknown how this plugin finds the objects to delete"
	}
}

// Stopped reports whether a late DEL was not passed on to the plugin.
func (e *Event) Stopped() bool { return e.Late && !e.Called }
