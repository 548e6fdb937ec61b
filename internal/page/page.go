// Package page is what all HTML of Plumbline has in common: one stylesheet, and the policy of a file that loads nothing.
package page

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
)

// Style is the stylesheet of all pages: colours, text, tables, light and dark, and in print.
//
//go:embed style.css
var Style string

// Policy is the Content-Security-Policy of a file that loads nothing: it allows exactly its own style, and its own script
// if it has one.
func Policy(style, script string) string {
	own := "default-src 'none'; style-src " + hash(style)
	if script != "" {
		own += "; script-src " + hash(script)
	}
	return own + "; base-uri 'none'; form-action 'none'"
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
