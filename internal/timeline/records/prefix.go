package records

import "bytes"

// prefixed reads a line before which a program that shows logs has put the name of the pod or
// stream: [pod/NAME/CONTAINER] line of kubectl, NAME CONTAINER line of stern. It is one only if a
// logger's own header follows.
func (p *parser) prefixed(b []byte) bool {
	if b[0] == '[' {
		end := bytes.Index(b, []byte("] "))
		if !bytes.HasPrefix(b, []byte("[pod/")) || end < 0 || len(b) < end+10 {
			return false
		}
		b = b[end+2:]
		p.body, p.rec.Text = b, b
		return p.outerHeader(b) || p.innerHeader(b) // kubectl may put its own time there
	}
	whole := b
	for range 2 {
		i := bytes.IndexByte(b, ' ')
		if i < 1 || i > 253 || !isName(b[:i]) {
			break
		}
		b = b[i+1:]
		if p.follows(b) {
			return true
		}
	}
	p.body, p.rec.Text = whole, whole
	return false
}

// follows reads a line after a prefix, if it has a logger's own header.
func (p *parser) follows(b []byte) bool {
	if len(b) < 8 || b[0] == '{' {
		return false
	}
	p.body, p.rec.Text = b, b
	return p.innerHeader(b) && p.inner.is()
}

// isName reports whether a word can be the name of a pod or a container.
func isName(b []byte) bool {
	for _, c := range b {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '.' {
			return false
		}
	}
	return true
}

// labelled skips the labels that logcli puts after the time: {host="node1", job="containerd"}.
func labelled(b []byte) ([]byte, bool) {
	if len(b) < 3 || b[0] != '{' || b[1] == '"' {
		return nil, false
	}
	end := bytes.Index(b, []byte("} "))
	if end < 0 || bytes.IndexByte(b[:end], '=') < 0 {
		return nil, false
	}
	return b[end+2:], true
}

// uncoloured removes the sequences that colour a terminal, if the line has one.
func (p *parser) uncoloured(line []byte) []byte {
	const escape = 0x1b
	i := bytes.IndexByte(line, escape)
	if i < 0 {
		return line
	}
	start := len(p.scratch)
	for i >= 0 {
		p.scratch = append(p.scratch, line[:i]...)
		line = line[i+1:]
		if len(line) > 0 && line[0] == '[' {
			n := 1
			for n < len(line) && (line[n] < 0x40 || line[n] > 0x7e) {
				n++
			}
			line = line[min(n+1, len(line)):]
		}
		i = bytes.IndexByte(line, escape)
	}
	p.scratch = append(p.scratch, line...)
	return p.scratch[start:len(p.scratch):len(p.scratch)]
}
