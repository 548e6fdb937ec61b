package records

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestYears(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	mod := time.Date(2021, 1, 3, 0, 0, 0, 0, time.UTC)
	kernel := func(days ...string) string {
		var b strings.Builder
		for _, d := range days {
			b.WriteString(d + " 10:00:00 n kernel: x\n")
		}
		return b.String()
	}
	for name, c := range map[string]struct {
		text    string
		mod     time.Time
		years   []int
		guessed string
	}{
		"by the modification time":       {kernel("Dec 31", "Jan  2"), mod, []int{2020, 2021}, "timestamps without a year: 2020 to 2021, from the file's modification time"},
		"by today":                       {kernel("Nov 15"), time.Time{}, []int{2026}, "timestamps without a year: 2026, from today's date"},
		"by today, a year ago":           {kernel("Nov 30"), time.Time{}, []int{2025}, "timestamps without a year: 2025, from today's date"},
		"tomorrow may be a zone":         {kernel("Nov 16"), time.Time{}, []int{2026}, "timestamps without a year: 2026, from today's date"},
		"two years":                      {kernel("Nov 30", "Jan  1", "Aug  1", "Jan  5"), mod, []int{2020, 2021, 2021, 2022}, "timestamps without a year: 2020 to 2022, from the file's modification time"},
		"nodes take turns at midnight":   {kernel("Dec 31", "Jan  1", "Dec 31", "Jan  1"), mod, []int{2020, 2021, 2020, 2021}, "timestamps without a year: 2020 to 2021, from the file's modification time"},
		"back by less than half a year":  {kernel("Dec 13", "Jul 14", "Dec 13"), mod, []int{2020, 2020, 2020}, "timestamps without a year: 2020, from the file's modification time"},
		"by a line's other stamp, later": {kernel("Dec 31") + "Jan  1 10:00:00 n d: time=\"2018-01-01T10:00:00Z\" level=info msg=x\n", mod, []int{2017, 2018}, "timestamps without a year: 2017 to 2018, from timestamps inside its lines"},
	} {
		in := file(name, c.text)
		in.ModTime = c.mod
		for _, size := range []int{1, chunkSize} {
			files, got := records(t, size, Options{Now: now}, in)
			var years []int
			for _, r := range got[0] {
				years = append(years, r.At.Year())
			}
			if !slices.Equal(years, c.years) || len(files[0].Guessed) == 0 || files[0].Guessed[0] != c.guessed {
				t.Errorf("%s: %v, %q", name, years, files[0].Guessed)
			}
		}
	}
}

// Lines that are not wanted show a new year too.
func TestYearsBetweenWantedLines(t *testing.T) {
	t.Parallel()
	text := "Mar  1 10:00:00 n kernel: want\nDec  1 10:00:00 n kernel: x\nJan  1 10:00:00 n kernel: x\nMar  2 10:00:00 n kernel: want\n"
	in := file("x", text)
	in.ModTime = time.Date(2019, 5, 1, 0, 0, 0, 0, time.UTC)
	for _, size := range []int{1, 60, chunkSize} {
		_, got := records(t, size, Options{Wants: func(r *Record) bool { return string(r.Text) == "want" }}, in)
		if len(got[0]) != 2 || got[0][0].At.Year() != 2019 || got[0][1].At.Year() != 2020 {
			t.Errorf("chunks of %d: %+v", size, got[0])
		}
	}
}

func TestZones(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want, guessed string }{
		"by a stamp in another zone": {
			"Dec 12 20:21:27 n d: time=\"2017-12-12T12:21:28Z\" level=info msg=x\nDec 12 20:21:30 n d: y\n",
			"2017-12-12T12:21:30Z", "timestamps without a zone: +08:00, from timestamps inside its lines",
		},
		"by a time in a message": {
			"E1212 20:21:27.500000      36 a.go:1] since 2017-12-12 20:00:00 -0330 NST\nE1212 20:21:30.500000      36 a.go:1] y\n",
			"2017-12-12T23:51:30.5Z", "timestamps without a zone: -03:30, from timestamps inside its lines",
		},
		"a time in UTC says nothing": {
			"E1212 20:21:27.500000      36 a.go:1] since 2017-12-12 20:00:00 +0000 UTC\nE1212 20:21:30.500000      36 a.go:1] y\n",
			"2017-12-12T20:21:30.5Z", "timestamps without a zone: read as UTC",
		},
		"Calico's alone": {
			"2026-11-15 10:32:04.670 [INFO][365] a.go 74: x\n", "2026-11-15T10:32:04.67Z", "timestamps without a zone: read as UTC",
		},
		"without any": {"prose\n", "0001-01-01T00:00:00Z", ""},
	} {
		files, got := records(t, chunkSize, Options{Now: at("2026-11-15T00:00:00Z")}, file(name, c.text))
		if last := got[0][len(got[0])-1]; !last.At.Equal(at(c.want)) {
			t.Errorf("%s: %v", name, last.At)
		}
		if c.guessed != "" && !slices.Contains(files[0].Guessed, c.guessed) || c.guessed == "" && files[0].Guessed != nil {
			t.Errorf("%s: %q", name, files[0].Guessed)
		}
	}
}

// The times of a node whose clock is off are corrected, and the file says so.
func TestClockOfTheNode(t *testing.T) {
	t.Parallel()
	in := file("n", "2026-11-15T10:00:00.5Z n kubelet[1]: x\nno time\n")
	in.Ahead = -173 * time.Second
	files, got := records(t, chunkSize, Options{}, in)
	if want := time.Date(2026, 11, 15, 10, 2, 53, 5e8, time.UTC); len(got) != 1 || len(got[0]) == 0 || !got[0][0].At.Equal(want) || files[0].Ahead != -173 {
		t.Errorf("%+v, %+v", got, files)
	}
}

// What containerd passes on of a CNI plugin when its call has ended was said before.
func TestRelayedLines(t *testing.T) {
	t.Parallel()
	in := file("journal.log", "2026-11-16T13:12:06.184553+0000 n containerd[391]: 2026-11-16 13:11:57.896 [WARNING][2190] cni-plugin/k8s.go 616: x\n"+
		"2026-11-16T13:12:06.184553+0000 n kubelet[657]: I1116 13:12:06.183001     657 kubelet.go:2546] \"x\"\n"+
		"2026-11-16T13:12:06.184553+0800 n containerd[391]: 2026-11-16 13:11:57.896 [INFO][1] a.go 1: x\n"+
		"2026-11-16T13:12:06.184553+0000 n containerd[391]: 2026-11-16 11:03:57.896 [INFO][1] a.go 1: no zone makes that the same time\n")
	_, got := records(t, chunkSize, Options{}, in)
	for i, want := range []string{"13:11:57.896", "13:12:06.184553", "05:11:57.896", "13:12:06.184553"} {
		if at := got[0][i].At.UTC().Format("15:04:05.999999"); at != want {
			t.Errorf("line %d: %s, want %s", i+1, at, want)
		}
	}
}

// Archives that are made to be reproducible give every file a time at which there were no such logs.
func TestImpossibleModificationTime(t *testing.T) {
	t.Parallel()
	in := file("x", "Mar  1 10:00:00 n kernel: x\n")
	in.ModTime = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)
	files, got := records(t, chunkSize, Options{Now: at("2026-11-15T00:00:00Z")}, in)
	if y := got[0][0].At.Year(); y != 2026 || !slices.Contains(files[0].Guessed, "timestamps without a year: 2026, from today's date") {
		t.Errorf("year %d, %q", y, files[0].Guessed)
	}
}
