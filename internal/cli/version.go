package cli

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/cluster"
)

// A versionReport is what version -o json prints.
type versionReport struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Version    string `json:"version"`
	Commit     string `json:"commit,omitempty"`
	Modified   bool   `json:"modified,omitempty"` // built from a tree with changes that are not in the commit
	Go         string `json:"go"`
	Platform   string `json:"platform"`
}

// String is the version, or what is known instead of one.
func (v *versionReport) String() string {
	s := "plumbline " + v.Version
	if v.Version == devel {
		s = "plumbline without a version, built from source"
	}
	if v.Commit != "" && v.Version == devel {
		s += ", commit " + v.Commit[:min(12, len(v.Commit))]
	}
	return fmt.Sprintf("%s (%s, %s)", s, v.Go, v.Platform)
}

func versionCommand(sess *term.Session) *cobra.Command {
	var output string
	c := &cobra.Command{
		Use: "version", Short: "Print the version", Args: cobra.NoArgs, Example: "  " + sess.Program + " version",
		RunE: func(*cobra.Command, []string) error {
			if err := term.OutputOneOf(output, "text", "json", "yaml"); err != nil {
				return err
			}
			v := versionReport{APIVersion: cluster.APIVersion, Kind: "Version", Version: version(), Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
			v.Commit, v.Modified = commit()
			if output != "text" {
				return sess.PrintDocument(v, output)
			}
			_, err := fmt.Fprintln(sess.Stdout, v.String())
			return err
		},
	}
	c.Flags().StringVarP(&output, "output", "o", "text", "text, json or yaml")
	return c
}

// devel is the version of a program that was built without a tag and without a checkout.
const devel = "(devel)"

// version is the module's.
func version() string {
	b, ok := debug.ReadBuildInfo()
	if !ok {
		return devel
	}
	return cmp.Or(b.Main.Version, devel)
}

// commit is that which the program was built from, where it was built from a checkout.
func commit() (hash string, modified bool) {
	b, ok := debug.ReadBuildInfo()
	if !ok {
		return "", false
	}
	for _, s := range b.Settings {
		switch s.Key {
		case "vcs.revision":
			hash = s.Value
		case "vcs.modified":
			modified = s.Value == "true"
		}
	}
	return hash, modified
}
