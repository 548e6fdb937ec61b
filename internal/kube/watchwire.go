package kube

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
)

// A wire is the encoding of a watch.
type wire struct {
	accept   string
	frames   func(io.Reader) func() ([]byte, error) // one after the other, each valid until the next
	event    func(frame []byte) (event, error)
	revision func(object []byte) (string, error)
	failure  func(object []byte) failure
}

// An event is one change of an object.
type event struct {
	kind   string
	object []byte
}

const watchBuffer = 64 << 10

// lengthFrames splits a stream of frames, each after its length in four bytes.
func lengthFrames(r io.Reader) func() ([]byte, error) {
	in := bufio.NewReaderSize(r, watchBuffer)
	var head [4]byte
	var buf []byte
	return func() ([]byte, error) {
		if _, err := io.ReadFull(in, head[:]); err != nil {
			return nil, err
		}
		size := int(binary.BigEndian.Uint32(head[:]))
		if size > maxObject {
			return nil, ErrTooBig
		}
		var err error
		buf, err = fill(in, buf[:0], size)
		return buf, err
	}
}

// fill reads n bytes and allocates memory as they arrive: the length is not trusted.
func fill(in io.Reader, buf []byte, size int) ([]byte, error) {
	for len(buf) < size {
		n := min(size-len(buf), max(len(buf), watchBuffer))
		had := len(buf)
		if cap(buf) < had+n {
			buf = append(make([]byte, 0, had+n), buf...)
		}
		buf = buf[:had+n]
		if _, err := io.ReadFull(in, buf[had:]); err != nil {
			return nil, cutOff(err)
		}
	}
	return buf, nil
}

// lineFrames splits a stream of lines. JSON as the server writes it has no line break
// inside.
func lineFrames(r io.Reader) func() ([]byte, error) {
	in := bufio.NewReaderSize(r, watchBuffer)
	var long []byte
	return func() ([]byte, error) {
		long = long[:0]
		for {
			part, err := in.ReadSlice('\n')
			switch {
			case errors.Is(err, bufio.ErrBufferFull):
				if long = append(long, part...); len(long) > maxObject {
					return nil, ErrTooBig
				}
			case err != nil && len(long)+len(part) > 0:
				return nil, cutOff(err)
			case err != nil:
				return nil, err
			case len(long) > 0:
				long = append(long, part...)
				return bytes.TrimSpace(long), nil
			default:
				if part = bytes.TrimSpace(part); len(part) > 0 {
					return part, nil
				}
			}
		}
	}
}

func cutOff(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errTruncated
	}
	return err
}
