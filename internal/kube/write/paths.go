package write

import (
	"net/http"
	"regexp"

	"plumbline.dev/plumbline/internal/kube"
)

// Everything that a repair may change.
const (
	leaseName     = "plumbline-apply"
	journalPrefix = "plumbline-journal-"
	calicoAPI     = `^/apis/crd\.projectcalico\.org/v1/(ipamblocks|ipamhandles|blockaffinities)`
	onePod        = `^/api/v1/namespaces/` + kube.NamePattern + `/pods/` + kube.NamePattern
)

var (
	recordsPath  = regexp.MustCompile(calicoAPI + `$`)
	recordPath   = regexp.MustCompile(calicoAPI + `/` + kube.NamePattern + `$`)
	statusPath   = regexp.MustCompile(onePod + `/status$`)
	evictionPath = regexp.MustCompile(onePod + `/eviction$`)
	calicoPath   = regexp.MustCompile(`^/api/v1/namespaces/(kube-system|calico-system)/pods/calico-(node|kube-controllers)-[-a-z0-9]{1,80}$`)
	stepPath     = regexp.MustCompile(`^/api/v1/namespaces/` + kube.NamePattern + `/pods/https:` + kube.NamePattern + `:` + kube.AgentPorts + `/proxy(/[a-z0-9]+){1,4}$`)
)

// planName is the form of a plan's identifier in an object name.
const planName = `[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?`

// An allowed is what repairs may request: the lease and the journals are in the namespace of the
// agents, whose admission policies know it.
type allowed struct{ leases, lease, journals, journal *regexp.Regexp }

func allowedIn(namespace string) allowed {
	leases := `^/apis/coordination\.k8s\.io/v1/namespaces/(` + regexp.QuoteMeta(namespace) + `|kube-system)/leases`
	journals := `^` + regexp.QuoteMeta(journalsIn(namespace))
	return allowed{
		leases: regexp.MustCompile(leases + `$`), lease: regexp.MustCompile(leases + `/` + leaseName + `$`),
		journals: regexp.MustCompile(journals + `$`), journal: regexp.MustCompile(journals + `/` + journalPrefix + planName + `-[0-9]{1,4}$`),
	}
}

// may admits what repairs need: Calico's records, a pod's status, its eviction, the
// deletion of a pod of Calico, the lease, the journal, and changes by agents. sound checks
// the body.
func (a allowed) may(method, path string) bool {
	switch method {
	case http.MethodGet:
		return kube.MayRead(method, path)
	case http.MethodPost:
		return match(path, recordsPath, evictionPath, a.leases, a.journals, stepPath)
	case http.MethodPut:
		return match(path, recordPath, a.lease, a.journal)
	case http.MethodDelete:
		return match(path, recordPath, calicoPath, a.journal)
	case http.MethodPatch:
		return match(path, statusPath)
	default:
		return false
	}
}

func match(path string, any ...*regexp.Regexp) bool {
	for _, r := range any {
		if r.MatchString(path) {
			return true
		}
	}
	return false
}
