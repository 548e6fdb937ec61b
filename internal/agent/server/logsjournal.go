package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"time"

	"plumbline.dev/plumbline/internal/timeline/journal"
)

// journalDirs are where journald keeps its files: on disk, or in memory.
var journalDirs = []string{"/var/log/journal", "/run/log/journal"}

// journalUnits are the services whose entries are a component's log.
var journalUnits = map[string][]string{
	"kubelet": {
		"kubelet.service", "k3s.service", "k3s-agent.service", "rke2-server.service", "rke2-agent.service",
		"snap.microk8s.daemon-kubelite.service", "k0sworker.service", "k0scontroller.service",
	},
	"containerd": {"containerd.service", "crio.service", "snap.microk8s.daemon-containerd.service"},
}

// machineID is the name of a machine's directory of journals.
var machineID = regexp.MustCompile(`^[0-9a-f]{32}$`)

// findJournals lists the journal files that have entries of a component, once for each
// component, the newest first.
func findJournals(ctx context.Context, root string, missing *logMissing) []logFile {
	var out []logFile
	for _, top := range journalDirs {
		ids, err := names(root, top)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			missing.say("journal: %v", err)
		}
		for _, id := range ids {
			if machineID.MatchString(id) {
				out = append(out, journalsOf(ctx, root, path.Join(top, id), journalUnits, time.Time{}, missing)...)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b logFile) int { return b.modified.Compare(a.modified) })
	return out
}

func names(root, at string) ([]string, error) {
	dir, err := openLogDir(root, at)
	if err != nil {
		return nil, err
	}
	defer func() { _ = dir.Close() }()
	all, err := dir.Readdirnames(maxLogNames)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	slices.Sort(all)
	return all, err
}

// journalsOf looks into one machine's directory for entries of some components in files that were
// written to since a time.
func journalsOf(ctx context.Context, root, at string, units map[string][]string, since time.Time, missing *logMissing) []logFile {
	all, err := names(root, at)
	if err != nil {
		missing.say("journal: %v", err)
		return nil
	}
	dir, err := openLogDir(root, at)
	if err != nil {
		missing.say("journal: %v", err)
		return nil
	}
	defer func() { _ = dir.Close() }()
	if len(all) == maxLogNames {
		missing.say("journal: %s has more than %d names, not all were looked at", at, maxLogNames)
	}
	var found []logFile
	for _, name := range all {
		if !journal.IsFile(name) || journal.IsUser(name) {
			continue
		}
		whole := path.Join(at, name)
		f, seen, err := openLog(dir, name)
		if err != nil {
			missing.say("journal: %s is not read: %v", whole, err)
			continue
		}
		_ = f.Close()
		if !seen.modified.Before(since) {
			found = append(found, logFile{name: whole, seenFile: seen})
		}
	}
	slices.SortStableFunc(found, func(a, b logFile) int { return b.modified.Compare(a.modified) })
	if len(found) > maxOfPlace {
		missing.say("journal: only the newest %d of %d files of %s are read", maxOfPlace, len(found), at)
		found = found[:maxOfPlace]
	}
	var out []logFile
	for _, f := range found {
		for _, source := range slices.Sorted(maps.Keys(units)) {
			one := f
			one.source, one.name, one.journal = source, f.name+":"+source, true
			one.open = func(ctx context.Context, since time.Time) (io.ReadCloser, error) {
				return openJournal(ctx, root, f.name, since, units[source])
			}
			has, err := one.hasEntry(ctx)
			if err != nil {
				missing.say("journal: %s is not read: %v", f.name, err)
				break
			}
			if has {
				out = append(out, one)
			}
		}
	}
	return out
}

// hasEntry returns whether a journal has any entry of the component: a look-up in its index. Of
// one that is damaged it is not known: whoever reads it says so.
func (f *logFile) hasEntry(ctx context.Context) (bool, error) {
	in, err := f.open(ctx, time.Time{})
	if err != nil {
		return false, err
	}
	defer func() { _ = in.Close() }()
	_, err = in.Read(make([]byte, 1))
	if errors.Is(err, io.EOF) {
		t, ok := in.(*journalText)
		return ok && len(t.damage()) > 0, nil
	}
	return err == nil, err
}

// A journalText is the entries of some units of a journal file, as journalctl -o
// short-iso-precise prints them in UTC.
type journalText struct {
	ctx     context.Context // of the Read calls
	file    *os.File
	journal *journal.File
	entries *journal.Reader
	line    []byte
	given   int
}

// openJournal opens a file that was listed.
func openJournal(ctx context.Context, root, name string, since time.Time, units []string) (*journalText, error) {
	dir, err := openLogDir(root, path.Dir(name))
	if err != nil {
		return nil, err
	}
	defer func() { _ = dir.Close() }()
	f, _, err := openLog(dir, path.Base(name))
	if err != nil {
		return nil, err
	}
	st, err := f.Stat() // after it was opened
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	j, err := journal.Open(f, st.Size())
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	q := journal.Query{Fields: []string{"MESSAGE", "_HOSTNAME", "SYSLOG_IDENTIFIER", "_COMM", "_PID"}, Since: since, MaxField: maxLogLine}
	for _, u := range units {
		q.Match = append(q.Match, "_SYSTEMD_UNIT="+u, "UNIT="+u) // the second is what systemd says about it
	}
	return &journalText{ctx: ctx, file: f, journal: j, entries: journal.NewReader(q, j)}, nil
}

func (t *journalText) Read(p []byte) (int, error) {
	for t.given == len(t.line) {
		e, err := t.entries.Next(t.ctx)
		if err != nil {
			return 0, err
		}
		t.line, t.given = appendJournalLine(t.line[:0], e), 0
	}
	n := copy(p, t.line[t.given:])
	t.given += n
	return n, nil
}

func (t *journalText) Close() error { return t.file.Close() }

// damage says what of the file could not be read.
func (t *journalText) damage() []string {
	var out []string
	for _, d := range t.journal.Damage() {
		out = append(out, d.String())
	}
	return out
}

// appendJournalLine appends an entry as one line, if it has a message.
func appendJournalLine(to []byte, e *journal.Entry) []byte {
	message := e.Value("MESSAGE")
	if len(message) == 0 {
		return to
	}
	program := e.Value("SYSLOG_IDENTIFIER")
	if len(program) == 0 {
		program = e.Value("_COMM")
	}
	to = e.Realtime().UTC().AppendFormat(to, "2006-01-02T15:04:05.000000-0700")
	to = append(to, ' ')
	to = appendPlain(to, e.Value("_HOSTNAME"), '_')
	to = append(to, ' ')
	to = appendPlain(to, program, '_')
	to = fmt.Appendf(to, "[%s]: ", appendPlain(nil, e.Value("_PID"), '_'))
	to = appendPlain(to, message, ' ')
	return append(to, '\n')
}

// appendPlain keeps what a stranger wrote in its place: a line is one entry, a word one word.
func appendPlain(to, from []byte, instead byte) []byte {
	for _, c := range from {
		if c == '\n' || c == '\r' || (c == ' ' && instead == '_') {
			c = instead
		}
		to = append(to, c)
	}
	return to
}
