// Package timelinetest writes logs as other nodes and other programs would have written them: in another
// zone, and in the forms in which people have them. Only tests use it.
package timelinetest

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/ulikunitz/xz"
)

// A Timed is a line of a log, and when it was written, in UTC.
type Timed struct {
	At            time.Time
	Text          string
	Node, Program string // who wrote it
}

// Lines splits a log whose timestamps are in UTC. Those of the kubelet have no year; a line without a
// timestamp has that of the line before.
func Lines(log string, year int, node, program string) []Timed {
	var out []Timed
	var at time.Time
	for l := range strings.Lines(log) {
		l = strings.TrimRight(l, "\n")
		if m := timeAt.FindStringSubmatch(l); m != nil {
			s := strings.Replace(strings.TrimSuffix(m[1]+m[2], "Z"), " ", "T", 1)
			if t, err := time.Parse("2006-01-02T15:04:05.999999999", s); err == nil {
				at = t
			} else if t, err := time.Parse("0102 15:04:05.999999999", m[3]); err == nil {
				at = t.AddDate(year, 0, 0)
			}
		}
		out = append(out, Timed{at, l, node, program})
	}
	return out
}

var timeAt = regexp.MustCompile(`^(?:time="([^"]+)"|(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+)|[IWEF](\d{4} \d\d:\d\d:\d\d\.\d+))`)

// object is a JSON object in a fixed order: keys and values.
func object(pairs ...any) string {
	var b strings.Builder
	for i := 0; i < len(pairs); i += 2 {
		v, err := json.Marshal(pairs[i+1])
		if raw, ok := pairs[i+1].(json.RawMessage); ok {
			v, err = raw, nil
		}
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(&b, ",%q:%s", pairs[i], v)
	}
	return "{" + strings.TrimPrefix(b.String(), ",") + "}"
}

func raw(s string) json.RawMessage { return json.RawMessage(s) }

func indented(s string) string {
	var b bytes.Buffer
	if err := json.Indent(&b, []byte(s), "", "\t"); err != nil {
		panic(err)
	}
	return b.String()
}

// micros is a time as the journal writes it.
func micros(t time.Time) string { return fmt.Sprint(t.UnixMicro()) }

func iso(t time.Time) string { return t.Format("2006-01-02T15:04:05.000000Z") }

