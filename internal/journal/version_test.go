package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/repair"
)

// Heads, plans and copies of another version are refused by name, not as damage, although
// they have fields that this version does not know.
func TestOtherVersionsAreNamed(t *testing.T) {
	t.Parallel()
	for _, v := range []int{0, format + 1} {
		first, _, err := frame(0, map[string]any{"journal": v, "shape": "other"})
		if err != nil {
			t.Fatal(err)
		}
		_, err = newReader(bytes.NewReader(first), maxLog).head()
		named(t, err, fmt.Sprintf("the journal has format %d, this version reads %d", v, format))
		line := fmt.Appendf(nil, "plumbline-journal %d other ", v)
		line = fmt.Appendf(line, "%08x\nbody", crc32.Update(crc32.Checksum(line, castagnoli), castagnoli, []byte("body")))
		_, _, err = FromChunks([][]byte{line})
		named(t, err, fmt.Sprintf("the copy of the journal has format %d", v))
	}
	for _, v := range []int{1, repair.Schema + 1} {
		raw := fmt.Appendf(nil, `{"schema":%d,"id":"a","ledger":"7"}`, v)
		_, h, err := encodePlan(aPlan("a"))
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(raw)
		h.SHA256 = hex.EncodeToString(sum[:])
		_, err = h.decode(raw)
		named(t, err, fmt.Sprintf("it has schema %d, this version reads %d", v, repair.Schema))
	}
}

func named(t *testing.T, err error, says string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), says) || errors.Is(err, errDamaged) {
		t.Errorf("%v, want %q", err, says)
	}
}

// The history lists a journal of another version with the reason.
func TestOtherVersionIsListed(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	kept(t, state, "a")
	first, _, err := frame(0, map[string]any{"journal": format + 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(state, "plumbline", guid, "a", logFile), first, 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := List(state, guid)
	if err != nil || len(all) != 1 || all[0].State != Broken || !strings.Contains(all[0].Why, "use the version that wrote it") {
		t.Errorf("%+v, %v", all, err)
	}
}
