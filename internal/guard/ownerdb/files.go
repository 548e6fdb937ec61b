package ownerdb

// files is every operation of the DB on its directory. Names have no separators.
type files interface {
	Read(name string) ([]byte, error)     // at most maxPage+1 bytes
	Write(name string, data []byte) error // not atomic; an existing file is overwritten
	Rename(from, to string) error
	Remove(name string) error
	List() ([]string, error)
	Lock(name string) (unlock func(), err error) // fails after lockWait
}

// maxPage is the size of the longest file that is written, or read as valid.
const maxPage = 32 << 10
