package timeline

import (
	"errors"
	"fmt"
	"strings"

	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/plain"
	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/render"
)

var errNoTrace = errors.New("no line of these logs mentions it")

// show prints the stories of what was asked for; missing says which logs could not be read.
func show(sess *term.Session, log *timeline.Log, q question, f flags, missing []string) error {
	stories := storiesOf(log, q)
	for _, m := range missing {
		fmt.Fprintln(sess.Stderr, plain.Line(m))
	}
	if len(stories) == 0 {
		return fmt.Errorf("%s: %w", q, errNoTrace)
	}
	o := render.Options{Width: sess.Width(), Files: log.Files()}
	if f.output == "wide" {
		o.Width = 0
	}
	switch {
	case term.IsDocument(f.output):
		if err := sess.PrintDocument(document(log, q, stories, missing), f.output); err != nil {
			return err
		}
		return exit(o.Files, missing)
	case f.output == "html":
		if len(stories) > 1 {
			return fmt.Errorf("%s: several pods had it: pass one of %s", q, names(stories))
		}
		if err := render.HTML(sess.Stdout, stories[0], o); err != nil {
			return err
		}
		return exit(o.Files, missing)
	}
	printLeft(sess, o.Files)
	for i, s := range stories {
		if i > 0 {
			fmt.Fprintln(sess.Stdout)
		}
		if err := render.Text(sess.Stdout, s, o); err != nil {
			return err
		}
	}
	ns, pod, _ := strings.Cut(stories[0].Pod, "/")
	sess.Next("explain pod %s -n %s", plain.Line(pod), plain.Line(ns))
	return exit(o.Files, missing)
}

// storiesOf gives the stories of the pods that were asked for, with verdicts.
func storiesOf(log *timeline.Log, q question) []*timeline.Story {
	var pods []string
	switch {
	case q.Pod != "":
		pods = []string{q.Pod}
	case q.IP.IsValid():
		pods = log.PodsOf(q.IP)
	default:
		pods = log.PodsOfSandbox(q.Sandbox)
	}
	return timeline.Stories(log, pods)
}

// names lists the pods of stories.
func names(stories []*timeline.Story) string {
	var out []string
	for _, s := range stories {
		out = append(out, s.Pod)
	}
	return plain.Line(strings.Join(out, ", "))
}
