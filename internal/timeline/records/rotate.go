package records

import (
	"path"
	"regexp"
	"strconv"
	"strings"
)

// An age is the position of a file among the rotated files of one log.
type age struct {
	log   string // the name of the log that is being written
	dated string // when it was rotated, if its name has it
	count int    // its rotation number, if its name has one
}

var (
	counted    = regexp.MustCompile(`^(.+)\.(\d{1,5})$`)                                     // kubelet.log.2
	lumberjack = regexp.MustCompile(`^(.+)-(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3})(\.\w+)$`) // cni-2026-11-15T10-32-04.670.log
	journald   = regexp.MustCompile(`^(.+)@([0-9a-f-]{32,})(\.journal)~?$`)                  // system@ID-SEQNUM-TIME.journal
	dated      = regexp.MustCompile(`^(.+)[-.](\d{8}(?:-\d{4,10})?)$`)                       // kubelet.log-20261115
)

// ageOf reads log and age from a file name.
func ageOf(name string) age {
	base := path.Base(name)
	for _, suffix := range []string{".gz", ".zst"} {
		base = strings.TrimSuffix(base, suffix)
	}
	if m := dated.FindStringSubmatch(base); m != nil {
		return age{log: m[1], dated: m[2]}
	}
	if m := counted.FindStringSubmatch(base); m != nil {
		n, _ := strconv.Atoi(m[2])
		return age{log: m[1], count: n}
	}
	for _, named := range []*regexp.Regexp{lumberjack, journald} {
		if m := named.FindStringSubmatch(base); m != nil {
			return age{log: m[1] + m[3], dated: m[2]}
		}
	}
	return age{log: base}
}

// compare orders the files of one log, the oldest first. The one without date and number is
// being written: it is last.
func (a age) compare(b age) int {
	if a.log != b.log {
		return strings.Compare(a.log, b.log)
	}
	if a.rank() != b.rank() {
		return a.rank() - b.rank()
	}
	if a.dated != b.dated {
		return strings.Compare(a.dated, b.dated)
	}
	return b.count - a.count
}

func (a age) rank() int {
	switch {
	case a.dated != "":
		return 0
	case a.count != 0:
		return 1
	default:
		return 2
	}
}
