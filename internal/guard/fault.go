package guard

import "strings"

// A Fault is what kind of error a delegate gave.
type Fault string

// The faults. Only of the last two is anything known that allows to go on without it.
const (
	Other         Fault = ""              // nothing is known of it
	API           Fault = "api"           // the API server or the datastore did not answer, or not well
	Authorization Fault = "authorization" // or did not let the delegate in
	Locked        Fault = "locked"        // the datastore is locked, or not ready
	NoEndpoint    Fault = "no endpoint"   // what is to be deleted does not exist
	NoNamespace   Fault = "no namespace"  // the sandbox's namespace could not be entered
)

// A DelegateError is an error as a delegate gave it.
type DelegateError struct {
	Code    uint
	Msg     string
	Details string
}

// tryAgainLater is CNI's code for just that.
const tryAgainLater = 11

// faults are the words by which errors are told apart, worst first: an error that has
// words of two kinds is of the worse.
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

// Fault tells what kind of error it is.
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

// unnamed takes out the names between two marks: words of theirs mean nothing. What has
// a space in it is not a name.
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

// ShouldSucceed tells whether a DEL that its delegate refused is answered with success,
// and the rest queued: a sandbox whose namespace is proven gone holds nothing that an
// endless DEL could still delete. It is counted and alarmed. Any error that is not known
// to be harmless is passed on.
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