// Wrappings are the forms in which people have a log: each gives a whole file. The first is that of
// the component itself.
var Wrappings = map[string]func([]Timed) []byte{
	"01-plain": each(func(l Timed) string { return l.Text }),
	"02-syslog3164": each(func(l Timed) string {
		return l.At.Format("Jan 02 15:04:05") + " " + l.Node + " " + l.Program + "[612]: " + l.Text
	}),
	"03-syslog5424": each(func(l Timed) string {
		return "<30>1 " + iso(l.At) + " " + l.Node + " " + l.Program + " 612 - - " + l.Text
	}),
	"03b-syslog5424-sd": each(func(l Timed) string {
		return "<30>1 " + iso(l.At) + " " + l.Node + " " + l.Program + ` 612 ID47 [exampleSDID@32473 iut="3"] ` + l.Text
	}),
	"04-journal-shortiso": each(func(l Timed) string {
		return l.At.Format("2006-01-02T15:04:05") + "+0000 " + l.Node + " " + l.Program + "[612]: " + l.Text
	}),
	"05-journal-json":    each(func(l Timed) string { return journalEntry(l, l.Text) }),
	"05b-journal-pretty": each(func(l Timed) string { return indented(journalEntry(l, l.Text)) }),
	"05c-journal-export": each(func(l Timed) string {
		return "__REALTIME_TIMESTAMP=" + micros(l.At) + "\n_HOSTNAME=" + l.Node + "\nSYSLOG_IDENTIFIER=" + l.Program + "\n_PID=612\nMESSAGE=" + l.Text + "\n"
	}),
	"05d-journal-verbose": each(func(l Timed) string {
		return l.At.Format("Mon 2006-01-02 15:04:05.000000") + " UTC [s=abc;i=1;b=def;m=1;t=1;x=1]\n    _HOSTNAME=" + l.Node + "\n    SYSLOG_IDENTIFIER=" + l.Program + "\n    _PID=612\n    MESSAGE=" + l.Text
	}),
	"05e-journal-bytes": each(func(l Timed) string {
		var list []int
		for _, c := range []byte(l.Text) {
			list = append(list, int(c))
		}
		return journalEntry(l, list)
	}),
	"06-docker-json":     each(func(l Timed) string { return object("log", l.Text+"\n", "stream", "stderr", "time", iso(l.At)) }),
	"07-cri":             each(func(l Timed) string { return iso(l.At) + " stderr F " + l.Text }),
	"08-containerd-json": each(containerdJSON),
	"09-fluentbit-date":  each(func(l Timed) string { return object("date", float64(l.At.UnixMicro())/1e6, "log", l.Text) }),
	"09b-fluentbit-k8s": each(func(l Timed) string {
		return object("@timestamp", iso(l.At), "log", l.Text+"\n", "stream", "stderr", "kubernetes", raw(object("host", l.Node)))
	}),
	"09c-fluentbit-systemd": each(func(l Timed) string {
		return object("date", float64(l.At.UnixMicro())/1e6, "_HOSTNAME", l.Node, "SYSLOG_IDENTIFIER", l.Program, "MESSAGE", l.Text)
	}),
	"10-loki-jsonl": each(func(l Timed) string {
		return object("labels", raw(object("job", "systemd-journal", "host", l.Node)), "line", l.Text, "timestamp", iso(l.At))
	}),
	"10b-loki-default": each(func(l Timed) string {
		return l.At.Format("2006-01-02T15:04:05Z") + ` {host="` + l.Node + `", job="` + l.Program + `"} ` + l.Text
	}),
	"10c-grafana-json": func(ls []Timed) []byte {
		return []byte(indented("[" + joined(ls, ",", func(l Timed) string {
			return object("line", l.Text, "timestamp", fmt.Sprint(l.At.UnixNano()), "fields", raw(object("host", l.Node)))
		}) + "]"))
	},
	"10d-grafana-txt": each(func(l Timed) string { return iso(l.At) + "\t" + l.Text }),
	"11-es-ndjson": each(func(l Timed) string {
		return object("_index", "logs", "_id", "1", "_source", raw(object("@timestamp", iso(l.At), "host", raw(object("name", l.Node)), "message", l.Text)))
	}),
	"11b-es-search": func(ls []Timed) []byte {
		return []byte(`{"took":1,"hits":{"total":{"value":7},"hits":[` + joined(ls, ",", func(l Timed) string {
			return object("_index", "logs", "_source", raw(object("@timestamp", iso(l.At), "message", l.Text)))
		}) + "]}}")
	},
	"11c-kibana-csv": func(ls []Timed) []byte {
		var b bytes.Buffer
		w := csv.NewWriter(&b)
		_ = w.Write([]string{"@timestamp", "host.name", "message"})
		for _, l := range ls {
			_ = w.Write([]string{l.At.Format("Jan 2, 2006 @ 15:04:05.000"), l.Node, l.Text})
		}
		w.Flush()
		return b.Bytes()
	},
	"12-cloudwatch-json": func(ls []Timed) []byte {
		return []byte(indented(`{"events":[` + joined(ls, ",", func(l Timed) string {
			return object("logStreamName", l.Node, "timestamp", l.At.UnixMilli(), "message", l.Text, "ingestionTime", 0)
		}) + "]}"))
	},
	"12b-cloudwatch-tail": each(func(l Timed) string {
		return l.At.Format("2006-01-02T15:04:05.000000") + "+00:00 ip-10-0-0-1.containerd " + l.Text
	}),
	"12c-cloudwatch-s3": each(func(l Timed) string { return l.At.Format("2006-01-02T15:04:05.000Z ") + l.Text }),
	"13-gcp-json": each(func(l Timed) string {
		return object("insertId", "a", "jsonPayload", raw(object("MESSAGE", l.Text, "_HOSTNAME", l.Node)), "timestamp", iso(l.At))
	}),
	"13b-gcp-text":      each(func(l Timed) string { return object("insertId", "a", "textPayload", l.Text, "timestamp", iso(l.At)) }),
	"14-kubectl-prefix": each(func(l Timed) string { return "[pod/x-abc/x] " + l.Text }),
	"14b-stern":         each(func(l Timed) string { return "x-abc x " + l.Text }),
	"15-ansi":           each(func(l Timed) string { return "\x1b[36m" + l.Text + "\x1b[0m" }),
	"16-utf16": func(ls []Timed) []byte {
		var b []byte
		for _, c := range utf16.Encode([]rune("\ufeff" + string(plain(ls)))) {
			b = append(b, byte(c), byte(c>>8))
		}
		return b
	},
	"16b-utf8bom":       func(ls []Timed) []byte { return append([]byte("\xef\xbb\xbf"), plain(ls)...) },
	"17-gzip":           packed(func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil }),
	"18-xz":             packed(func(w io.Writer) (io.WriteCloser, error) { return xz.NewWriter(w) }),
	"18c-zip":           zipped,
	"19-two-timestamps": each(func(l Timed) string { return iso(l.At) + " " + l.Text }),
	"20-rsyslog-json": each(func(l Timed) string {
		return object("timestamp", iso(l.At), "hostname", l.Node, "app-name", l.Program, "procid", "612", "msg", l.Text)
	}),
	"21-cri-partial": each(func(l Timed) string {
		if len(l.Text) <= 100 {
			return iso(l.At) + " stderr F " + l.Text
		}
		return iso(l.At) + " stderr P " + l.Text[:100] + "\n" + iso(l.At) + " stderr F " + l.Text[100:]
	}),
}

