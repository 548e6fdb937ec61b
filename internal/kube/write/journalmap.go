package write

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"plumbline.dev/plumbline/internal/execute"
	"plumbline.dev/plumbline/internal/kube"
)

const (
	journalLabel = "plumbline.dev/journal"
	maxChunk     = 512 << 10
	maxChunks    = 500
)

// journalsIn is where the copies of a namespace are.
func journalsIn(namespace string) string { return "/api/v1/namespaces/" + namespace + "/configmaps" }

func (j JournalMaps) at() string { return journalsIn(j.Writer.namespace) }

// errCut means that a chunk of a journal in the cluster is missing.
var errCut = errors.New("a part of the journal is missing")

// JournalMaps stores copies of journals in ConfigMaps, so that another person can undo.
type JournalMaps struct{ Writer *Writer }

type journalMap struct {
	APIVersion string      `json:"apiVersion,omitempty"`
	Kind       string      `json:"kind,omitempty"`
	Metadata   journalMeta `json:"metadata"`
	Data       struct {
		More string `json:"more,omitempty"` // another follows
	} `json:"data"`
	BinaryData struct {
		Journal []byte `json:"journal"`
	} `json:"binaryData"`
}

type journalMeta struct {
	identity
	Labels map[string]string `json:"labels,omitempty"`
}

var planOK = regexp.MustCompile(`^` + planName + `$`)

func journalName(plan string, n int) string { return journalPrefix + plan + "-" + strconv.Itoa(n) }

// Put writes these chunks to the ConfigMaps of a plan. A journal only grows: a ConfigMap
// whose content is not a prefix of its chunk belongs to another journal and is not changed.
func (j JournalMaps) Put(ctx context.Context, plan string, chunks [][]byte) error {
	if !planOK.MatchString(plan) || len(chunks) > maxChunks {
		return fmt.Errorf("plan %.60q with %d chunks: not a journal", plan, len(chunks))
	}
	for n, c := range chunks {
		if len(c) > maxChunk {
			return fmt.Errorf("journal of %s: chunk %d has %d bytes", plan, n, len(c))
		}
		if err := j.put(ctx, plan, n, c, n < len(chunks)-1); err != nil {
			return fmt.Errorf("copy the journal of %s: %w", plan, err)
		}
	}
	return nil
}

func (j JournalMaps) put(ctx context.Context, plan string, n int, chunk []byte, more bool) error {
	at := j.at() + "/" + journalName(plan, n)
	a, there, err := j.Writer.read(ctx, at)
	if err != nil {
		return err
	}
	m := journalMap{APIVersion: "v1", Kind: "ConfigMap"}
	m.Metadata.Name, m.Metadata.Namespace = journalName(plan, n), j.Writer.namespace
	m.Metadata.Labels = map[string]string{journalLabel: plan}
	method, to := http.MethodPost, j.at()
	if there {
		var was journalMap
		if err := json.Unmarshal(a.body, &was); err != nil {
			return fmt.Errorf("read %s: %w", at, err)
		}
		old := was.BinaryData.Journal
		if bytes.Equal(old, chunk) && (was.Data.More != "") == more {
			return nil
		}
		if !bytes.HasPrefix(chunk, old) {
			return fmt.Errorf("ConfigMap %s: %w: it holds another journal", at, execute.ErrRefused)
		}
		m.Metadata.UID, m.Metadata.ResourceVersion = was.Metadata.UID, was.Metadata.ResourceVersion
		method, to = http.MethodPut, at
	}
	m.BinaryData.Journal = chunk
	if more {
		m.Data.More = "true"
	}
	body, err := json.Marshal(m)
	if err != nil {
		return err
	}
	_, err = j.Writer.Write(ctx, method, to, kube.AcceptJSON, nil, body)
	return err
}

// Read returns the chunks of a plan's journal; none if there is none. With errCut it
// returns the chunks before the missing one.
func (j JournalMaps) Read(ctx context.Context, plan string) ([][]byte, error) {
	maps, err := j.list(ctx, plan)
	if err != nil {
		return nil, fmt.Errorf("read the journal of %s: %w", plan, err)
	}
	var out [][]byte
	for n := range maxChunks {
		m, ok := maps[journalName(plan, n)]
		if !ok {
			if n != len(maps) || n > 0 && maps[journalName(plan, n-1)].Data.More != "" {
				return out, fmt.Errorf("read the journal of %s: %w: %s", plan, errCut, journalName(plan, n))
			}
			break
		}
		out = append(out, m.BinaryData.Journal)
	}
	return out, nil
}

func (j JournalMaps) list(ctx context.Context, plan string) (map[string]journalMap, error) {
	if !planOK.MatchString(plan) {
		return nil, fmt.Errorf("%.60q is not a plan", plan)
	}
	out := map[string]journalMap{}
	_, err := j.Writer.client.List(ctx, j.at(), url.Values{"labelSelector": {journalLabel + "=" + plan}, "limit": {"10"}}, func(item []byte) error {
		var m journalMap
		if err := json.Unmarshal(item, &m); err != nil {
			return err
		}
		if len(out) == maxChunks {
			return kube.ErrTooBig
		}
		if strings.HasPrefix(m.Metadata.Name, journalPrefix+plan+"-") { // anybody may set a label
			out[m.Metadata.Name] = m
		}
		return nil
	})
	return out, err
}
