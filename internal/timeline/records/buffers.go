package records

import "bufio"

// A desk is what one reader works with, file after file: there may be thousands of small
// ones, and each would need as much anew.
type buffers struct {
	outside, inside *bufio.Reader // of an input, and of a file in a bundle
	reading, told   names         // of the lines where chunks end, and of those that are wanted
}

func newBuffers() *buffers {
	return &buffers{outside: bufio.NewReaderSize(nil, headSize), inside: bufio.NewReaderSize(nil, headSize)}
}
