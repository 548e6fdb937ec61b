package rtnl

import (
	"encoding/binary"
	"errors"
	"net/netip"
)

// errShort means that a message does not match its type.
var errShort = errors.New("malformed netlink message")

var native = binary.NativeEndian

// A message has a header of 16 bytes, an attribute one of four; both start at a multiple of four.
const (
	messageHeader = 16
	attrHeader    = 4
	attrTypeMask  = 0x3fff // the upper two bits are flags
)

func aligned(n int) int { return (n + 3) &^ 3 }

// A Message is one answer of the kernel.
type Message struct {
	Type  uint16
	Flags uint16
	Seq   uint32
	Port  uint32 // netlink port of who asked for it; 0 is the kernel itself
	Body  []byte
}

// Messages calls each for the messages of a datagram, until it returns false.
func Messages(b []byte, each func(Message) (bool, error)) error {
	for len(b) >= messageHeader {
		n := int(native.Uint32(b))
		if n < messageHeader || n > len(b) {
			return errShort
		}
		m := Message{Type: native.Uint16(b[4:]), Flags: native.Uint16(b[6:]), Seq: native.Uint32(b[8:]), Port: native.Uint32(b[12:]), Body: b[messageHeader:n]}
		if more, err := each(m); !more || err != nil {
			return err
		}
		b = b[min(aligned(n), len(b)):]
	}
	return nil
}

// Attrs calls each for the attributes that follow a fixed part of size bytes.
func Attrs(b []byte, size int, each func(kind uint16, value []byte)) error {
	if len(b) < size {
		return errShort
	}
	b = b[min(aligned(size), len(b)):]
	for len(b) >= attrHeader {
		n := int(native.Uint16(b))
		if n < attrHeader || n > len(b) {
			return errShort
		}
		each(native.Uint16(b[2:])&attrTypeMask, b[attrHeader:n])
		b = b[min(aligned(n), len(b)):]
	}
	return nil
}

// Number reads a value of four bytes; a shorter one is zero.
func Number(v []byte) uint32 {
	if len(v) < 4 {
		return 0
	}
	return native.Uint32(v)
}

func text(v []byte) string {
	for i, c := range v {
		if c == 0 {
			return string(v[:i])
		}
	}
	return string(v)
}

// addr reads an address of four or 16 bytes; any other length is invalid. An IPv4-mapped
// IPv6 address is not converted: the kernel distinguishes them.
func addr(v []byte) netip.Addr {
	a, _ := netip.AddrFromSlice(v)
	return a
}

// put appends an attribute.
func put(b []byte, kind uint16, value []byte) []byte {
	b = native.AppendUint16(b, uint16(attrHeader+len(value)))
	b = native.AppendUint16(b, kind)
	b = append(b, value...)
	for len(b)%4 != 0 {
		b = append(b, 0)
	}
	return b
}
