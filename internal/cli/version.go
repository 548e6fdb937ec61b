package cli

import (
	"fmt"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"plumbline.dev/plumbline/internal/buildinfo"
	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/cluster"
)

// A versionReport is what version -o json prints.
type versionReport struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Version    string    `json:"version"`            // of the program
	Commit     string    `json:"commit,omitempty"`   // of the checkout that it was built from
	Date       time.Time `json:"date,omitzero"`      // of the commit
	Modified   bool      `json:"modified,omitempty"` // built from a tree with changes that are not in the commit
	Go         string    `json:"go"`                 // release of Go that built it
	Platform   string    `json:"platform"`           // operating system and processor
}

func versionOf(b buildinfo.Info) *versionReport {
	date, _ := time.Parse(time.RFC3339, b.Date) // zero: not known
	return &versionReport{
		APIVersion: cluster.APIVersion, Kind: "Version", Version: b.Version, Commit: b.Commit, Date: date, Modified: b.Modified,
		Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}
}

// String is the version, or what is known instead of one.
func (v *versionReport) String() string {
	s := "plumbline " + v.Version
	if v.Version == buildinfo.Devel {
		s = "plumbline without a version, built from source"
	}
	if v.Commit != "" && v.Version == buildinfo.Devel {
		s += ", commit " + v.Commit[:min(12, len(v.Commit))]
	}
	return fmt.Sprintf("%s (%s, %s)", s, v.Go, v.Platform)
}

func versionCommand(sess *term.Session) *cobra.Command {
	var output string
	c := &cobra.Command{
		Use: "version", Short: "Print the version", Args: cobra.NoArgs, Example: "  " + sess.Program + " version",
		RunE: func(*cobra.Command, []string) error {
			v := versionOf(buildinfo.Read())
			if term.IsDocument(output) {
				return sess.PrintDocument(v, output)
			}
			_, err := fmt.Fprintln(sess.Stdout, v.String())
			return err
		},
	}
	term.OutputFlag(c.Flags(), &output, "text", "json")
	return c
}
