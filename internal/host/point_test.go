package host

import "testing"

func TestParsePoints(t *testing.T) {
	t.Parallel()
	got, err := parsePoints([]byte("36 25 0:52 / /var/lib/x\\040y rw,relatime shared:1 - fuse.s3 bucket rw\n25 0 8:1 / / rw - ext4 /dev/sda1 rw\n"))
	if err != nil || len(got) != 2 || got[0] != (Point{ID: 36, Target: "/var/lib/x y", device: "0:52"}) {
		t.Errorf("%+v, %v", got, err)
	}
	for _, bad := range []string{"", "36 25 0:52 / /x rw - fuse\nnonsense\n", "x 25 0:52 / /x rw - fuse s rw\n"} {
		if got, err := parsePoints([]byte(bad)); err == nil {
			t.Errorf("%q: %+v", bad, got)
		}
	}
}

func FuzzParsePoints(f *testing.F) {
	f.Add([]byte("36 25 0:52 / /x rw - fuse.s3 bucket rw\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if all, err := parsePoints(b); err == nil && len(all) == 0 {
			t.Error("nothing, and no error")
		}
	})
}

func TestNumbersOf(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"0:52": true, "259:7": true, "": false, "52": false, "0:": false, "0:5x": false, "-1:5": false, "00:5": false, "0:5x5": false} {
		if _, _, ok := numbersOf(text); ok != want {
			t.Errorf("%q: %v", text, ok)
		}
	}
}
