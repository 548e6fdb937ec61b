// Package snapshotio writes snapshots as text and reads them: bundles, test fixtures and the
// agent's answers have the same lines.
package snapshotio

import (
	"fmt"
	"reflect"

	"plumbline.dev/plumbline/internal/lossless"
	"plumbline.dev/plumbline/internal/model"
)

// encodeRow writes a row as one line, with the fields of newer versions in Extra.
func encodeRow[T any](row *T) ([]byte, error) { return lossless.Encode(row, *extraOf(row)) }

// decodeRow reads a line. Fields that this version does not know are kept in Extra.
func decodeRow[T any](line []byte, row *T) error {
	extra, err := lossless.Decode(line, row)
	if len(extra) > 0 {
		*extraOf(row) = extra
	}
	return err
}

// extraOf returns the field Extra, which every row has.
func extraOf[T any](row *T) *model.Extra {
	e, ok := reflect.ValueOf(row).Elem().FieldByName("Extra").Addr().Interface().(*model.Extra)
	if !ok {
		panic(fmt.Sprintf("%T has no Extra", row)) // a programming error, never caused by input
	}
	return e
}
