package timeline_test

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/ulikunitz/xz"
)

// A timed is a line of a log, and when it was written.
type timed struct {
	at   time.Time
	text string
}

var timeAt = regexp.MustCompile(`^(?:time="([^"]+)"|(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+))`)

// timedLines reads a recorded log of containerd.
func timedLines(t *testing.T, file string) []timed {
	t.Helper()
	b, err := os.ReadFile(file)
	if err == nil {
		var z *gzip.Reader
		if z, err = gzip.NewReader(bytes.NewReader(b)); err == nil {
			b, err = io.ReadAll(z)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	var out []timed
	var at time.Time
	for _, l := range strings.Split(strings.TrimRight(string(b), "\n"), "\n") {
		if m := timeAt.FindStringSubmatch(l); m != nil {
			s := strings.Replace(strings.TrimSuffix(m[1]+m[2], "Z"), " ", "T", 1)
			if at, err = time.Parse("2006-01-02T15:04:05.999999999", s); err != nil {
				t.Fatal(err)
			}
		}
		out = append(out, timed{at, l})
	}
	return out
}

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

// wrappings are the forms in which people have a log: each gives a whole file. The first is that of
// the component itself.
var wrappings = map[string]func([]timed) []byte{
	"01-plain":      each(func(l timed) string { return l.text }),
	"02-syslog3164": each(func(l timed) string { return l.at.Format("Jan 02 15:04:05") + " node1 containerd[612]: " + l.text }),
	"03-syslog5424": each(func(l timed) string { return "<30>1 " + iso(l.at) + " node1 containerd 612 - - " + l.text }),
	"03b-syslog5424-sd": each(func(l timed) string {
		return "<30>1 " + iso(l.at) + ` node1 containerd 612 ID47 [exampleSDID@32473 iut="3"] ` + l.text
	}),
	"04-journal-shortiso": each(func(l timed) string {
		return l.at.Format("2006-01-02T15:04:05") + "+0000 node1 containerd[612]: " + l.text
	}),
	"05-journal-json":    each(func(l timed) string { return journalEntry(l, l.text) }),
	"05b-journal-pretty": each(func(l timed) string { return indented(journalEntry(l, l.text)) }),
	"05c-journal-export": each(func(l timed) string {
		return "__REALTIME_TIMESTAMP=" + micros(l.at) + "\n_HOSTNAME=node1\nSYSLOG_IDENTIFIER=containerd\n_PID=612\nMESSAGE=" + l.text + "\n"
	}),
	"05d-journal-verbose": each(func(l timed) string {
		return l.at.Format("Mon 2006-01-02 15:04:05.000000") + " UTC [s=abc;i=1;b=def;m=1;t=1;x=1]\n    _HOSTNAME=node1\n    SYSLOG_IDENTIFIER=containerd\n    _PID=612\n    MESSAGE=" + l.text
	}),
	"05e-journal-bytes": each(func(l timed) string {
		var list []int
		for _, c := range []byte(l.text) {
			list = append(list, int(c))
		}
		return journalEntry(l, list)
	}),
	"06-docker-json":     each(func(l timed) string { return object("log", l.text+"\n", "stream", "stderr", "time", iso(l.at)) }),
	"07-cri":             each(func(l timed) string { return iso(l.at) + " stderr F " + l.text }),
	"08-containerd-json": each(containerdJSON),
	"09-fluentbit-date":  each(func(l timed) string { return object("date", float64(l.at.UnixMicro())/1e6, "log", l.text) }),
	"09b-fluentbit-k8s": each(func(l timed) string {
		return object("@timestamp", iso(l.at), "log", l.text+"\n", "stream", "stderr", "kubernetes", raw(`{"host":"node1"}`))
	}),
	"09c-fluentbit-systemd": each(func(l timed) string {
		return object("date", float64(l.at.UnixMicro())/1e6, "_HOSTNAME", "node1", "SYSLOG_IDENTIFIER", "containerd", "MESSAGE", l.text)
	}),
	"10-loki-jsonl": each(func(l timed) string {
		return object("labels", raw(`{"job":"systemd-journal","host":"node1"}`), "line", l.text, "timestamp", iso(l.at))
	}),
	"10b-loki-default": each(func(l timed) string {
		return l.at.Format("2006-01-02T15:04:05Z") + ` {host="node1", job="containerd"} ` + l.text
	}),
	"10c-grafana-json": func(ls []timed) []byte {
		return []byte(indented("[" + joined(ls, ",", func(l timed) string {
			return object("line", l.text, "timestamp", fmt.Sprint(l.at.UnixNano()), "fields", raw(`{"host":"node1"}`))
		}) + "]"))
	},
	"10d-grafana-txt": each(func(l timed) string { return iso(l.at) + "\t" + l.text }),
	"11-es-ndjson": each(func(l timed) string {
		return object("_index", "logs", "_id", "1", "_source", raw(object("@timestamp", iso(l.at), "host", raw(`{"name":"node1"}`), "message", l.text)))
	}),
	"11b-es-search": func(ls []timed) []byte {
		return []byte(`{"took":1,"hits":{"total":{"value":7},"hits":[` + joined(ls, ",", func(l timed) string {
			return object("_index", "logs", "_source", raw(object("@timestamp", iso(l.at), "message", l.text)))
		}) + "]}}")
	},
	"11c-kibana-csv": func(ls []timed) []byte {
		var b bytes.Buffer
		w := csv.NewWriter(&b)
		_ = w.Write([]string{"@timestamp", "host.name", "message"})
		for _, l := range ls {
			_ = w.Write([]string{l.at.Format("Jan 2, 2006 @ 15:04:05.000"), "node1", l.text})
		}
		w.Flush()
		return b.Bytes()
	},
	"12-cloudwatch-json": func(ls []timed) []byte {
		return []byte(indented(`{"events":[` + joined(ls, ",", func(l timed) string {
			return object("logStreamName", "node1", "timestamp", l.at.UnixMilli(), "message", l.text, "ingestionTime", 0)
		}) + "]}"))
	},
	"12b-cloudwatch-tail": each(func(l timed) string {
		return l.at.Format("2006-01-02T15:04:05.000000") + "+00:00 ip-10-0-0-1.containerd " + l.text
	}),
	"12c-cloudwatch-s3": each(func(l timed) string { return l.at.Format("2006-01-02T15:04:05.000Z ") + l.text }),
	"13-gcp-json": each(func(l timed) string {
		return object("insertId", "a", "jsonPayload", raw(object("MESSAGE", l.text, "_HOSTNAME", "node1")), "timestamp", iso(l.at))
	}),
	"13b-gcp-text":      each(func(l timed) string { return object("insertId", "a", "textPayload", l.text, "timestamp", iso(l.at)) }),
	"14-kubectl-prefix": each(func(l timed) string { return "[pod/x-abc/x] " + l.text }),
	"14b-stern":         each(func(l timed) string { return "x-abc x " + l.text }),
	"15-ansi":           each(func(l timed) string { return "\x1b[36m" + l.text + "\x1b[0m" }),
	"16-utf16": func(ls []timed) []byte {
		var b []byte
		for _, c := range utf16.Encode([]rune("\ufeff" + string(plain(ls)))) {
			b = append(b, byte(c), byte(c>>8))
		}
		return b
	},
	"16b-utf8bom":       func(ls []timed) []byte { return append([]byte("\xef\xbb\xbf"), plain(ls)...) },
	"18-xz":             packed(func(w io.Writer) (io.WriteCloser, error) { return xz.NewWriter(w) }),
	"18b-bz2":           bzipped,
	"18c-zip":           zipped,
	"19-two-timestamps": each(func(l timed) string { return iso(l.at) + " " + l.text }),
	"20-rsyslog-json": each(func(l timed) string {
		return object("timestamp", iso(l.at), "hostname", "node1", "app-name", "containerd", "procid", "612", "msg", l.text)
	}),
	"21-cri-partial": each(func(l timed) string {
		if len(l.text) <= 100 {
			return iso(l.at) + " stderr F " + l.text
		}
		return iso(l.at) + " stderr P " + l.text[:100] + "\n" + iso(l.at) + " stderr F " + l.text[100:]
	}),
}

func each(form func(timed) string) func([]timed) []byte {
	return func(ls []timed) []byte { return []byte(joined(ls, "\n", form) + "\n") }
}

func joined(ls []timed, with string, form func(timed) string) string {
	out := make([]string, len(ls))
	for i, l := range ls {
		out[i] = form(l)
	}
	return strings.Join(out, with)
}

func plain(ls []timed) []byte { return wrapPlain(ls) }

var wrapPlain = each(func(l timed) string { return l.text })

func journalEntry(l timed, message any) string {
	return object("__REALTIME_TIMESTAMP", micros(l.at), "_HOSTNAME", "node1", "SYSLOG_IDENTIFIER", "containerd", "_PID", "612", "MESSAGE", message)
}

var (
	logrusLine  = regexp.MustCompile(`^time="[^"]+" level=(\w+) msg="((?:[^"\\]|\\.)*)"(.*)$`)
	logrusField = regexp.MustCompile(` ([\w.]+)=("(?:[^"\\]|\\.)*"|\S+)`)
)

// containerdJSON is a line as containerd writes it with format = "json" in its configuration.
func containerdJSON(l timed) string {
	m := logrusLine.FindStringSubmatch(l.text)
	if m == nil {
		return l.text
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
	return object(append(pairs, "level", m[1], "msg", quoted(`"`+m[2]+`"`), "time", iso(l.at))...)
}

func packed(with func(io.Writer) (io.WriteCloser, error)) func([]timed) []byte {
	return func(ls []timed) []byte {
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

// bzipped uses the program: Go only decompresses bzip2. Without it the form is left out.
func bzipped(ls []timed) []byte {
	cmd := exec.Command("bzip2", "-c")
	cmd.Stdin = bytes.NewReader(plain(ls))
	out, err := cmd.Output()
	if err != nil {
		return nil
	}
	return out
}

func zipped(ls []timed) []byte {
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
