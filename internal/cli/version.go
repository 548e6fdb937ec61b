package cli

import (
	"cmp"
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"

	"plumbline.dev/plumbline/internal/cli/term"
)

func versionCommand(sess *term.Session) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: cobra.NoArgs, Example: "  " + sess.Program + " version",
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(sess.Stdout, "plumbline "+version())
			return err
		},
	}
}

// version is the module's, and the commit where there is no tag.
func version() string {
	b, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return cmp.Or(b.Main.Version, "(devel)")
}
