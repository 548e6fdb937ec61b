package agent

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
	"plumbline.dev/plumbline/internal/snapshotio"
)

// Streams keep the tables of many nodes current: a long answer of each agent says what changes. mu
// guards nodes and what is in them.
type Streams struct {
	// Open begins a watch of the agent of a node; the caller closes it.
	Open func(ctx context.Context, node string, query url.Values) (io.ReadCloser, error)
	// Ask reads the tables of a node once, another way, where watching does not work.
	Ask func(ctx context.Context, node string) *model.Snapshot
	Now func() time.Time

	begin   chan struct{} // bounds how many begin at once
	lines   budget        // memory of lines that are being read
	decode  budget        // memory of frames that are being decoded
	changed chan struct{} // has one element if something has changed

	mu    sync.Mutex
	nodes map[string]*stream
}

// A stream is what is known of one node.
type stream struct {
	end    context.CancelFunc
	said   *model.Snapshot
	direct bool          // by a watch that goes on
	heard  bool          // it answered, or failed to
	at     time.Duration // observe.Uptime of that
}

const (
	atOnce      = 64
	firstWithin = 15 * time.Second            // for all tables
	silentAfter = 2*BeatEvery + 5*time.Second // without a frame for so long, a watch is begun anew
	oldAfter    = 90 * time.Second            // what a node said longer ago does not hold any more
	askEvery    = 30 * time.Second            // where watching does not work
	firstRetry  = time.Second
	lastRetry   = askEvery
	maxFirst    = 16 << 20
	maxFrame    = 8 << 20         // a change
	greedyRetry = 5 * time.Minute // after a node has sent more than any node has

	// Bounds of what is read and decoded of all nodes at once.
	maxLines  = 256 << 20
	maxDecode = 256 << 20
	lineStep  = 1 << 20 // of lines that are longer, memory is counted
	// busyWithin is how long a line waits for memory that others have: not as long as they may take.
	busyWithin = 2 * time.Second
)

// NewStreams returns streams that watch no node yet.
func NewStreams() *Streams {
	return &Streams{
		begin: make(chan struct{}, atOnce), changed: make(chan struct{}, 1), nodes: map[string]*stream{},
		lines: budget{left: maxLines}, decode: budget{left: maxDecode},
	}
}

// Changed has an element after something changed.
func (s *Streams) Changed() <-chan struct{} { return s.changed }

// Keep watches exactly these nodes from now on, until ctx ends.
func (s *Streams) Keep(ctx context.Context, nodes []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	keep := make(map[string]bool, len(nodes))
	for _, n := range nodes {
		keep[n] = true
		if s.nodes[n] == nil {
			ctx, end := context.WithCancel(ctx)
			one := &stream{end: end, said: Silent("its agent was not asked yet", n)}
			s.nodes[n] = one
			s.tell()
			go s.run(ctx, n, one)
		}
	}
	for n, one := range s.nodes {
		if !keep[n] {
			one.end()
			delete(s.nodes, n)
			s.tell()
		}
	}
}

// Snapshot gives the state and coverage of all nodes. What was heard too long ago counts as not read.
func (s *Streams) Snapshot() *model.Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := &model.Snapshot{NodeState: make(map[string]*model.NodeState, len(s.nodes))}
	names := make([]string, 0, len(s.nodes))
	for n := range s.nodes {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		said := s.nodes[n].said
		if ago := observe.Uptime() - s.nodes[n].at; s.nodes[n].heard && ago > oldAfter {
			said = Silent(fmt.Sprintf("nothing was heard from its agent for %s", ago.Round(time.Second)), n)
		}
		out.Coverage = append(out.Coverage, said.Coverage...)
		if f := said.NodeState[n]; f != nil {
			out.NodeState[n] = f
		}
	}
	return out
}

// Count tells how many nodes are watched, asked another way, and silent, and the longest time for which
// a watched one has sent nothing.
func (s *Streams) Count() (watched, asked, silent int, lag time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for n, one := range s.nodes {
		switch {
		case one.direct:
			watched++
			lag = max(lag, observe.Uptime()-one.at)
		case one.said.NodeState[n] != nil:
			asked++
		default:
			silent++
		}
	}
	return watched, asked, silent, lag
}

// Waiting is how many nodes neither answered nor failed to.
func (s *Streams) Waiting() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.nodes {
		if !one.heard {
			n++
		}
	}
	return n
}

func (s *Streams) tell() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// beat notes that a node is as it was.
func (s *Streams) beat(one *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one.at = observe.Uptime()
}

func (s *Streams) put(one *stream, said *model.Snapshot, direct bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one.said, one.direct, one.heard, one.at = said, direct, true, observe.Uptime()
	s.tell()
}

