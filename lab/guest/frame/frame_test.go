package frame_test

import (
	"bytes"
	"strings"
	"testing"

	"plumbline.dev/plumbline/lab/guest/frame"
)

func TestFrames(t *testing.T) {
	t.Parallel()
	var wire, out, diag bytes.Buffer
	long := strings.Repeat("x", 3<<20)
	for _, f := range []struct {
		kind byte
		text string
	}{{frame.Stdout, "a"}, {frame.Stderr, "b"}, {frame.Stdout, long}, {frame.Stdout, ""}, {frame.Exit, "\x07"}} {
		if err := frame.Write(&wire, f.kind, []byte(f.text)); err != nil {
			t.Fatal(err)
		}
	}
	whole := wire.Bytes()
	code, err := frame.Copy(bytes.NewReader(whole), &out, &diag)
	if err != nil || code != 7 || out.String() != "a"+long || diag.String() != "b" {
		t.Errorf("code %d, %d and %d bytes, %v", code, out.Len(), diag.Len(), err)
	}
	for _, cut := range []int{0, 3, 5, 6, 100, len(whole) - 1} {
		if _, err := frame.Copy(bytes.NewReader(whole[:cut]), &out, &diag); err == nil {
			t.Errorf("cut off after %d bytes: no error", cut)
		}
	}
	for _, bad := range []string{"\x09\x00\x00\x00\x00", "\x01\xff\xff\xff\xff", "\x00\x00\x00\x00\x00"} {
		if _, err := frame.Copy(strings.NewReader(bad), &out, &diag); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}
