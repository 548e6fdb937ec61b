package ownerdb

import (
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/guard"
)

// TestConformAdopted plays the random sequences with the sandboxes from before the guard
// on record: now their DELs, too, are known to be late, and harm nobody.
func TestConformAdopted(t *testing.T) {
	late, without := 0, 0
	played := uint64(played()) / 4 // each twice
	for i := range played {
		s, plain := newSim(i, keyings[i%3], guard.Enforce, sanitized()), newSim(i, keyings[i%3], guard.Enforce, sanitized())
		for _, b := range s.boxes {
			adopted, err := s.b.Adopt(attachment(b.id, b.pod))
			if b.recorded = adopted; err != nil || !adopted {
				t.Fatalf("%s: %t, %v", b.id, adopted, err)
			}
		}
		s.play()
		plain.play()
		late, without = late+s.late, without+plain.late
		if len(s.harm) > 0 {
			t.Fatalf("sequence %d, keyed by %s:\n%s\n%s", i, s.keyed, strings.Join(s.harm, "\n"), strings.Join(s.told, "\n"))
		}
	}
	if late <= without {
		t.Errorf("%d late DELs, and %d without adoption", late, without)
	}
	t.Logf("%d sequences, %d late DELs, %d without adoption", played, late, without)
}
