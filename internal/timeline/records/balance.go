package records

// balance counts quotes and brackets of a message to find whether it is complete.
type balance struct {
	depth   int
	quoted  bool
	escaped bool
}

// feed reads more of the message. A closing bracket without an opening one is ignored: lines of
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

// open reports whether a quote or a bracket is not closed.
func (o *balance) open() bool { return o.quoted || o.depth > 0 }
