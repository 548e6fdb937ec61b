package agent

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/snapshotio"
)

// nasty are elements of few bytes that become many.
var nasty = map[string]string{
	"empty rows": "{}", "null rows": "null", "empty routes": `{"routes":[%s{}]}`, "null routes": `{"routes":[%snull]}`, "empty addresses": `{"ips":[%s"10.0.0.1/32"]}`,
	"threads": `{"threads":[%s{}]}`, "containers": `{"pods":[%s""]}`, "unknown lists": `{"zz":[%s{}]}`, "nested lists": `{"zz":[%s[]]}`, "deep objects": `{"zz":{"a":{"a":{"a":{"a":{}}}}}}`,
	"numbers for rows": "0", "numbers for ways": `{"ways":[%s0]}`, "texts for ways": `{"ways":[%s""]}`, "texts for threads": `{"threads":[%s""]}`, "many keys": `{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1,"j":1,"k":1,"l":1}`,
	"brackets in texts": `{"a":"[[[{{{","ways":[%s0]}`,
}

// greedyFrame is the first frame of a node that sends a table full of nasty rows, of about this size.
func greedyFrame(table model.Table, row string, size int) []byte {
	var rows []string
	if head, tail, nested := strings.Cut(row, "%s"); nested {
		element := strings.TrimSuffix(tail, "]}") + ","
		rows = []string{head + strings.Repeat(element, max(1, size/len(element))) + tail}
	} else {
		rows = strings.Split(strings.TrimSuffix(strings.Repeat(row+";", max(1, size/(len(row)+4))), ";"), ";")
	}
	keys := strings.TrimSuffix(strings.Repeat(`"",`, len(rows)), ",")
	return fmt.Appendf(nil, `{"schema":%d,"node":"n1","start":"s","seq":1,"taken":"2026-01-01T00:00:00Z","whole":true,"tables":[{"coverage":{"table":%q,"node":"n1","state":"complete"},"whole":true,"keys":[%s],"rows":[%s]}]}`+"\n",
		model.Schema, table.String(), keys, strings.Join(rows, ","))
}

func liveHeap() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// Whatever a node sends, what is kept of it takes at most 64 MiB; what would take more is refused
// before it is decoded.
func TestGreedyNode(t *testing.T) { // not parallel: it measures memory
	tables := []model.Table{model.Machines, model.Attachments, model.Sandboxes, model.Links, model.Processes, model.Mounts, model.Routes, model.Firewall}
	if testing.Short() {
		tables = tables[:2]
	}
	accepted, refused := 0, 0
	for name, row := range nasty {
		for _, table := range tables {
			for _, size := range []int{1 << 10, 128 << 10, 1 << 20, 8 << 20} {
				s, n := NewStreams(), &nodeTables{node: "n1"}
				line := greedyFrame(table, row, size)
				before := liveHeap()
				var during runtime.MemStats
				_, err := s.frame(t.Context(), bufio.NewReaderSize(bytes.NewReader(line), 4<<10), maxFirst, func(f *Frame) error {
					err := n.take(f, time.Unix(1, 0), time.Unix(1, 0))
					runtime.ReadMemStats(&during)
					return err
				})
				after := liveHeap()
				if after-before > maxWeight || s.lines.left != maxLines || s.decode.left != maxDecode {
					t.Errorf("%s of %s, %d bytes: %d MiB are kept, %v; %d and %d of the budgets are left", name, table, size, (after-before)>>20, err, s.lines.left, s.decode.left)
				}
				switch {
				case err == nil:
					accepted++
				case errors.Is(err, errTooMuch):
					refused++
					n = nil
				}
				runtime.KeepAlive(n)
				runtime.KeepAlive(line)
			}
		}
	}
	if accepted == 0 || refused == 0 {
		t.Errorf("%d frames were taken, %d refused", accepted, refused)
	}
}

