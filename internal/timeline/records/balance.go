package records

// balance follows quotes and brackets through a message, to know whether it has ended.
type balance struct {
	depth   int
	quoted  bool
	escaped bool
}

// feed goes on with more of the message. A bracket that closes nothing is let be: lines of
// 2017 have such.
func (o *balance) feed(b []byte) {
	for _, c := range b {
		switch {
		case o.escaped:
			o.escaped = false
		case c == '\\':
			o.escaped = true
		case c == '"':
			o.quoted = !o.quoted
		case o.quoted:
		case c == '[' || c == '{' || c == '(':
			o.depth++
		case (c == ']' || c == '}' || c == ')') && o.depth > 0:
			o.depth--
		}
	}
}

// open says that a quote or a bracket has not been closed.
func (o *balance) open() bool { return o.quoted || o.depth > 0 }
