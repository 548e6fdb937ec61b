package term

import (
	"context"
	"fmt"
	"time"

	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/plain"
	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/parse"
)

// ReadLogs reads all files of the paths, and keeps the events of the time asked for; "-" is
// stdin.
func (s *Session) ReadLogs(ctx context.Context, paths []string, q cluster.LogQuestion) (*timeline.Log, error) {
	in, err := parse.Inputs(paths, s.Stdin)
	if err != nil {
		return nil, err
	}
	began := time.Now() //nolint:forbidigo // how long it took
	log, err := parse.Read(ctx, in, q.Within, q.Zone)
	if err == nil && s.Verbose {
		var bytes int64
		for _, f := range log.Files() {
			bytes += f.Bytes
		}
		fmt.Fprintf(s.Stderr, "read %d log files, %s, in %.1f s\n", len(log.Files()), plain.Size(bytes), time.Since(began).Seconds())
	}
	if err != nil {
		return nil, err
	}
	if a := timeline.AccountOf(log.Files()); a.Nothing() {
		PrintLeft(s, log.Files())
		err = fmt.Errorf("no line of these logs is of a known form and component (%s)", a.Says())
	}
	return log, err
}
