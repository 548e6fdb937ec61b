package kube

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"google.golang.org/protobuf/encoding/protowire"
)

// eachProto splits a list in Kubernetes' protobuf format into its items as they arrive. The
// envelope is "k8s\\0" and a runtime.Unknown with the list.
func eachProto(r io.Reader, each func(item []byte) error) (listMeta, error) {
	p := protoReader{in: bufio.NewReaderSize(r, 256<<10), left: 1 << 62}
	meta, err := p.envelope(each)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errTruncated
	}
	return meta, err
}

type protoReader struct {
	in   *bufio.Reader
	left int64 // bytes of the message that is being read
	buf  []byte
}

func (p *protoReader) envelope(each func([]byte) error) (meta listMeta, err error) {
	magic := make([]byte, 4)
	if _, err := io.ReadFull(p.in, magic); err != nil {
		return meta, err
	}
	if string(magic) != "k8s\x00" {
		return meta, errors.New("not Kubernetes' protobuf")
	}
	found := false
	for {
		num, size, err := p.field()
		if errors.Is(err, io.EOF) && found {
			return meta, nil
		}
		if err != nil {
			return meta, err
		}
		if num != unknownFieldRaw {
			if err := p.skip(size); err != nil {
				return meta, err
			}
			continue
		}
		found = true
		rest := p.left - size
		p.left = size
		if meta, err = p.list(each); err != nil {
			return meta, err
		}
		p.left = rest
	}
}

func (p *protoReader) list(each func([]byte) error) (meta listMeta, err error) {
	for p.left > 0 {
		num, size, err := p.field()
		if err != nil {
			return meta, err
		}
		if size > maxObject || size > p.left {
			return meta, ErrTooBig
		}
		b, err := p.item(int(size))
		if err != nil {
			return meta, err
		}
		p.left -= size
		switch int(num) {
		case objectFieldMetadata:
			err = fields(b, func(num protowire.Number, v []byte, _ uint64) {
				switch int(num) {
				case listMetaFieldResourceVersion:
					meta.ResourceVersion = string(v)
				case listMetaFieldContinue:
					meta.Continue = string(v)
				}
			})
		case listFieldItems:
			err = each(b)
		}
		if err != nil {
			return meta, err
		}
	}
	return meta, nil
}

// item returns the next bytes, in place if the buffer has room.
func (p *protoReader) item(size int) (b []byte, err error) {
	if size <= p.in.Size() {
		if b, err = p.in.Peek(size); err == nil {
			_, err = p.in.Discard(size)
		}
		return b, err
	}
	if cap(p.buf) < size {
		p.buf = make([]byte, size, size*2)
	}
	_, err = io.ReadFull(p.in, p.buf[:size])
	return p.buf[:size], err
}

// field reads the head of a length-delimited field, and skips others.
func (p *protoReader) field() (protowire.Number, int64, error) {
	for {
		tag, err := p.varint()
		if err != nil {
			return 0, 0, err
		}
		num, typ := protowire.DecodeTag(tag)
		switch typ {
		case protowire.BytesType:
			size, err := p.varint()
			if err != nil || int64(size) < 0 || int64(size) > p.left {
				return 0, 0, errors.Join(err, fmt.Errorf("field %d of %d bytes", num, size))
			}
			return num, int64(size), nil
		case protowire.VarintType:
			if _, err := p.varint(); err != nil {
				return 0, 0, err
			}
		default:
			return 0, 0, fmt.Errorf("field %d of type %d", num, typ)
		}
	}
}

func (p *protoReader) varint() (uint64, error) {
	v, err := binary.ReadUvarint(counted{p})
	return v, err
}

func (p *protoReader) skip(n int64) error {
	_, err := io.CopyN(io.Discard, p.in, n)
	p.left -= n
	return err
}

// counted subtracts the bytes of a varint from what is left.
type counted struct{ p *protoReader }

func (c counted) ReadByte() (byte, error) {
	b, err := c.p.in.ReadByte()
	c.p.left--
	return b, err
}

// errWire means that a message does not match its length and tags.
var errWire = errors.New("broken protobuf message")

// fields calls f for every field of a message; v for bytes, n for numbers.
func fields(b []byte, f func(num protowire.Number, v []byte, n uint64)) error {
	for len(b) > 0 {
		num, typ, k := protowire.ConsumeTag(b)
		if k < 0 {
			return errWire
		}
		b = b[k:]
		var v []byte
		var n uint64
		switch typ {
		case protowire.BytesType:
			v, k = protowire.ConsumeBytes(b)
		case protowire.VarintType:
			n, k = protowire.ConsumeVarint(b)
		default:
			k = protowire.ConsumeFieldValue(num, typ, b)
		}
		if k < 0 {
			return errWire
		}
		f(num, v, n)
		b = b[k:]
	}
	return nil
}
