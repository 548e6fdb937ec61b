// Package buildinfo says which version of Plumbline a program is.
package buildinfo

import (
	"cmp"
	"runtime/debug"
)

// These are set by the linker in a release (tools/release), where nothing may depend on the tags of a clone.
var version, commit, date string

// Devel is the version of a program that was built without a tag and without a checkout.
const Devel = "(devel)"

// An Info is what a program knows of its own build.
type Info struct {
	Version  string
	Commit   string // empty: not built from a checkout
	Date     string // of the commit, as RFC 3339
	Modified bool   // built from a tree with changes that are not in the commit
}

// Read returns it.
func Read() Info {
	b, ok := debug.ReadBuildInfo()
	if !ok {
		b = &debug.BuildInfo{}
	}
	return read(b)
}

func read(b *debug.BuildInfo) Info {
	i := Info{Version: cmp.Or(version, b.Main.Version, Devel), Commit: commit, Date: date}
	for _, s := range b.Settings {
		switch s.Key {
		case "vcs.revision":
			i.Commit = s.Value
		case "vcs.time":
			i.Date = s.Value
		case "vcs.modified":
			i.Modified = s.Value == "true"
		}
	}
	return i
}
