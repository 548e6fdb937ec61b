package term

import (
	"strings"

	"github.com/spf13/cobra"
)

// CompleteList completes what is behind the last comma, for a flag that takes several of the values.
func CompleteList(values []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, word string) (out []string, _ cobra.ShellCompDirective) {
		before := word[:strings.LastIndexByte(word, ',')+1]
		for _, v := range values {
			if strings.HasPrefix(v, word[len(before):]) {
				out = append(out, before+v)
			}
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
}
