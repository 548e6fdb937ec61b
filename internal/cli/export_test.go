package cli

import (
	"github.com/spf13/cobra"

	"plumbline.dev/plumbline/internal/buildinfo"
	"plumbline.dev/plumbline/internal/cli/term"
)

// Root is the command line as it is built, for the pages that are made from it.
func Root(sess *term.Session) *cobra.Command { return rootCommand(sess) }

// VersionOf is what version -o json prints of a program that was built so.
func VersionOf(b buildinfo.Info) any { return versionOf(b) }
