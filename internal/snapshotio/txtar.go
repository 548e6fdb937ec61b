package snapshotio

import (
	"bytes"
	"slices"

	"golang.org/x/tools/txtar"

	"plumbline.dev/plumbline/internal/model"
)

// A Case is a snapshot in a text file, with the expected results.
type Case struct {
	Comment  string
	Snapshot *model.Snapshot
	Expect   map[string]string // sections that do not belong to the snapshot: findings, plan
}

// ParseText reads a test fixture.
func ParseText(text []byte, expect ...string) (*Case, error) {
	ar := txtar.Parse(text)
	c := &Case{Comment: string(ar.Comment), Expect: map[string]string{}}
	var d decoder
	for _, f := range ar.Files {
		if slices.Contains(expect, f.Name) {
			c.Expect[f.Name] = string(f.Data)
			continue
		}
		if err := d.Section(f.Name, bytes.NewReader(f.Data)); err != nil {
			return nil, err
		}
	}
	s, err := d.Snapshot()
	c.Snapshot = s
	return c, err
}

// Text writes a test fixture.
func (c *Case) Text() ([]byte, error) {
	ar := &txtar.Archive{Comment: []byte(c.Comment)}
	at := map[string]int{}
	err := encode(c.Snapshot, func(file string, line []byte) error {
		i, ok := at[file]
		if !ok {
			i = len(ar.Files)
			at[file] = i
			ar.Files = append(ar.Files, txtar.File{Name: file})
		}
		if line != nil {
			ar.Files[i].Data = append(append(ar.Files[i].Data, line...), '\n')
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for name, data := range c.Expect {
		ar.Files = append(ar.Files, txtar.File{Name: name, Data: []byte(data)})
	}
	slices.SortStableFunc(ar.Files[len(at):], func(a, b txtar.File) int { return bytes.Compare([]byte(a.Name), []byte(b.Name)) })
	return txtar.Format(ar), nil
}
