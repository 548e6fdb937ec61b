package records

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
)

const line = "I1115 10:31:56.650149      36 a.go:1] x\n"

func zipped(t *testing.T, s string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(s)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestCompressed(t *testing.T) {
	t.Parallel()
	text := strings.Repeat(line, 100000)
	z := zipped(t, text)
	files, got := records(t, chunkSize, Options{}, file("a.gz", z), file("two.gz", z+z), file("cut.gz", z[:len(z)-100]))
	if len(got[0]) != 100000 || len(got[1]) != 200000 || len(got[2]) == 0 || len(got[2]) >= 100000 {
		t.Errorf("%d, %d, %d records", len(got[0]), len(got[1]), len(got[2]))
	}
	if files[0].Left != nil || len(files[2].Left) != 1 || !strings.Contains(files[2].Left[0], "unexpected EOF") {
		t.Errorf("%+v", files)
	}
}

func TestZstd(t *testing.T) {
	t.Parallel()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	z := string(w.EncodeAll([]byte(strings.Repeat(line, 100000)), nil))
	files, got := records(t, chunkSize, Options{}, file("a.zst", z), file("cut.zst", z[:len(z)-10]))
	if len(got[0]) != 100000 || files[0].Left != nil || len(files[1].Left) != 1 {
		t.Errorf("%d records, %+v", len(got[0]), files)
	}
}

func TestBundle(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for name, text := range map[string]string{"n/kubelet.log": line, "n/old.log.gz": zipped(t, line+line), "n/bin": "\x00\x01", "n/again.tar.gz": ""} {
		if err := w.WriteHeader(&tar.Header{Name: name, Size: int64(len(text)), Mode: 0o600, ModTime: time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for _, pack := range []string{b.String(), zipped(t, b.String())} {
		files, got := records(t, chunkSize, Options{}, file("b.tar", pack), file("x", line))
		if len(files) != 6 || len(got[1]) != 1 {
			t.Fatalf("%+v", files)
		}
		for i, f := range files {
			want := map[string]int{"b.tar:n/kubelet.log": 1, "b.tar:n/old.log.gz": 2, "x": 1}[f.Name]
			if len(got[i]) != want || (len(f.Left) == 1) != (f.Name == "b.tar:n/bin") {
				t.Errorf("%+v: %d records", f, len(got[i]))
			}
			if want > 0 && strings.HasPrefix(f.Name, "b.tar") && got[i][0].At.Year() != 2019 {
				t.Errorf("%s: at %v", f.Name, got[i][0].At)
			}
		}
	}
}

func TestExport(t *testing.T) {
	t.Parallel()
	message := "E1115 10:31:56.650149      36 a.go:1] two\nlines"
	text := "__CURSOR=s=1\n__REALTIME_TIMESTAMP=1794739916650149\n_HOSTNAME=node1\nSYSLOG_IDENTIFIER=kubelet\n_PID=7\nMESSAGE=" + strings.TrimSpace(line) + "\n\n" +
		"__REALTIME_TIMESTAMP=1794739917000000\n_COMM=docker d\nMESSAGE\n" + string(binary.LittleEndian.AppendUint64(nil, uint64(len(message)))) + message + "\n\n" +
		"__REALTIME_TIMESTAMP=1794739918000000\n_HOSTNAME=node2\nMESSAGE=the last"
	for _, size := range []int{1, 7, chunkSize} {
		files, got := records(t, size, Options{}, file("x", text))
		if len(got[0]) != 3 || files[0].Lines != 16 || files[0].Bytes != int64(len(text)) || files[0].Guessed != nil || files[0].Left != nil {
			t.Fatalf("%+v %+v", files, got)
		}
		a, b, c := got[0][0], got[0][1], got[0][2]
		if a.Node != "node1" || a.Program != "kubelet" || a.PID != 7 || a.Style != Klog || a.Text != "x" || !a.At.Equal(time.UnixMicro(1794739916650149)) || a.Place.Line != 1 {
			t.Errorf("%+v", a)
		}
		if b.Node != "" || b.Program != "docker_d" || b.Level != 'E' || b.Text != "two lines" || b.Place.Line != 8 {
			t.Errorf("%+v", b)
		}
		if c.Node != "node2" || c.Text != "the last" || c.Style != Plain || c.Place.Line != 14 {
			t.Errorf("%+v", c)
		}
	}
	files, _ := records(t, chunkSize, Options{}, file("x", "A=__REALTIME_TIMESTAMP=\nMESSAGE\n\xff\xff\xff\xff\xff\xff\xff\xffx"))
	if len(files[0].Left) != 1 || !strings.Contains(files[0].Left[0], "field MESSAGE in line 2 would be") {
		t.Errorf("%+v", files[0])
	}
}
