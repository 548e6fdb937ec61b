package records

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"sync"
	"time"

	"plumbline.dev/plumbline/internal/timeline"
)

const chunkSize = 1 << 20

// All reads the inputs in one pass and passes the wanted records to Options.Parser. A file that
// cannot be read, or not completely, does not stop the others: File.Left reports it. The error is
// that of the context, or that there are too many files. The first files of the result are the
// inputs, in their order; those from archives follow.
func All(ctx context.Context, in []Input, o Options) ([]timeline.File, error) {
	return all(ctx, in, o, chunkSize)
}

// all is All with chunks of any size.
func all(ctx context.Context, in []Input, o Options, size int) ([]timeline.File, error) {
	if len(in) > math.MaxUint16 {
		return nil, fmt.Errorf("%d log files: at most %d can be read; pass fewer paths", len(in), math.MaxUint16)
	}
	if o.Workers <= 0 {
		o.Workers = 2
	}
	all := func(*Record) bool { return true }
	if o.Wants == nil {
		o.Wants = all
	}
	if o.Knows == nil {
		o.Knows = all
	}
	a := &reading{Options: o, size: size, jobs: make(chan *job), free: make(chan *job, 4*o.Workers)}
	for range cap(a.free) {
		a.free <- &job{done: make(chan struct{}, 1)}
	}
	for i := range in {
		a.files = append(a.files, &timeline.File{Name: in[i].Name, Node: in[i].Node})
	}
	var workers, readers sync.WaitGroup
	for range o.Workers {
		workers.Go(a.work)
	}
	next := make(chan int)
	for range o.Workers {
		readers.Go(func() {
			d := newBuffers()
			for i := range next {
				a.input(ctx, d, uint16(i), in[i])
			}
		})
	}
	for i := range in {
		next <- i
	}
	close(next)
	readers.Wait()
	close(a.jobs)
	workers.Wait()
	out := make([]timeline.File, len(a.files))
	for i, f := range a.files {
		out[i] = *f
	}
	return out, ctx.Err()
}

// A reading is one pass over all inputs.
type reading struct {
	Options
	size  int
	jobs  chan *job // chunks for the workers
	free  chan *job // unused jobs; their fixed number bounds the memory
	mu    sync.Mutex
	files []*timeline.File
}

// A job is a chunk of a file and what a worker found in it. It goes from free to a reader, to a
// worker, and in file order to the file's parser, which returns it to free.
type job struct {
	buf    []byte
	head   int // length of the part in which the anchor is searched: the file's beginning, 0 for later chunks
	export bool
	found  found
	done   chan struct{}
}

func (a *reading) work() {
	s := splitter{wants: a.Wants, knows: a.Knows}
	for j := range a.jobs {
		s.split(j.buf, j.head, j.export, &j.found)
		j.done <- struct{}{}
	}
}

// input reads one input: a file, or an archive of files.
func (a *reading) input(ctx context.Context, d *buffers, number uint16, in Input) {
	a.mu.Lock()
	f := a.files[number]
	a.mu.Unlock()
	left := func(err error) {
		if err != nil && ctx.Err() == nil {
			f.Left = append(f.Left, err.Error())
		}
	}
	if ctx.Err() != nil {
		return
	}
	rc, err := in.Open()
	if err != nil {
		left(err)
		return
	}
	// Closing the reader ends a read that waits for data.
	stop := context.AfterFunc(ctx, func() { _ = rc.Close() })
	defer func() {
		if stop() {
			left(rc.Close())
		}
	}()
	b, head, err := unpacked(rc, d.outside)
	var whole io.Reader
	if b == d.outside { // it is not compressed
		whole = rc
	}
	switch {
	case err != nil:
		left(fmt.Errorf("not read: %w", err))
	case isTar(head), isZip(head):
		m, _ := membersOf(ctx, in) // what cannot be read is said below
		one := func(name string, modified time.Time, r io.Reader) {
			left(m.see(name))
			left(a.member(ctx, d, in, &m, name, modified, r))
		}
		if isZip(head) {
			left(unzipped(b, whole, func(h *zip.File, r io.Reader) { one(h.Name, h.Modified, r) }))
		} else {
			left(bundled(b, func(h *tar.Header, r io.Reader) { one(h.Name, h.ModTime, r) }))
		}
	default:
		left(a.file(ctx, d, number, f, in, source{b, head, whole}))
	}
}

