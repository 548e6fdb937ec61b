package journal

import (
	"encoding/binary"
	"errors"
)

type objectType uint8

const (
	unusedObject objectType = iota
	dataObject
	fieldObject
	entryObject
	dataHashTableObject
	fieldHashTableObject
	entryArrayObject
	tagObject
)

const (
	objectHeader = 16 // type, flags, reserved, size
	hashItem     = 16 // head and tail of a chain
)

var (
	errOffset = errors.New("offset outside of the objects, or not a multiple of 8")
	errUnused = errors.New("no object there")
	errType   = errors.New("an object of another type is there")
	errSize   = errors.New("the object's size is not possible")
)

// An object is the beginning of one in the file.
type object struct {
	offset int64
	size   int64 // with this header
	typ    objectType
	flags  byte
}

// end is where the next object begins.
func (o object) end() int64 { return (o.offset + o.size + 7) &^ 7 }

// object reads the header of an object of the wanted type. In a file that is being written, the
// page may be older than the reference to the object: before damage is reported, it is read anew.
func (f *File) object(offset uint64, want objectType) (object, error) {
	o, err := f.objectOnce(offset, want)
	if err != nil && f.stale(offset, objectHeader) {
		o, err = f.objectOnce(offset, want)
	}
	return o, err
}

const maxRereads = 1000

// stale drops pages that the writer may have changed since they were read. It reports whether to
// read them again.
func (f *File) stale(offset uint64, n int64) bool {
	if f.State != Online || f.rereads >= maxRereads || offset >= uint64(f.size) {
		return false
	}
	f.rereads++
	f.pages.forget(f, int64(offset), n)
	return true
}

func (f *File) objectOnce(offset uint64, want objectType) (object, error) {
	if offset%8 != 0 || offset < minHeader || offset >= 1<<62 {
		return object{}, errOffset
	}
	b, err := f.read(int64(offset), objectHeader)
	if err != nil {
		return object{}, err
	}
	o := object{offset: int64(offset), typ: objectType(b[0]), flags: b[1], size: int64(binary.LittleEndian.Uint64(b[8:]))}
	switch {
	case o.typ == unusedObject && o.size == 0:
		return o, errUnused
	case o.typ != want:
		return o, errType
	case !f.sizeIsValid(o):
		return o, errSize
	case o.size > f.size-o.offset:
		return o, errOutside
	}
	return o, nil
}

// sizeIsValid reports whether an object of its type can have its size.
func (f *File) sizeIsValid(o object) bool {
	var least, item int64
	switch o.typ {
	case dataObject:
		least, item = f.dataHeader(), 1
	case fieldObject:
		least, item = 40, 1
	case entryObject:
		least, item = entryHeader, f.entryItem()
	case dataHashTableObject, fieldHashTableObject:
		least, item = objectHeader, hashItem
	case entryArrayObject:
		least, item = arrayHeader, f.arrayItem()
	case tagObject:
		return o.size == 64
	default:
		return o.size >= objectHeader
	}
	return o.size >= least+item && (o.size-least)%item == 0
}

// choose gives the size of something in a compact file, or in another.
func (f *File) choose(compact, regular int64) int64 {
	if f.Compact {
		return compact
	}
	return regular
}

func (f *File) dataHeader() int64 { return f.choose(72, 64) } // up to the payload
func (f *File) entryItem() int64  { return f.choose(4, 16) }  // offset, and in regular files the hash
func (f *File) arrayItem() int64  { return f.choose(4, 8) }
