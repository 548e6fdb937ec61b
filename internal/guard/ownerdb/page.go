package ownerdb

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
)

var (
	errCorrupt   = errors.New("the record is corrupt")
	errOtherBoot = errors.New("the record is of another boot")
)

// A page is what is in a file: a checksum, a space, and this as JSON. The first eight
// characters are the checksum of all that follows the space.
type page[T any] struct {
	Boot string `json:"boot"`
	Is   T      `json:"is"`
}

const sumLength = 9

func encode[T any](boot string, is T) ([]byte, error) {
	body, err := json.Marshal(page[T]{boot, is})
	if err != nil {
		return nil, fmt.Errorf("encode a record: %w", err)
	}
	if len(body)+sumLength > maxPage {
		return nil, fmt.Errorf("encode a record: %d bytes are too many", len(body))
	}
	return append(fmt.Appendf(make([]byte, 0, sumLength+len(body)), "%08x ", crc32.ChecksumIEEE(body)), body...), nil
}

func decode[T any](boot string, data []byte) (is T, err error) {
	if len(data) <= sumLength || len(data) > maxPage || data[sumLength-1] != ' ' {
		return is, errCorrupt
	}
	sum, err := strconv.ParseUint(string(data[:sumLength-1]), 16, 32)
	if err != nil || uint32(sum) != crc32.ChecksumIEEE(data[sumLength:]) {
		return is, errCorrupt
	}
	var p page[T]
	if err := json.Unmarshal(data[sumLength:], &p); err != nil {
		return is, errCorrupt
	}
	if p.Boot != boot {
		return is, errOtherBoot
	}
	return p.Is, nil
}
