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
	errOtherBoot = errors.New("the record was written before the last reboot")
)

// A page is the content of a file: the CRC-32 of the JSON as eight hexadecimal digits, a
// space, and this as JSON.
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
		return nil, fmt.Errorf("encode a record: %d bytes, at most %d are allowed", len(body), maxPage-sumLength)
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
