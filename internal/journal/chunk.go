package journal

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"plumbline.dev/plumbline/internal/hostfile"
	"plumbline.dev/plumbline/internal/repair"
)

// A chunk is a header line and a part of the journal. The journal is the head, the plan and
// all entries in order, cut at fixed offsets. A journal only grows, so while a copy is being
// renewed in order, the chunks are a valid, shorter journal at every moment.
const (
	maxChunk  = 512 << 10
	chunkHead = len("plumbline-journal 1 00000000 00000000 ") + 64 + len(" 00000000\n")
	chunkBody = maxChunk - chunkHead
	maxChunks = (maxLog+maxPlan)/chunkBody + 2
)

// Chunks gives the journal in parts that fit into Kubernetes objects. The caller must write
// them in order, each after the ones before it.
func Chunks(j *Journal) ([][]byte, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	plan, _, err := hostfile.OpenRegular(filepath.Join(j.dir, planFile), os.O_RDONLY)
	if err != nil {
		return nil, fmt.Errorf("copy journal %s: %w", j.dir, err)
	}
	defer plan.Close()
	all := io.MultiReader(
		io.NewSectionReader(j.file, 0, j.begin),
		io.NewSectionReader(plan, 0, j.head.Size),
		io.NewSectionReader(j.file, j.begin, j.size-j.begin))
	left := j.size + j.head.Size
	out := make([][]byte, (left+int64(chunkBody)-1)/int64(chunkBody))
	for i := range out {
		out[i] = make([]byte, chunkHead+int(min(left, int64(chunkBody))))
		body := out[i][chunkHead:]
		if _, err := io.ReadFull(all, body); err != nil {
			return nil, fmt.Errorf("copy journal %s: %w", j.dir, err)
		}
		copy(out[i], chunkLine(i, len(out), j.head.SHA256, body))
		left -= int64(len(body))
	}
	return out, nil
}

// otherFormat reports that a chunk is intact but of another format.
func otherFormat(b []byte) (of int, ok bool) {
	line, body, _ := bytes.Cut(b, []byte{'\n'})
	at := bytes.LastIndexByte(line, ' ') + 1
	sum := crc32.Update(crc32.Checksum(line[:at], castagnoli), castagnoli, body)
	if string(line[at:]) != fmt.Sprintf("%08x", sum) {
		return 0, false
	}
	n, _ := fmt.Sscanf(string(line), "plumbline-journal %d ", &of)
	return of, n == 1 && of != format
}

func chunkLine(index, total int, plan string, body []byte) []byte {
	line := fmt.Appendf(nil, "plumbline-journal %d %08x %08x %s ", format, index, total, plan)
	sum := crc32.Update(crc32.Checksum(line, castagnoli), castagnoli, body)
	return fmt.Appendf(line, "%08x\n", sum)
}

type chunk struct {
	index, total int
	plan         string
	body         []byte
}

func parseChunk(b []byte) (c chunk, ok bool) {
	if len(b) <= chunkHead || len(b) > maxChunk {
		return c, false
	}
	word := bytes.Split(b[:chunkHead], []byte{' '})
	if len(word) != 6 {
		return c, false
	}
	index, err1 := strconv.ParseUint(string(word[2]), 16, 31)
	total, err2 := strconv.ParseUint(string(word[3]), 16, 31)
	c = chunk{int(index), int(total), string(word[4]), b[chunkHead:]}
	ok = err1 == nil && err2 == nil && index < total && total <= uint64(maxChunks)
	return c, ok && bytes.Equal(b[:chunkHead], chunkLine(c.index, c.total, c.plan, c.body))
}

// errShort means that the end of a copy is missing. The plan and entries returned with it are
// valid; more writes may have been done.
var errShort = errors.New("the copy of the journal ends too early")

// FromChunks reads a copy. The chunks may be in any order. Chunks of a copy that was being
// renewed may have different totals.
func FromChunks(chunks [][]byte) (*repair.Plan, []repair.Entry, error) {
	plan, es, err := fromChunks(chunks)
	if err != nil {
		err = fmt.Errorf("read copy of a journal: %w", err)
	}
	return plan, es, err
}

func fromChunks(chunks [][]byte) (*repair.Plan, []repair.Entry, error) {
	if len(chunks) == 0 {
		return nil, nil, errShort
	}
	if len(chunks) > maxChunks {
		return nil, nil, fmt.Errorf("%d chunks, at most %d are read", len(chunks), maxChunks)
	}
	all := make([]chunk, len(chunks))
	total := 0
	for i, b := range chunks {
		c, ok := parseChunk(b)
		if of, other := otherFormat(b); !ok && other {
			return nil, nil, fmt.Errorf("the copy of the journal has format %d, this version reads %d: use the version that wrote it", of, format)
		}
		if !ok {
			return nil, nil, fmt.Errorf("%w: chunk %d has a wrong checksum or header", errDamaged, i)
		}
		all[i], total = c, max(total, c.total)
	}
	slices.SortFunc(all, func(a, b chunk) int { return a.index - b.index })
	for i := range all[1:] {
		if all[i].index == all[i+1].index || all[i].plan != all[i+1].plan {
			return nil, nil, fmt.Errorf("%w: chunks of two journals", errDamaged)
		}
	}
	var bodies []io.Reader
	var size int64
	for i := 0; i < len(all) && all[i].index == i; i++ {
		bodies = append(bodies, bytes.NewReader(all[i].body))
		size += int64(len(all[i].body))
		if len(all[i].body) < chunkBody {
			break // the next chunk is from a newer copy
		}
	}
	return readCopy(newReader(io.MultiReader(bodies...), size), all[0].plan, len(bodies) < total)
}

// readCopy reads a journal from one stream. If it is short the last record may be cut; that is
// then not damage.
func readCopy(r *reader, sum string, short bool) (*repair.Plan, []repair.Entry, error) {
	h, err := r.head()
	switch {
	case err != nil && short:
		return nil, nil, fmt.Errorf("%w: %w", errShort, err)
	case err != nil:
		return nil, nil, err
	case h.SHA256 != sum:
		return nil, nil, fmt.Errorf("%w: the chunks are of another plan", errDamaged)
	}
	raw, err := io.ReadAll(io.LimitReader(r.in, h.Size))
	if err != nil {
		return nil, nil, err
	}
	if short && int64(len(raw)) < h.Size {
		return nil, nil, errShort
	}
	plan, err := h.decode(raw)
	if err != nil {
		return nil, nil, err
	}
	r.at += h.Size
	es, err := r.entries()
	switch {
	case short && (err == nil || errors.Is(err, errTorn)):
		err = errShort
	case errors.Is(err, errTorn):
		err = fmt.Errorf("%w: %w", errDamaged, err)
	}
	return plan, es, err
}
