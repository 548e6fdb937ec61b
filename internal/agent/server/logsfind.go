package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"
)

// A LogPlace is where a component's logs are: the last part of the path is a pattern. What
// logrotate and lumberjack make of a file is found by the file's own name.
type LogPlace struct {
	Source string
	Path   string
	root   string // instead of the node's
}

// usualLogs are where they are on most nodes.
var usualLogs = []LogPlace{
	{Source: "cni", Path: "/var/log/calico/cni/*.log"},
	{Source: "kubelet", Path: "/var/log/kubelet*.log"},
	{Source: "kubelet", Path: "/var/lib/rancher/rke2/agent/logs/kubelet*.log"},
	{Source: "containerd", Path: "/var/log/containerd*.log"},
}

const eventSource = "eventlog"

// parseLogPlace reads COMPONENT=/DIRECTORY/PATTERN.
func parseLogPlace(text string) (LogPlace, error) {
	source, at, ok := strings.Cut(text, "=")
	p := LogPlace{Source: source, Path: at}
	switch {
	case !ok || !slices.ContainsFunc(usualLogs, func(u LogPlace) bool { return u.Source == source }):
		return p, fmt.Errorf("%.80q is not cni=, kubelet= or containerd=/DIRECTORY/PATTERN", text)
	case !path.IsAbs(at) || path.Clean(at) != at || strings.ContainsAny(path.Dir(at), `*?[\`):
		return p, fmt.Errorf("%.80q is not a pattern in one directory of the node", at)
	}
	_, err := path.Match(path.Base(at), "")
	return p, err
}

func logPlaces(more []LogPlace, record string) []LogPlace {
	out := slices.Concat(usualLogs, more)
	if record != "" {
		for _, pattern := range []string{"*.events", "*.flight"} { // the second is of version 1
			out = append(out, LogPlace{Source: eventSource, Path: path.Join(record, pattern), root: "/"})
		}
	}
	return out
}

// A logFile is one that may be read.
type logFile struct {
	source, name string
	seenFile
	journal bool // a journal's entries of the component, as text
	open    func(ctx context.Context, since time.Time) (io.ReadCloser, error)
}

// A logMissing is what was not found.
type logMissing struct {
	absent []string // components without a file
	words  []string
}

func (m *logMissing) say(format string, args ...any) {
	m.words = append(m.words, fmt.Sprintf(format, args...))
}

const (
	maxLogNames = 4096
	maxOfPlace  = 64 // files
)

// rotated is what logrotate adds to a name.
var rotated = regexp.MustCompile(`^(.+\.(?:log|events|flight))(?:[.-][0-9][0-9-]{0,20})?(?:\.gz)?$`)

// findLogs lists the files, the newest of each component first and the components in turn.
func findLogs(ctx context.Context, root string, places []LogPlace) ([]logFile, logMissing) {
	var missing logMissing
	found, unread := map[string][]logFile{}, map[string]bool{}
	var sources []string
	for _, p := range places {
		if !slices.Contains(sources, p.Source) {
			sources = append(sources, p.Source)
		}
		files, err := p.list(cmp.Or(p.root, root), &missing)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			missing.say("%s: %v", p.Source, err)
			unread[p.Source] = true
		}
		found[p.Source] = append(found[p.Source], files...)
	}
	for _, f := range findJournals(ctx, root, &missing) {
		found[f.source] = append(found[f.source], f)
	}
	var out []logFile
	for _, s := range sources {
		if len(found[s]) == 0 {
			why := "no file " + pathsOf(places, s) + " on the node, and nothing in its journal"
			switch {
			case unread[s]:
				why = "not every directory could be listed"
			case s == eventSource:
				why = "the agent has recorded nothing yet"
			}
			missing.absent = append(missing.absent, s)
			missing.say("%s: %s", s, why)
		}
		slices.SortStableFunc(found[s], func(a, b logFile) int { return b.modified.Compare(a.modified) })
	}
	for i := range maxOfPlace * (len(places) + len(journalDirs)) {
		for _, s := range sources {
			if i < len(found[s]) {
				out = append(out, found[s][i])
			}
		}
	}
	return out, missing
}

func pathsOf(places []LogPlace, source string) string {
	var out []string
	for _, p := range places {
		if p.Source == source {
			out = append(out, p.Path)
		}
	}
	return strings.Join(out, ", ")
}

// list looks into one directory. What is no ordinary file is left alone, and said.
func (p *LogPlace) list(root string, missing *logMissing) ([]logFile, error) {
	dir, err := openLogDir(root, path.Dir(p.Path))
	if err != nil {
		return nil, err
	}
	defer func() { _ = dir.Close() }()
	names, err := dir.Readdirnames(maxLogNames)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(names) == maxLogNames {
		missing.say("%s: %s has more than %d names, not all were looked at", p.Source, path.Dir(p.Path), maxLogNames)
	}
	var out []logFile
	for _, name := range names {
		m := rotated.FindStringSubmatch(name)
		if m == nil {
			continue
		}
		if ours, err := path.Match(path.Base(p.Path), m[1]); err != nil || !ours {
			continue
		}
		whole := path.Join(path.Dir(p.Path), name)
		f, seen, err := openLog(dir, name)
		if err != nil {
			missing.say("%s: %s is not read: %v", p.Source, whole, err)
			continue
		}
		_ = f.Close()
		out = append(out, logFile{source: p.Source, name: whole, seenFile: seen, open: func(context.Context, time.Time) (io.ReadCloser, error) { return p.again(root, name) }})
	}
	slices.SortFunc(out, func(a, b logFile) int { return b.modified.Compare(a.modified) })
	if len(out) > maxOfPlace {
		missing.say("%s: only the newest %d of %d files of %s are read", p.Source, maxOfPlace, len(out), p.Path)
		out = out[:maxOfPlace]
	}
	return out, nil
}

// again opens a file that was listed.
func (p *LogPlace) again(root, name string) (io.ReadCloser, error) {
	dir, err := openLogDir(root, path.Dir(p.Path))
	if err != nil {
		return nil, err
	}
	defer func() { _ = dir.Close() }()
	f, _, err := openLog(dir, name)
	if err != nil {
		return nil, err
	}
	return f, nil
}
