package cli

import (
	"fmt"
	"maps"
	"reflect"
	"strings"

	"github.com/spf13/cobra"

	"plumbline.dev/plumbline/api/schema"
	"plumbline.dev/plumbline/internal/cli/check"
	"plumbline.dev/plumbline/internal/cli/explain"
	"plumbline.dev/plumbline/internal/cli/guard"
	"plumbline.dev/plumbline/internal/cli/ipam"
	"plumbline.dev/plumbline/internal/cli/repair"
	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/cli/timeline"
)

// Documents are the kinds of all documents that commands print, with their types.
func Documents() map[string]reflect.Type {
	all := map[string]reflect.Type{"Version": reflect.TypeFor[versionReport]()}
	for _, of := range []map[string]reflect.Type{check.Documents, explain.Documents, guard.Documents, ipam.Documents, repair.Documents, timeline.Documents} {
		maps.Copy(all, of)
	}
	return all
}

func schemaCommand(sess *term.Session) *cobra.Command {
	return &cobra.Command{
		Use:               "schema [KIND]",
		Short:             "Print the JSON Schema of what commands print with -o json",
		Example:           fmt.Sprintf("  %[1]s schema\n  %[1]s schema CheckReport", sess.Program),
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: cobra.FixedCompletions(schema.Kinds(), cobra.ShellCompDirectiveNoFileComp),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				_, err := fmt.Fprintln(sess.Stdout, strings.Join(schema.Kinds(), "\n"))
				return err
			}
			b, ok := schema.Of(args[0])
			if !ok {
				return fmt.Errorf("schema %s: no such kind: want one of %s", args[0], strings.Join(schema.Kinds(), ", "))
			}
			_, err := sess.Stdout.Write(b)
			return err
		},
	}
}
