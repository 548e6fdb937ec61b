package journal_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"plumbline.dev/plumbline/internal/timeline/journal"
)

// BenchmarkDamagedBesideJournalctl compares what is read of damaged files with what journalctl of
// this machine shows of them: whatever it shows must be there.
func BenchmarkDamagedBesideJournalctl(b *testing.B) {
	if _, err := exec.LookPath("journalctl"); err != nil {
		b.Skip("install systemd")
	}
	name := filepath.Join(b.TempDir(), "damaged.journal")
	random := rand.New(rand.NewPCG(7, 9))
	files, ours, theirs := 0, 0, 0
	for b.Loop() {
		for _, fixture := range []string{"lz4", "lz4-jenkins", "zstd", "zstd-compact", "zstd-252", "xz", "killed"} {
			s := sampled(b, fixture)
			for kind := range 4 {
				damaged := damage(random, s, kind)
				must(b, os.WriteFile(name, damaged, 0o600))
				for _, match := range [][]string{nil, kubelet} {
					f := open(b, damaged)
					got := map[string]bool{}
					for e := range entries(b, journal.Query{Match: match}, f) {
						got[asExported(e).cursor] = true
					}
					// It fails for files that it does not read.
					out, _ := exec.Command("journalctl", append([]string{"-o", "export", "--no-pager", "--file", name}, match...)...).Output()
					want := readExport(b, out)
					for _, w := range want {
						if !got[w.cursor] {
							b.Errorf("%s: journalctl shows %s; %v", fixture, w.cursor, f.Damage())
						}
					}
					files, ours, theirs = files+1, ours+len(got), theirs+len(want)
				}
			}
		}
	}
	b.ReportMetric(float64(ours)/float64(files), "entries/file")
	b.ReportMetric(float64(theirs)/float64(files), "of-journalctl/file")
}

// damage cuts a file, clears a page, flips bits, or changes the header.
func damage(random *rand.Rand, s *sample, kind int) []byte {
	b := bytes.Clone(s.b)
	at := s.tables + random.Int64N(s.used-s.tables)
	switch kind {
	case 0:
		return b[:at]
	case 1:
		clear(b[at&^4095 : at&^4095+4096])
	case 2:
		for range 3 {
			b[s.tables+random.Int64N(s.used-s.tables)] ^= 1 << random.IntN(8)
		}
	default:
		b[88+random.Int64N(168)] ^= 1 << random.IntN(8)
	}
	return b
}
