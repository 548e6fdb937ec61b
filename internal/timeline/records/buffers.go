package records

import "bufio"

// buffers are reused by one reader for all its files: there may be thousands of small ones.
type buffers struct {
	outside, inside *bufio.Reader // of an input, and of a file in a tar archive
	reading, told   names         // of the chunker, and of the fileParser
}

func newBuffers() *buffers {
	return &buffers{outside: bufio.NewReaderSize(nil, headSize), inside: bufio.NewReaderSize(nil, headSize)}
}
