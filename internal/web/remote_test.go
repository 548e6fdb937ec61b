package web_test

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/web"
)

// Commands on pages from elsewhere read the cluster that the caller reads; a link cannot write them.
func TestRemoteFlags(t *testing.T) {
	t.Parallel()
	site := siteOf(judged(t, "../detect/testdata/PL2001.txtar", nil))
	site.Told = true
	through := func(flags string) http.Handler {
		return web.Remote(flags, func(_ context.Context, path string, q url.Values) (web.Answer, error) {
			code, body, _ := get(t, site.Handler(), "/"+path+"?"+q.Encode())
			return web.Answer{Status: code, Body: io.NopCloser(strings.NewReader(body))}, nil
		})
	}
	const page = "/pod?name=shop/web&flags=--forged"
	for flags, want := range map[string]string{
		"--context east":          "explain pod web -n shop --context east\n",
		"":                        "explain pod web -n shop\n",
		"<script>":                "explain pod web -n shop &lt;script&gt;\n",
		strings.Repeat("x", 9000): "explain pod web -n shop\n",
	} {
		_, body, _ := get(t, through(flags), page)
		if !strings.Contains(body, want) || strings.Contains(body, "forged") {
			t.Errorf("%.20q: no %q in\n%s", flags, want, body)
		}
	}
	site.Told = false
	if _, body, _ := get(t, site.Handler(), page); strings.Contains(body, "forged") {
		t.Error("a link writes commands")
	}
}