// A source is the content of a file: a stream, its beginning, and if it is not compressed, the file.
type source struct {
	b     *bufio.Reader
	head  []byte
	whole io.Reader
}

// member reads one file of an archive.
func (a *reading) member(ctx context.Context, d *buffers, in Input, m *members, name string, modified time.Time, r io.Reader) error {
	if m.isTable(name) {
		return nil
	}
	a.mu.Lock()
	number := len(a.files)
	if number > math.MaxUint16 {
		a.mu.Unlock()
		return fmt.Errorf("%s not read: more than %d files", name, math.MaxUint16)
	}
	if modified.Before(firstLogs) {
		modified = in.ModTime
	}
	f := &timeline.File{Name: in.Name + ":" + name, Node: cmp.Or(in.Node, m.nodes[name])}
	a.files = append(a.files, f)
	a.mu.Unlock()
	b, head, err := unpacked(r, d.inside)
	if err == nil && (isTar(head) || isZip(head)) {
		err = errNested
	}
	if err == nil {
		err = a.file(ctx, d, uint16(number), f, Input{ModTime: modified, Zone: in.Zone}, source{b: b, head: head})
	} else {
		err = fmt.Errorf("not read: %w", err)
	}
	if err != nil {
		f.Left = append(f.Left, err.Error())
	}
	return ctx.Err()
}

// oldestFirst turns a file round whose newest line is the first.
func (a *reading) oldestFirst(lines io.Reader, head []byte, export bool, d *buffers, t *fileParser) (io.Reader, []byte, error) {
	if export {
		b := bufio.NewReaderSize(lines, headSize)
		head, _ = b.Peek(headSize)
		lines = b
	}
	if !newestFirst(head, export, &d.reading) {
		return lines, head, nil
	}
	r, err := turnRound(lines, export, &d.reading)
	if err != nil {
		return nil, nil, err
	}
	t.file.Turned = r.numbers
	t.file.Guessed = append(t.file.Guessed, "its newest line is the first: read from the last to the first")
	b := bufio.NewReaderSize(r, headSize)
	head, _ = b.Peek(headSize)
	return b, head, nil
}

// file reads the lines of one file: workers search its chunks in parallel, and fileParser handles
// the results in file order.
func (a *reading) file(ctx context.Context, d *buffers, number uint16, f *timeline.File, in Input, from source) error {
	head := from.head
	if len(head) == 0 {
		return nil
	}
	lines, export, err := asLines(ctx, from.b, head, from.whole)
	if err != nil {
		return fmt.Errorf("not read: %w", err)
	}
	t := &fileParser{file: f, number: number, zone: in.Zone, clock: clock{mod: in.ModTime, now: a.Now, ahead: in.Ahead}}
	whole := lines
	if lines, head, err = a.oldestFirst(lines, head, export, d, t); err != nil {
		return fmt.Errorf("not read: %w", err)
	}
	beginning := len(head)
	switch {
	case export: // its timestamps are complete
		beginning = 0
	case a.size < 4*headSize:
		t.clock.anchor, beginning = findAnchor(head, &d.reading), 0
	}
	t.parser.export, t.parser.names = export, &d.told
	if a.Parser != nil {
		t.tell = a.Parser(number, f)
	}
	order := make(chan *job, cap(a.free))
	var telling sync.WaitGroup
	telling.Go(func() {
		for j := range order {
			<-j.done
			t.chunk(j)
			a.free <- j
		}
	})
	c := chunker{r: lines, size: a.size, probe: parser{names: &d.reading, export: export}}
	for ctx.Err() == nil {
		j := <-a.free
		j.buf, j.head, j.export = c.next(j.buf), beginning, export
		beginning = 0
		if len(j.buf) == 0 {
			a.free <- j
			break
		}
		a.jobs <- j
		order <- j
	}
	close(order)
	telling.Wait()
	t.end(&c, whole)
	if c.err != nil {
		return fmt.Errorf("read only up to byte %d: %w", c.bytes, c.err)
	}
	return nil
}