// The answer to check is compressed: a few kilobytes of it are refused before they become hundreds
// of megabytes.
func TestGreedyAnswer(t *testing.T) { // not parallel: it measures memory
	s := &model.Snapshot{
		Meta: model.Meta{Schema: model.Schema}, NodeState: map[string]*model.NodeState{"n1": {Attachments: []model.Attachment{{}}}},
		Coverage: []model.Coverage{{Table: model.Attachments, Node: "n1", State: model.Complete}},
	}
	var b bytes.Buffer
	if err := snapshotio.WriteBundle(&b, s); err != nil {
		t.Fatal(err)
	}
	greedy := rewritten(t, b.Bytes(), "attachments", `{"routes":[`+strings.TrimSuffix(strings.Repeat("{},", (8<<20)/3), ",")+"]}\n")
	before := liveHeap()
	for name, read := range map[string]func() (*model.Snapshot, error){
		"an agent's answer": func() (*model.Snapshot, error) {
			return snapshotio.ReadBundleOf(bytes.NewReader(greedy), snapshotio.Limit{Bytes: maxBytes, Rows: maxRows, Weight: maxWeight})
		},
		"a stranger's bundle": func() (*model.Snapshot, error) { return snapshotio.ReadBundle(bytes.NewReader(greedy)) },
	} {
		got, err := read()
		if !errors.Is(err, snapshotio.ErrTooMuch) {
			t.Errorf("%s of %d bytes: %v", name, len(greedy), err)
		}
		if after := liveHeap(); after-before > maxWeight {
			t.Errorf("%s: %d MiB are kept", name, (after-before)>>20)
		}
		runtime.KeepAlive(got)
	}
	if got, err := snapshotio.ReadBundle(bytes.NewReader(b.Bytes())); err != nil || len(got.NodeState) != 1 {
		t.Errorf("the bundle itself: %v", err)
	}
}

// rewritten replaces the content of a section.
func rewritten(t *testing.T, bundle []byte, section, content string) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(bundle))
	if err != nil {
		t.Fatal(err)
	}
	in := tar.NewReader(z)
	var out bytes.Buffer
	zw := gzip.NewWriter(&out)
	tw := tar.NewWriter(zw)
	for {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(h.Name, section) {
			body = []byte(content)
			h.Size = int64(len(body))
		}
		if err := tw.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := tw.Write(body); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(tw.Close(), zw.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// A node that sends too much is not read for minutes, and says why; the others go on.
func TestGreedyNodeIsLeftAlone(t *testing.T) {
	t.Parallel()
	opened := make(chan string, 64)
	s := NewStreams()
	s.Now = func() time.Time { return time.Unix(1, 0) }
	s.Ask = func(_ context.Context, node string) *model.Snapshot { return Silent("was asked another way", node) }
	s.Open = func(_ context.Context, node string, _ url.Values) (io.ReadCloser, error) {
		opened <- node
		line := greedyFrame(model.Machines, "{}", 1<<10)
		if node == "n1" {
			line = greedyFrame(model.Machines, "{}", 2<<20)
		}
		return io.NopCloser(bytes.NewReader(bytes.ReplaceAll(line, []byte(`"n1"`), fmt.Appendf(nil, "%q", node)))), nil
	}
	s.Keep(t.Context(), []string{"n1", "n2"})
	of := map[string]int{}
	for of["n2"] < 3 { // it ends, and is begun again
		select {
		case node := <-opened:
			of[node]++
		case <-time.After(time.Minute):
			t.Fatalf("opened %v", of)
		}
	}
	if of["n1"] != 1 {
		t.Errorf("the greedy node was opened %d times", of["n1"])
	}
	said := s.Snapshot()
	if said.NodeState["n2"] == nil || said.NodeState["n1"] != nil {
		t.Errorf("%+v", said.NodeState)
	}
	for _, c := range said.Coverage {
		if c.Node == "n1" && !strings.Contains(c.Reason, "more than any node has") {
			t.Errorf("%+v", c)
		}
	}
}
