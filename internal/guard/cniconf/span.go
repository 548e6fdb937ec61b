package cniconf

import (
	"encoding/json"
	"fmt"
	"strings"
)

// A span is a part of a document, by offsets.
type span struct{ from, to int }

func (s span) of(doc []byte) []byte { return doc[s.from:s.to] }

// A member is a field of an object.
type member struct {
	key   string
	value span
}

// check returns why a document is not valid JSON that can be edited. All functions below
// rely on a checked document.
func check(doc []byte) error {
	if len(doc) > maxSize {
		return fmt.Errorf("%w: longer than %d bytes", errBroken, maxSize)
	}
	var whole json.RawMessage
	if err := json.Unmarshal(doc, &whole); err != nil {
		return fmt.Errorf("%w: %w", errBroken, err)
	}
	if doc[skip(doc, 0)] != '{' {
		return fmt.Errorf("%w: not a JSON object", errBroken)
	}
	depth := 0
	for i := 0; i < len(doc); i++ {
		switch doc[i] {
		case '"':
			i = endOfString(doc, i) - 1
		case '{', '[':
			if depth++; depth > maxDepth {
				return fmt.Errorf("%w: nested deeper than %d levels", errBroken, maxDepth)
			}
		case '}', ']':
			depth--
		}
	}
	return nil
}

// members returns the fields of the object at s; none if it is not an object.
func members(doc []byte, s span) []member {
	if doc[s.from] != '{' {
		return nil
	}
	var out []member
	for i := skip(doc, s.from+1); doc[i] != '}'; {
		end := endOfString(doc, i)
		var key string
		if err := json.Unmarshal(doc[i:end], &key); err != nil {
			return nil // impossible: the document is valid
		}
		from := skip(doc, skip(doc, end)+1) // behind the colon
		to := endOfValue(doc, from)
		out = append(out, member{key, span{from, to}})
		if i = skip(doc, to); doc[i] == ',' {
			i = skip(doc, i+1)
		}
	}
	return out
}

// elements returns the elements of the array at s; none if it is not an array.
func elements(doc []byte, s span) []span {
	if doc[s.from] != '[' {
		return nil
	}
	var out []span
	for i := skip(doc, s.from+1); doc[i] != ']'; {
		to := endOfValue(doc, i)
		out = append(out, span{i, to})
		if i = skip(doc, to); doc[i] == ',' {
			i = skip(doc, i+1)
		}
	}
	return out
}

// skip returns the offset after white space.
func skip(doc []byte, i int) int {
	for i < len(doc) && strings.IndexByte(" \t\r\n", doc[i]) >= 0 {
		i++
	}
	return i
}

func endOfString(doc []byte, i int) int {
	for i++; doc[i] != '"'; i++ {
		if doc[i] == '\\' {
			i++
		}
	}
	return i + 1
}

func endOfValue(doc []byte, i int) int {
	depth := 0
	for {
		switch doc[i] {
		case '"':
			i = endOfString(doc, i)
		case '{', '[':
			depth++
			i++
		case '}', ']':
			depth--
			i++
		case ',', ':', ' ', '\t', '\r', '\n':
			i++
			continue // inside an object or array
		default: // a number, true, false or null
			for i < len(doc) && strings.IndexByte(",:]} \t\r\n", doc[i]) < 0 {
				i++
			}
		}
		if depth == 0 {
			return i
		}
	}
}
