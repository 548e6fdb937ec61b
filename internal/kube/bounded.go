package kube

import "io"

// bounded is a body of limited length. Exceeding the limit is an error: a partial answer
// must not be used.
type bounded struct {
	body io.ReadCloser
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, ErrTooBig
	}
	if int64(len(p)) > b.left+1 { // one byte more than allowed shows that there is more
		p = p[:b.left+1]
	}
	n, err := b.body.Read(p)
	b.left -= int64(n)
	if b.left < 0 {
		return n - 1, ErrTooBig
	}
	return n, err
}

func (b *bounded) Close() error { return b.body.Close() }
