// Package frame is what the lab and its agent in a machine say to each other about one
// command: the request's header, and the response as frames of output.
package frame

import (
	"encoding/binary"
	"fmt"
	"io"
)

// Header is the request header that has a Command as JSON.
const Header = "Lab-Command"

// A Command is what to run in the machine.
type Command struct {
	Argv []string `json:"argv"`
	Env  []string `json:"env,omitempty"`
}

// The kinds of frames. The last has one byte, the exit code.
const (
	Exit byte = iota
	Stdout
	Stderr
)

// most bounds a frame.
const most = 1 << 20

// Write writes p as frames of one kind.
func Write(w io.Writer, kind byte, p []byte) error {
	for {
		part := p[:min(len(p), most)]
		head := binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(part))) //nolint:gosec // at most a million
		if _, err := w.Write(append(head, part...)); err != nil {
			return err
		}
		if p = p[len(part):]; len(p) == 0 {
			return nil
		}
	}
}

// Copy writes the output in r to stdout and stderr and returns the exit code.
func Copy(r io.Reader, stdout, stderr io.Writer) (code int, err error) {
	var head [5]byte
	for {
		if _, err := io.ReadFull(r, head[:]); err != nil {
			return 0, fmt.Errorf("the machine did not say how the command ended: %w", err)
		}
		size := int64(binary.BigEndian.Uint32(head[1:]))
		if size > most {
			return 0, fmt.Errorf("the machine sent a frame of %d bytes", size)
		}
		body := io.LimitReader(r, size)
		to := stdout
		switch head[0] {
		case Exit:
			b, err := io.ReadAll(body)
			if err != nil || len(b) != 1 {
				return 0, fmt.Errorf("the machine did not say how the command ended: %w", err)
			}
			return int(b[0]), nil
		case Stdout:
		case Stderr:
			to = stderr
		default:
			return 0, fmt.Errorf("the machine sent a frame of kind %d", head[0])
		}
		if _, err := io.Copy(to, body); err != nil {
			return 0, err
		}
	}
}
