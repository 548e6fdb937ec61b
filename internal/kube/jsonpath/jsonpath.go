// Package jsonpath prints parts of a document as kubectl does with -o jsonpath.
package jsonpath

import (
	"io"

	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/util/jsonpath"
)

// Parse reads a template, which then prints a decoded document. A field that is missing is empty.
func Parse(text string) (print func(w io.Writer, doc any) error, err error) {
	p := jsonpath.New("output").AllowMissingKeys(true)
	if err := p.Parse(text); err != nil {
		return nil, err
	}
	return p.Execute, nil
}

// Decode reads JSON as templates expect it: whole numbers are integers.
func Decode(doc []byte) (v any, err error) {
	err = json.Unmarshal(doc, &v)
	return v, err
}
