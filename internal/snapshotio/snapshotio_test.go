package snapshotio_test

import (
	"bytes"
	"errors"
	"net/netip"
	"reflect"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/snapshotio"
)

// full has a row in every table, each with a value in every field.
func full(t *testing.T) *model.Snapshot {
	t.Helper()
	s := &model.Snapshot{NodeState: map[string]*model.NodeState{"w1": {}}}
	fill(reflect.ValueOf(s).Elem(), t)
	s.Meta.Schema = model.Schema
	s.Unknown = nil
	f := &model.NodeState{}
	fill(reflect.ValueOf(f).Elem(), t)
	s.NodeState = map[string]*model.NodeState{"w1": f}
	s.Coverage = nil
	for _, table := range model.Tables() {
		c := model.Coverage{Table: table, State: model.Complete}
		if table.OfNode() {
			c.Node = "w1"
		}
		s.Coverage = append(s.Coverage, c)
	}
	return s
}

// fill sets every field that is written to something that is not its zero value.
func fill(v reflect.Value, t *testing.T) {
	t.Helper()
	switch v.Interface().(type) {
	case netip.Addr:
		v.Set(reflect.ValueOf(netip.MustParseAddr("10.0.0.1")))
		return
	case netip.Prefix:
		v.Set(reflect.ValueOf(netip.MustParsePrefix("10.0.0.0/26")))
		return
	case model.Time:
		v.SetInt(1_800_000_000)
		return
	case model.Extra:
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(7)
	case reflect.Uint32:
		v.SetUint(7)
	case reflect.Uint64:
		v.SetUint(1<<64 - 1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), t)
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), t)
		}
	case reflect.Map:
		if v.Type().Elem().Kind() == reflect.String {
			v.Set(reflect.ValueOf(map[string]string{"k": "v"}))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).Tag.Get("json") == "-" {
				continue
			}
			fill(v.Field(i), t)
		}
	case reflect.Uint8:
	default:
		t.Fatalf("a field of kind %s", v.Kind())
	}
}

func TestEveryFieldOfEveryTableSurvives(t *testing.T) {
	t.Parallel()
	s := full(t)
	var b bytes.Buffer
	if err := snapshotio.WriteBundle(&b, s); err != nil {
		t.Fatal(err)
	}
	got, err := snapshotio.ReadBundle(&b)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, s) {
		t.Errorf("bundle:\ngot  %+v\nwant %+v", got, s)
	}
	c := &snapshotio.Case{Comment: "words\n", Snapshot: s, Expect: map[string]string{"findings": "none\n"}}
	text, err := c.Text()
	if err != nil {
		t.Fatal(err)
	}
	again, err := snapshotio.ParseText(text, "findings")
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(again.Snapshot, s) || again.Expect["findings"] != "none\n" || again.Comment != "words\n" {
		t.Errorf("text:\ngot  %+v\nwant %+v", again, c)
	}
}

func TestUnknownFieldsAreKept(t *testing.T) {
	t.Parallel()
	in := "-- meta.json --\n{\"schema\":2,\"taken\":\"\",\"moon\":\"full\"}\n-- coverage.jsonl --\n{\"table\":\"pods\",\"state\":\"complete\"}\n" +
		"-- pods.jsonl --\n{\"namespace\":\"a\",\"name\":\"b\",\"mood\":{\"x\":[1,2]}}\n-- stars.jsonl --\n{\"name\":\"sun\"}\n"
	c, err := snapshotio.ParseText([]byte(in))
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.Text()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"moon":"full"`, `"mood":{"x":[1,2]}`, "-- stars.jsonl --\n{\"name\":\"sun\"}\n"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("lost %s in:\n%s", want, out)
		}
	}
}

func TestAbsentIsNotEmpty(t *testing.T) {
	t.Parallel()
	c, err := snapshotio.ParseText([]byte("-- meta.json --\n{\"schema\":2}\n-- pods.jsonl --\n"))
	if err != nil {
		t.Fatal(err)
	}
	v := model.Seal(c.Snapshot)
	if !v.State(model.PodStatus, "").Seen() || v.State(model.Nodes, "").Seen() {
		t.Error("pods were seen, nodes were not")
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"no meta":    "-- pods.jsonl --\n",
		"not a row":  "-- meta.json --\n{\"schema\":2}\n-- pods.jsonl --\n[]\n",
		"two rows":   "-- meta.json --\n{\"schema\":2}\n-- pods.jsonl --\n{} {}\n",
		"wrong type": "-- meta.json --\n{\"schema\":2}\n-- pods.jsonl --\n{\"name\":7}\n",
	} {
		if _, err := snapshotio.ParseText([]byte(text)); err == nil {
			t.Errorf("%s passes", name)
		}
	}
	if _, err := snapshotio.ParseText([]byte("-- meta.json --\n{\"schema\":3}\n")); !errors.Is(err, snapshotio.ErrNewer) {
		t.Errorf("a newer schema: %v", err)
	}
	for _, meta := range []string{"{}", "{\"schema\":1}"} { // schema 1 had other names of fields
		if _, err := snapshotio.ParseText([]byte("-- meta.json --\n" + meta + "\n")); !errors.Is(err, snapshotio.ErrOlder) {
			t.Errorf("an older schema, %s: %v", meta, err)
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add([]byte("-- meta.json --\n{\"schema\":2}\n-- blocks.jsonl --\n{\"cidr\":\"10.0.0.0/26\",\"length\":64,\"held\":[[1,2]],\"sequence\":\"1\"}\n-- nodes/w1/links.jsonl --\n{}\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := snapshotio.ParseText(b)
		if err != nil {
			return
		}
		if _, err := c.Text(); err != nil {
			t.Errorf("read but not written: %v", err)
		}
		model.Seal(c.Snapshot)
	})
}

// A table of a newer version does not make an older one refuse everything else.
func TestCoverageOfNewerTables(t *testing.T) {
	t.Parallel()
	const text = "newer\n\n-- meta.json --\n{\"schema\":2,\"taken\":\"2026-01-01T10:00:00Z\"}\n-- coverage.jsonl --\n{\"table\":\"pods\",\"state\":\"complete\"}\n{\"table\":\"of-tomorrow\",\"node\":\"n1\",\"state\":\"complete\"}\n-- pods.jsonl --\n-- nodes/n1/of-tomorrow.jsonl --\n{\"x\":1}\n"
	c, err := snapshotio.ParseText([]byte(text))
	if err != nil || len(c.Snapshot.Coverage) != 1 {
		t.Fatalf("%+v, %v", c, err)
	}
}
