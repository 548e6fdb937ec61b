package journal

import (
	"errors"
	"fmt"
	"io"
)

const (
	pageSize = 32 << 10
	maxPages = 128 // of all files of a Reader
)

// pages keeps the parts of files that were read last.
type pages struct {
	all     map[pageKey]*page
	last    *page
	uses    uint64
	scratch []byte // for what crosses pages
}

type pageKey struct {
	file   *File
	number int64
}

type page struct {
	pageKey
	used uint64
	data []byte // shorter than pageSize at the end of the file, and where reading failed
}

func newPages() *pages { return &pages{all: map[pageKey]*page{}} }

// read gives n bytes at an offset, which are within the file, until the next read.
func (p *pages) read(f *File, offset int64, n int) ([]byte, error) {
	at := int(offset % pageSize)
	if at+n <= pageSize {
		if data := p.page(f, offset/pageSize).data; at+n <= len(data) {
			return data[at : at+n : at+n], nil
		}
	}
	if n <= pageSize {
		return p.crossing(f, offset, n)
	}
	return p.direct(f, offset, n)
}

// crossing joins the ends of two pages.
func (p *pages) crossing(f *File, offset int64, n int) ([]byte, error) {
	number, at := offset/pageSize, int(offset%pageSize)
	first := p.page(f, number).data
	if len(first) < pageSize {
		return p.direct(f, offset, n)
	}
	p.scratch = append(p.scratch[:0], first[at:]...)
	rest := n - len(p.scratch)
	second := p.page(f, number+1).data
	if len(second) < rest {
		return p.direct(f, offset, n)
	}
	p.scratch = append(p.scratch, second[:rest]...)
	return p.scratch, nil
}

// direct reads exactly what is wanted: it is long, or a part of its page cannot be read.
func (p *pages) direct(f *File, offset int64, n int) ([]byte, error) {
	if cap(p.scratch) < n {
		p.scratch = make([]byte, n)
	}
	p.scratch = p.scratch[:n]
	got, err := f.r.ReadAt(p.scratch, offset)
	if got == n {
		return p.scratch, nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return nil, errOutside // the file was cut since it was opened
	}
	return nil, fmt.Errorf("read: %w", err)
}

// page gives a page, as far as it can be read.
func (p *pages) page(f *File, number int64) *page {
	p.uses++
	key := pageKey{f, number}
	if p.last != nil && p.last.pageKey == key {
		p.last.used = p.uses
		return p.last
	}
	pg := p.all[key]
	if pg == nil {
		pg = p.free()
		pg.pageKey = key
		start := number * pageSize
		n, _ := f.r.ReadAt(pg.data[:min(pageSize, f.size-start)], start)
		pg.data = pg.data[:n]
		p.all[key] = pg
	}
	pg.used = p.uses
	p.last = pg
	return pg
}

// free gives a page to fill: a new one, or the one that was not used for the longest time.
func (p *pages) free() *page {
	if len(p.all) < maxPages {
		return &page{data: make([]byte, pageSize)}
	}
	var oldest *page
	for _, pg := range p.all {
		if oldest == nil || pg.used < oldest.used {
			oldest = pg
		}
	}
	delete(p.all, oldest.pageKey)
	oldest.data = oldest.data[:pageSize]
	return oldest
}

// forget drops the pages of a part of a file, so that it is read anew.
func (p *pages) forget(f *File, offset, n int64) {
	for number := offset / pageSize; number <= (offset+n)/pageSize; number++ {
		delete(p.all, pageKey{f, number})
	}
	p.last = nil
}
