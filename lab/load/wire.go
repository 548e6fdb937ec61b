package load

import (
	"encoding/binary"
	"errors"
	"time"
)

// A message is a protobuf message under construction. The API server stores pods and
// nodes in protobuf and etcd's API uses it; a writer of four methods is enough for both.
// A field that is never written has its zero value.
type message []byte

// The wire types that are used here.
const (
	varint    = 0
	delimited = 2
)

func (m *message) tag(field, kind int) {
	*m = binary.AppendUvarint(*m, uint64(field)<<3|uint64(kind))
}

func (m *message) number(field int, n uint64) {
	m.tag(field, varint)
	*m = binary.AppendUvarint(*m, n)
}

func (m *message) text(field int, s string) {
	m.tag(field, delimited)
	*m = append(binary.AppendUvarint(*m, uint64(len(s))), s...)
}

func (m *message) bytes(field int, b []byte) {
	m.tag(field, delimited)
	*m = append(binary.AppendUvarint(*m, uint64(len(b))), b...)
}

// nest writes a message inside this one: what fill adds. Its length, known only
// afterwards, is moved before it.
func (m *message) nest(field int, fill func()) {
	m.tag(field, delimited)
	start := len(*m)
	fill()
	size := len(*m) - start
	var prefix [binary.MaxVarintLen64]byte
	n := binary.PutUvarint(prefix[:], uint64(size))
	*m = append(*m, prefix[:n]...)
	copy((*m)[start+n:], (*m)[start:start+size])
	copy((*m)[start:], prefix[:n])
}

// time writes a metav1.Time.
func (m *message) time(field int, t time.Time) {
	m.nest(field, func() { m.number(1, uint64(t.Unix())) })
}

// entry writes an entry of a map of strings.
func (m *message) entry(field int, key, value string) {
	m.nest(field, func() {
		m.text(1, key)
		m.text(2, value)
	})
}

var errWire = errors.New("malformed protobuf")

// readField reads the first field of a message: its number, and its value as a number or
// as bytes.
func readField(b []byte) (field int, n uint64, value, rest []byte, err error) {
	tag, used := binary.Uvarint(b)
	if used <= 0 {
		return 0, 0, nil, nil, errWire
	}
	b = b[used:]
	n, used = binary.Uvarint(b)
	if used <= 0 {
		return 0, 0, nil, nil, errWire
	}
	b = b[used:]
	switch tag & 7 {
	case varint:
		return int(tag >> 3), n, nil, b, nil
	case delimited:
		if n > uint64(len(b)) {
			return 0, 0, nil, nil, errWire
		}
		return int(tag >> 3), 0, b[:n], b[n:], nil
	}
	return 0, 0, nil, nil, errWire
}
