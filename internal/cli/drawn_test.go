package cli_test

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

// A pod of a bundle as a picture and as a page: both are files of their own, and load nothing.
func TestExplainDrawn(t *testing.T) {
	t.Parallel()
	file := bundle(t, "PL3003", nil)
	svg := run(t, 0, "explain", "pod", "lost", "-n", "shop", "-o", "svg", "--bundle", file)
	if svg.code != 0 || !strings.HasPrefix(svg.out, "<svg ") || !strings.Contains(svg.out, "to eth0") || !strings.Contains(svg.out, "PL3003") || strings.Contains(svg.out, "ZgotmplZ") {
		t.Errorf("exit %d %s\n%s", svg.code, svg.err, svg.out)
	}
	for d := xml.NewDecoder(strings.NewReader(svg.out)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%v\n%s", err, svg.out)
		}
	}
	page := run(t, 0, "explain", "pod", "lost", "-n", "shop", "-o", "html", "--bundle", file)
	if page.code != 0 || !strings.Contains(page.out, "PL3003/shop/lost") || !strings.Contains(page.out, `content="default-src 'none'; style-src 'sha256-`) || strings.Contains(page.out, "ZgotmplZ") {
		t.Errorf("exit %d %s\n%s", page.code, page.err, page.out)
	}
	for _, bad := range []string{"<script", "src=", "@import", "url("} {
		if strings.Contains(page.out+svg.out, bad) {
			t.Errorf("%s is in the file", bad)
		}
	}
	if text := run(t, 80, "explain", "pod", "lost", "-n", "shop", "--bundle", file); text.code != 0 || !strings.Contains(text.out, "PL3003/shop/lost") {
		t.Errorf("exit %d %s\n%s", text.code, text.err, text.out)
	}
	report := run(t, 0, "check", "-o", "html", "--bundle", file)
	if !strings.Contains(report.out, `style-src 'sha256-`) || strings.Contains(report.out, "ZgotmplZ") || strings.Contains(report.out, "unsafe-inline") {
		t.Errorf("check -o html:\n%.600s", report.out)
	}
}
