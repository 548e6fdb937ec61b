package main

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// repository is where the project's own files are read in a browser.
const repository = "https://github.com/plumbline-dev/plumbline/blob/main/"

// elsewhere are the links that lead off the site and out of the repository. Nobody follows them: what makes the site has no way to
// the internet. Who adds one here has opened it.
var elsewhere = []string{}

// leadsElsewhere tells whether a link with a scheme is to a file of the repository, or is listed.
func leadsElsewhere(tree fs.FS, to string) error {
	if file, ok := strings.CutPrefix(to, repository); ok {
		if _, err := fs.Stat(tree, file); err != nil {
			return fmt.Errorf("%s, which is not in the repository", to)
		}
		return nil
	}
	if !slices.Contains(elsewhere, to) {
		return fmt.Errorf("%s, which tools/site/elsewhere.go does not list", to)
	}
	return nil
}
