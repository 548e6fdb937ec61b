package page_test

import (
	"testing"

	"plumbline.dev/plumbline/internal/page"
)

// The policy allows the style and the script by their hashes, and nothing else.
func TestPolicy(t *testing.T) {
	t.Parallel()
	const a, b = "'sha256-ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs='", "'sha256-PiPoFgA5WUoziU9lZOGxNIu9egCI1CxKy3PurtWcAJ0='"
	if got := page.Policy("a", "b"); got != "default-src 'none'; style-src "+a+"; script-src "+b+"; base-uri 'none'; form-action 'none'" {
		t.Error(got)
	}
	if got := page.Policy("a", ""); got != "default-src 'none'; style-src "+a+"; base-uri 'none'; form-action 'none'" {
		t.Error(got)
	}
}
