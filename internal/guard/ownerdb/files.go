package ownerdb

// files is all that the book does with its directory. Names have no separators.
type files interface {
	Read(name string) ([]byte, error)     // no more than maxPage+1 bytes
	Write(name string, data []byte) error // a new file; what was there is overwritten
	Rename(from, to string) error
	Remove(name string) error
	List() ([]string, error)
	Lock(name string) (unlock func(), err error) // or an error after some time
}

// maxPage is the longest file that is written or believed.
const maxPage = 32 << 10
