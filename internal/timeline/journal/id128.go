package journal

import "encoding/hex"

// An ID128 is a machine ID, a boot ID, a file ID or a seqnum ID.
type ID128 [16]byte

// String gives 32 hexadecimal digits, as journalctl does.
func (id ID128) String() string { return hex.EncodeToString(id[:]) }
