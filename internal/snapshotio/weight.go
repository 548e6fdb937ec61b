package snapshotio

import "bytes"

// What one value takes in memory when it is decoded, at most, while lists still grow: a row or an
// element of a nested list as an object, or as null; and any other element.
const (
	objectWeight  = 512
	elementWeight = 32
)

// Weight bounds the memory that a JSON text takes when it is decoded into rows. Two bytes may
// become hundreds: {} or null in a list is a whole row. It reads the text once and decodes nothing.
func Weight(b []byte) int {
	n := len(b) + bytes.Count(b, []byte("null"))*objectWeight
	for _, c := range b {
		switch c {
		case '{':
			n += objectWeight
		case '[', ',':
			n += elementWeight
		}
	}
	return n
}
