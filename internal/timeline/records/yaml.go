package records

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"sigs.k8s.io/yaml"
)

// isYAML reports by a file's beginning whether it is objects of Kubernetes as kubectl get -o yaml
// prints them.
func isYAML(head []byte) bool {
	head = bytes.TrimPrefix(head, []byte("---\n"))
	return bytes.HasPrefix(head, []byte("apiVersion:"))
}

// A yamlReader reads objects of Kubernetes, one after the other: those of a List, and those that
// --- separates.
type yamlReader struct {
	entries
	in     *bufio.Reader
	read   uint32 // lines
	bytes  int64
	text   []byte // the line
	block  []byte // the object that is being read
	begins uint32 // its line, from zero
	items  bool   // within the items of a List
	after  bool   // after them
	unread int    // objects that are no YAML
}

func newYAMLReader(b *bufio.Reader) *yamlReader {
	y := &yamlReader{in: b}
	y.entries = entries{next: y.line, lines: func() (uint32, int64) { return y.read, y.bytes }}
	return y
}

// line reads a line, and the object that ends with it.
func (y *yamlReader) line() error {
	y.text = y.text[:0]
	var err error
	for again := true; again; again = errors.Is(err, bufio.ErrBufferFull) {
		var part []byte
		part, err = y.in.ReadSlice('\n')
		if y.text = append(y.text, part...); len(y.text)+len(y.block) > maxValue {
			return fmt.Errorf("%w: more than %d MiB before line %d", errValue, maxValue>>20, y.read+2)
		}
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("YAML after line %d: %w", y.read, err)
	}
	if len(y.text) > 0 {
		y.take(y.text)
		y.read++
		y.bytes += int64(len(y.text))
	}
	if err != nil {
		y.object()
	}
	return err
}

func (y *yamlReader) take(text []byte) {
	bare := bytes.TrimRight(text, "\r\n")
	switch {
	case string(bare) == "---" || bytes.HasPrefix(bare, []byte("--- ")) || bytes.HasPrefix(bare, []byte("---\t")):
		y.object()
		y.items, y.after, y.begins = false, false, y.read+1
		return
	case string(bare) == "items:":
		y.block, y.items = y.block[:0], true // what stands before it is of the List
		return
	case y.after:
		return
	case !y.items:
	case bytes.HasPrefix(text, []byte("- ")):
		y.object()
		y.begins = y.read
		y.block = append(append(y.block, "  "...), text[2:]...)
		return
	case indent(text) == 0 && len(bare) > 0: // a field of the List
		y.object()
		y.after = true
		return
	}
	y.block = append(y.block, text...)
}

// object ends the object that was read.
func (y *yamlReader) object() {
	block := y.block
	y.block = y.block[:0]
	if len(bytes.TrimSpace(block)) == 0 {
		return
	}
	value, err := yaml.YAMLToJSON(block)
	if err != nil || len(value) == 0 || value[0] != '{' {
		y.unread++
		return
	}
	y.out = appendValue(y.out, y.begins, value)
}

func (y *yamlReader) left() []string {
	if y.unread == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d objects that are not YAML", y.unread)}
}
