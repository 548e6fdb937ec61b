package detect

import (
	"embed"

	"plumbline.dev/plumbline/internal/finding"
)

//go:embed doc/*.md
var pages embed.FS

// Page is the documentation page of a code, which is embedded in the binary.
func Page(c finding.Code) (string, bool) {
	b, err := pages.ReadFile("doc/" + string(c) + ".md")
	return string(b), err == nil
}