// run watches a node until ctx ends. A watch that ends is begun again where it was, and what it said
// holds for that moment. One that cannot be begun is replaced by asking, now and then, and tried again.
func (s *Streams) run(ctx context.Context, node string, one *stream) {
	tables := &nodeTables{node: node}
	pause, asked := firstRetry, -askEvery
	for ctx.Err() == nil {
		frames, err := s.watch(ctx, one, tables)
		if ctx.Err() != nil {
			return
		}
		if errors.Is(err, errFrame) || errors.Is(err, errTooMuch) {
			tables = &nodeTables{node: node} // everything is read anew
		}
		if errors.Is(err, errTooMuch) {
			s.put(one, Silent(fmt.Sprintf("%v; it is read again %s later", err, greedyRetry), node), false)
			for range greedyRetry / askEvery {
				if observe.Wait(ctx, askEvery) != nil {
					return
				}
				s.beat(one) // the reason holds
			}
			continue
		}
		if frames > 0 {
			pause = firstRetry
		} else if observe.Uptime()-asked >= askEvery {
			s.put(one, s.Ask(ctx, node), false)
			asked = observe.Uptime()
		}
		if observe.Wait(ctx, pause/2+rand.N(pause)) != nil { //nolint:gosec // it spreads the load, no more
			return
		}
		pause = min(2*pause, lastRetry)
	}
}

// watch reads frames until the watch ends, and returns how many.
func (s *Streams) watch(ctx context.Context, one *stream, tables *nodeTables) (frames int, err error) {
	select {
	case s.begin <- struct{}{}:
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	began := sync.OnceFunc(func() { <-s.begin })
	defer began()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silence := time.AfterFunc(firstWithin, func() { cancel(errors.New("the agent sends nothing")) })
	defer silence.Stop()
	query := url.Values{"ways": {"sum"}}
	if tables.start != "" {
		query.Set("start", tables.start)
		query.Set("seq", strconv.FormatUint(tables.seq, 10))
	}
	asked := s.Now()
	body, err := s.Open(ctx, tables.node, query)
	if err != nil {
		return 0, err
	}
	defer func() { _ = body.Close() }()
	in := bufio.NewReaderSize(body, 4<<10)
	for most := maxFirst; ; most = maxFrame {
		f, err := s.frame(ctx, in, most, func(f *Frame) error { return tables.take(f, asked, s.Now()) })
		if err != nil {
			if cause := context.Cause(ctx); cause != nil {
				err = cause
			}
			return frames, err
		}
		silence.Reset(silentAfter)
		if frames++; frames == 1 {
			began()
		}
		if frames > 1 && len(f.Tables) == 0 {
			s.beat(one)
			continue
		}
		s.put(one, tables.snapshot(), true)
	}
}

// frame reads a frame and takes it, within the memory that all nodes together may take.
func (s *Streams) frame(ctx context.Context, in *bufio.Reader, most int, take func(*Frame) error) (*Frame, error) {
	var f Frame
	held := 0
	defer func() { s.lines.give(held) }()
	line, err := readLine(in, most, func() bool {
		short, cancel := context.WithTimeout(ctx, busyWithin)
		defer cancel()
		if s.lines.take(short, 2*lineStep) != nil { // while it grows there are two
			return false
		}
		held += 2 * lineStep
		return true
	})
	if err != nil {
		return nil, err
	}
	weight := snapshotio.Weight(line)
	if weight > maxWeight {
		return nil, fmt.Errorf("%w: more than %d MiB of memory", errTooMuch, maxWeight>>20)
	}
	if err := s.decode.take(ctx, weight); err != nil {
		return nil, err
	}
	defer s.decode.give(weight)
	if err := json.Unmarshal(line, &f); err != nil {
		return nil, err
	}
	if err := take(&f); err != nil {
		return nil, errors.Join(errFrame, err)
	}
	return &f, nil
}

// errBusy means that the lines of other nodes take all memory that lines may take.
var errBusy = errors.New("too much is being read from other nodes; tried again")

// readLine reads one line. It is valid until the next one. more is called for each further
// lineStep of a long one.
func readLine(in *bufio.Reader, most int, more func() bool) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		size := len(line) + len(part)
		if size > most {
			return nil, fmt.Errorf("%w: a line of more than %d MiB", errTooMuch, most>>20)
		}
		if size/lineStep > len(line)/lineStep && !more() {
			return nil, errBusy
		}
		switch {
		case err == nil && line == nil:
			return part, nil
		case err == nil:
			return append(line, part...), nil
		case errors.Is(err, bufio.ErrBufferFull):
			line = append(line, part...)
		case errors.Is(err, io.EOF) && size > 0:
			return nil, io.ErrUnexpectedEOF
		default:
			return nil, err
		}
	}
}
