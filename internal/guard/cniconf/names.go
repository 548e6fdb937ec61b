package cniconf

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
)

// Of what is encoded in what is encoded, and so on.
const maxNesting = 3

// names tells whether a text names the guard, in any string of it, be it a plain one or
// one that holds another text: libcni keeps the configuration of an ADD in base64. Any
// mention counts: too many only keep a binary. Whole tells that all of it was understood.
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
			inner = []byte(s) // a plain text
		}
		if named, _ := names(inner, nesting+1); named {
			return true, true
		}
	}
}
