package cniconf

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
)

// maxNesting bounds text that is encoded in a string of encoded text, and so on.
const maxNesting = 3

// names reports whether a text names the guard, in any of its strings, plain or base64:
// libcni stores the configuration of an ADD in base64. Any mention counts: a false one only
// keeps a program. whole says that all of the text was understood.
func names(raw []byte, nesting int) (named, whole bool) {
	if bytes.Contains(raw, []byte(Guard)) {
		return true, true
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	tokens := 0
	for ; ; tokens++ {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return false, tokens > 0 && json.Valid(raw)
		}
		if err != nil {
			return false, false
		}
		s, ok := token.(string)
		if !ok || nesting == maxNesting {
			continue
		}
		inner, err := base64.StdEncoding.DecodeString(s)
		if err != nil {
			inner = []byte(s) // plain text
		}
		if named, _ := names(inner, nesting+1); named {
			return true, true
		}
	}
}
