package guard

import "strings"

// A Fault is the kind of an error of a delegate.
type Fault string

// The faults. Only NoEndpoint and NoNamespace may be answered with success: see
// ShouldSucceed.
const (
	Other         Fault = ""              // unknown
	API           Fault = "api"           // the API server or the datastore did not answer, or with an error
	Authorization Fault = "authorization" // the API server or the datastore refused access
	Locked        Fault = "locked"        // the datastore is locked, or not ready
	NoEndpoint    Fault = "no endpoint"   // the object to delete does not exist
	NoNamespace   Fault = "no namespace"  // the sandbox's namespace could not be entered
)

// A DelegateError is an error as the delegate returned it.
type DelegateError struct {
	Code    uint
	Msg     string
	Details string
}

// tryAgainLater is the CNI error code with that meaning.
const tryAgainLater = 11

// faults lists the words by which errors are classified, worst first: an error with words
// of two kinds is of the worse kind.
var faults = []struct {
	fault Fault
	words []string
}{
	{Authorization, []string{"unauthorized", "forbidden", "x509", "certificate", "credential", "token", "permission denied", "not allowed", "access denied"}},
	{Locked, []string{"not ready", "datastore", "locked", "lock file", "ipam.lock", "migrat"}},
	{API, []string{
		"clusterinformation", "connection", "timeout", "timed out", "deadline", "dial ", "refused", "unreachable", "no route", "tls", "eof", "etcd", "server",
		"too many requests", "rate limit", "throttl", "http", "conflict", "canceled", "unavailable", "api", "retry", "try again", "unknown",
	}},
	{NoEndpoint, []string{"resource does not exist: workloadendpoint("}},
	{NoNamespace, []string{`failed to statfs "`, "unknown fs magic"}},
}

// Fault classifies the error.
func (e DelegateError) Fault() Fault {
	if e.Code == tryAgainLater {
		return API
	}
	said := strings.ToLower(e.Msg + "\n" + e.Details)
	said = unnamed(said, "workloadendpoint(", ")") // a pod may be called api-server
	said = unnamed(said, `netns "`, `"`)
	said = unnamed(said, `failed to statfs "`, `"`)
	for _, f := range faults {
		for _, w := range f.words {
			if strings.Contains(said, w) {
				return f.fault
			}
		}
	}
	return Other
}

// unnamed removes the names between two marks, because words in a name mean nothing. Text
// with white space is not a name and stays.
func unnamed(said, from, to string) string {
	var out strings.Builder
	for {
		before, after, ok := strings.Cut(said, from)
		out.WriteString(before)
		if !ok {
			return out.String()
		}
		out.WriteString(from)
		if end := strings.Index(after, to); end >= 0 && !strings.ContainsAny(after[:end], " \t\n") {
			after = after[end:]
		}
		said = after
	}
}

// ShouldSucceed reports whether a DEL that its delegate refused is answered with success
// and its rest queued: if the sandbox's namespace is verified gone, a retried DEL has
// nothing left to delete. Such an answer is counted and reported. Every error that is not
// known to be harmless is passed on.
func ShouldSucceed(c Call, k Known, err DelegateError, nsGone bool) bool {
	if k.Mode != Enforce || c.Verb != Del || !nsGone || k.Running || own(&c, &k) == nil {
		return false
	}
	switch err.Fault() {
	case NoEndpoint, NoNamespace:
		return true
	default:
		return false
	}
}
