package server

import (
	"regexp"
	"strconv"
	"time"

	"plumbline.dev/plumbline/internal/cnierror"
)

// Every attempt of a kubelet to stop a sandbox that fails has a line with this message: since
// 1.20, before that, and as JSON. Other messages may quote what a pod says.
var stopFailed = regexp.MustCompile(`^(?:[^"{]*\] "?StopPodSandbox\b|[^{"]*\{"ts":[0-9.]+,.{0,200}"msg":"StopPodSandbox\b)`)

var (
	klogTime = regexp.MustCompile(`(?:^|\]: )[IWEF](\d\d)(\d\d) (\d\d):(\d\d):(\d\d)`)
	jsonTime = regexp.MustCompile(`"ts":([0-9]{12,14})(?:\.|,)`)
)

// A delLine is a kubelet's line about a DEL that failed.
type delLine struct {
	sandbox, text string
	at            time.Time // by the node's clock
}

// parseDelLine reads a line; zone is that of the node, now the time of the read.
func parseDelLine(line string, zone *time.Location, now time.Time) (delLine, bool) {
	if !stopFailed.MatchString(line) || !cnierror.IsFailedDel(line) {
		return delLine{}, false
	}
	d := delLine{sandbox: cnierror.Sandbox(line), text: line}
	if m := klogTime.FindStringSubmatch(line); m != nil {
		n := make([]int, 5)
		for i := range n {
			n[i], _ = strconv.Atoi(m[i+1])
		}
		d.at = time.Date(now.In(zone).Year(), time.Month(n[0]), n[1], n[2], n[3], n[4], 0, zone)
		if d.at.After(now.Add(24 * time.Hour)) { // of last year
			d.at = d.at.AddDate(-1, 0, 0)
		}
	} else if m := jsonTime.FindStringSubmatch(line); m != nil {
		ms, _ := strconv.ParseInt(m[1], 10, 64)
		d.at = time.UnixMilli(ms)
	}
	return d, d.sandbox != "" && !d.at.IsZero()
}
