package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// A State is what the writer did last with a file.
type State uint8

// The states.
const (
	Offline  State = iota // closed after writing
	Online                // being written, or the writer was cut off
	Archived              // rotated
)

// String gives the state as journalctl --header does.
func (s State) String() string {
	switch s {
	case Offline:
		return "OFFLINE"
	case Online:
		return "ONLINE"
	case Archived:
		return "ARCHIVED"
	default:
		return fmt.Sprintf("UNKNOWN (%d)", uint8(s))
	}
}

// Incompatible flags of a header. A reader that does not know one must refuse the file.
const (
	compressedXZ = 1 << iota
	compressedLZ4
	keyedHash
	compressedZSTD
	compact
	knownFlags = 1<<iota - 1
)

// A Header is what the header of a file says of it. An entry may have been written since.
type Header struct {
	State      State
	FileID     ID128
	MachineID  ID128
	TailBootID ID128 // boot ID of the last entry; of older systemd, of the boot that archived the file
	SeqnumID   ID128 // files with the same one count their seqnums together
	Entries    uint64
	HeadSeqnum uint64
	TailSeqnum uint64
	Head, Tail time.Time // realtime of the first and the last entry; zero if there is none
	KeyedHash  bool      // SipHash with the file ID as key; otherwise Jenkins' lookup3
	Compact    bool      // offsets of 32 bits
}

// layout is the part of a header that says where the objects are.
type layout struct {
	headerSize, arenaSize int64
	dataTable, dataSize   uint64 // offset and size of the data hash table's items
	tailObject            uint64
	entryArray            uint64 // first one of the chain of all entries
}

// minHeader is the size of the first version's header. Later versions added counters.
const minHeader = 208

var (
	errSignature = errors.New("not a journal file")
	signature    = "LPKSHHRH"
)

// parseHeader reads the first minHeader bytes of a file. Only a signature or a flag that is not
// known is an error: what else is wrong shows when it is used.
func parseHeader(b []byte) (h Header, l layout, err error) {
	if string(b[:8]) != signature {
		return h, l, errSignature
	}
	le := binary.LittleEndian
	flags := le.Uint32(b[12:])
	if unknown := flags &^ knownFlags; unknown != 0 {
		return h, l, fmt.Errorf("journal file has the incompatible flags %#x, which this version does not know", unknown)
	}
	h = Header{
		State: State(b[16]), FileID: ID128(b[24:]), MachineID: ID128(b[40:]), TailBootID: ID128(b[56:]), SeqnumID: ID128(b[72:]),
		Entries: le.Uint64(b[152:]), TailSeqnum: le.Uint64(b[160:]), HeadSeqnum: le.Uint64(b[168:]),
		Head: realtime(le.Uint64(b[184:])), Tail: realtime(le.Uint64(b[192:])),
		KeyedHash: flags&keyedHash != 0, Compact: flags&compact != 0,
	}
	l = layout{
		headerSize: int64(le.Uint64(b[88:])), arenaSize: int64(le.Uint64(b[96:])),
		dataTable: le.Uint64(b[104:]), dataSize: le.Uint64(b[112:]),
		tailObject: le.Uint64(b[136:]), entryArray: le.Uint64(b[176:]),
	}
	return h, l, nil
}

// maxUsec is the end of the times that systemd takes for valid.
const maxUsec = 1 << 55

// realtime converts microseconds since 1970; 0 and what is not valid give the zero time.
func realtime(usec uint64) time.Time {
	if usec == 0 || usec >= maxUsec {
		return time.Time{}
	}
	return time.UnixMicro(int64(usec)).UTC()
}
