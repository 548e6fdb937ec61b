package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

var (
	toRE = regexp.MustCompile(`(?:href|src)="([^"]*)"`)
	idRE = regexp.MustCompile(`id="([^"]*)"`)
)

// check follows every link of every page to a file of the site, and to its part; those that lead elsewhere are looked up.
func check(tree fs.FS, files map[string][]byte) error {
	var wrong []error
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if path.Ext(name) != ".html" {
			continue
		}
		for _, m := range toRE.FindAllSubmatch(files[name], -1) {
			to, part, _ := strings.Cut(string(m[1]), "#")
			if strings.Contains(to, ":") {
				if err := leadsElsewhere(tree, to); err != nil {
					wrong = append(wrong, fmt.Errorf("%s links to %w", name, err))
				}
				continue
			}
			target := path.Join(path.Dir(name), to)
			if to == "" {
				target = name
			}
			page, ok := files[target]
			switch {
			case !ok:
				wrong = append(wrong, fmt.Errorf("%s links to %s, which is not on the site", name, m[1]))
			case part != "" && !hasPart(page, part):
				wrong = append(wrong, fmt.Errorf("%s links to %s, a part that is not there", name, m[1]))
			}
		}
	}
	return errors.Join(wrong...)
}

func hasPart(page []byte, part string) bool {
	return slices.ContainsFunc(idRE.FindAllSubmatch(page, -1), func(m [][]byte) bool { return string(m[1]) == part })
}