func each(form func(Timed) string) func([]Timed) []byte {
	return func(ls []Timed) []byte { return []byte(joined(ls, "\n", form) + "\n") }
}

func joined(ls []Timed, with string, form func(Timed) string) string {
	out := make([]string, len(ls))
	for i, l := range ls {
		out[i] = form(l)
	}
	return strings.Join(out, with)
}

func plain(ls []Timed) []byte { return wrapPlain(ls) }

var wrapPlain = each(func(l Timed) string { return l.Text })

func journalEntry(l Timed, message any) string {
	return object("__REALTIME_TIMESTAMP", micros(l.At), "_HOSTNAME", l.Node, "SYSLOG_IDENTIFIER", l.Program, "_PID", "612", "MESSAGE", message)
}

var (
	logrusLine  = regexp.MustCompile(`^time="[^"]+" level=(\w+) msg="((?:[^"\\]|\\.)*)"(.*)$`)
	logrusField = regexp.MustCompile(` ([\w.]+)=("(?:[^"\\]|\\.)*"|\S+)`)
)

// containerdJSON is a line as containerd writes it with format = "json" in its configuration.
func containerdJSON(l Timed) string {
	m := logrusLine.FindStringSubmatch(l.Text)
	if m == nil {
		return l.Text
	}
	quoted := func(s string) (out string) {
		if json.Unmarshal([]byte(s), &out) != nil {
			return s
		}
		return out
	}
	pairs := []any{}
	for _, f := range logrusField.FindAllStringSubmatch(m[3], -1) {
		pairs = append(pairs, f[1], quoted(f[2]))
	}
	return object(append(pairs, "level", m[1], "msg", quoted(`"`+m[2]+`"`), "time", iso(l.At))...)
}

func packed(with func(io.Writer) (io.WriteCloser, error)) func([]Timed) []byte {
	return func(ls []Timed) []byte {
		var b bytes.Buffer
		w, err := with(&b)
		if err == nil {
			_, _ = w.Write(plain(ls))
			err = w.Close()
		}
		if err != nil {
			panic(err)
		}
		return b.Bytes()
	}
}

func zipped(ls []Timed) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create("containerd.log")
	if err == nil {
		_, _ = w.Write(plain(ls))
		err = z.Close()
	}
	if err != nil {
		panic(err)
	}
	return b.Bytes()
}
