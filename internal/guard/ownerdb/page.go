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
	errNewer     = errors.New("the record was written by a newer guard")
)

// pageVersion is the version of the files. Files without one were written before there was
// one, and have the same content. A file of a newer version is unknown, like a corrupt one.
const pageVersion = 1

// A page is the content of a file: the CRC-32 of the JSON as eight hexadecimal digits, a
// space, and this as JSON.
type page[T any] struct {
	Version int    `json:"version"`
	Boot    string `json:"boot"`
	Is      T      `json:"is"`
}

const sumLength = 9

func encode[T any](boot string, is T) ([]byte, error) {
	body, err := json.Marshal(page[T]{pageVersion, boot, is})
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
	err = json.Unmarshal(data[sumLength:], &p)
	if err != nil { // Is may have another type in another version
		var any page[json.RawMessage]
		_ = json.Unmarshal(data[sumLength:], &any)
		p.Version = any.Version
	}
	switch {
	case p.Version > pageVersion:
		return is, errNewer
	case err != nil:
		return is, errCorrupt
	}
	if p.Boot != boot {
		return is, errOtherBoot
	}
	return p.Is, nil
}
