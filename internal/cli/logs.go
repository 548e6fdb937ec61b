package cli

import (
	"context"
	"fmt"
	"time"

	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/parse"
)

// readLogs reads all files of the paths, and keeps the events of the time asked for; "-" is
// stdin.
func (g *global) readLogs(ctx context.Context, paths []string, q cluster.LogQuestion) (*timeline.Log, error) {
	in, err := parse.Inputs(paths, g.Stdin)
	if err != nil {
		return nil, err
	}
	began := time.Now() //nolint:forbidigo // how long it took
	log, err := parse.Read(ctx, in, q.Within)
	if err == nil && g.verbose {
		var bytes int64
		for _, f := range log.Files() {
			bytes += f.Bytes
		}
		fmt.Fprintf(g.Stderr, "read %d log files, %s, in %.1f s\n", len(log.Files()), size(bytes), time.Since(began).Seconds())
	}
	return log, err
}
