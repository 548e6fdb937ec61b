package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"plumbline.dev/plumbline/internal/observe"
)

// AcceptJSON asks the API server for JSON.
const AcceptJSON = "application/json"

const (
	acceptProto     = "application/vnd.kubernetes.protobuf"
	acceptMetaProto = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
	pageSize        = 500
)

// List reads a whole collection and passes its items, which are valid only during the call.
// Servers that stream (1.33 and later) send one answer from their cache, others pages.
func (c *Client) List(ctx context.Context, path string, query url.Values, each func(item []byte) error) (observe.ReadInfo, error) {
	return c.list(ctx, path, query, AcceptJSON, eachItem, each)
}

type reader func(r io.Reader, each func([]byte) error) (listMeta, error)

func (c *Client) list(ctx context.Context, path string, query url.Values, accept string, read reader, each func([]byte) error) (observe.ReadInfo, error) {
	if c.Gentle { // waiting for the turn does not count as the server's time
		leave, err := c.turn.join(ctx)
		if err != nil {
			return observe.ReadInfo{}, err
		}
		defer leave()
	}
	q := url.Values{}
	for k, v := range query {
		q[k] = v
	}
	page := c.page.Load()
	if page > 0 {
		q.Set("limit", strconv.Itoa(int(page)))
	}
	var a observe.ReadInfo
	hc, header := c.listUnpaged(query)
	for {
		meta, at, err := c.part(ctx, hc, Request{Path: path, Query: q, Accept: accept, Header: header}, read, func(item []byte) error { a.Rows++; return each(item) })
		late := errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil && a.Rows > 0
		if page == 0 && (late || errors.Is(err, errTruncated)) {
			// An API server ends a request after a minute, whether the server or the
			// connection is slow; the client ends it after its own timeout.
			c.page.Store(pageSize)
			return a, observe.Again(err)
		}
		if err != nil {
			return a, err
		}
		if a.At.IsZero() {
			a.At, a.Revision = at, meta.ResourceVersion
		}
		if meta.Continue == "" {
			return a, nil
		}
		q.Set("continue", meta.Continue)
	}
}

// part reads one answer: all rows, or one page.
func (c *Client) part(ctx context.Context, hc *http.Client, r Request, read reader, each func([]byte) error) (listMeta, time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	body, at, err := c.open(ctx, hc, r)
	if err != nil {
		return listMeta{}, at, err
	}
	defer func() { _ = body.Close() }()
	meta, err := read(body, each)
	if err != nil {
		err = fmt.Errorf("read %s: %w", r.Path, err)
	}
	return meta, at, err
}

// Names reads only the names of a collection, in protobuf format.
func (c *Client) Names(ctx context.Context, path string, each func(name string)) (observe.ReadInfo, error) {
	return c.list(ctx, path, nil, acceptMetaProto, eachProto, nameOf(each))
}

// FirstNames reads the first names of a collection in one request.
func (c *Client) FirstNames(ctx context.Context, path string, most int, each func(name string)) error {
	r := Request{Path: path, Query: url.Values{"limit": {strconv.Itoa(most)}}, Accept: acceptMetaProto}
	_, _, err := c.part(ctx, c.http, r, eachProto, nameOf(each))
	return err
}

func nameOf(each func(name string)) func(item []byte) error {
	return func(item []byte) error {
		return fields(item, func(num protowire.Number, m []byte, _ uint64) {
			if num != objectFieldMetadata {
				return
			}
			_ = fields(m, func(num protowire.Number, v []byte, _ uint64) {
				if num == metaFieldName {
					each(string(v))
				}
			})
		})
	}
}

// Get reads one object.
func (c *Client) Get(ctx context.Context, path string) ([]byte, time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	asked := monotonic()
	body, at, err := c.open(ctx, c.http, Request{Path: path, Accept: AcceptJSON})
	if err != nil {
		return nil, at, err
	}
	c.answered(monotonic().Sub(asked))
	defer func() { _ = body.Close() }()
	b, err := io.ReadAll(io.LimitReader(body, maxObject+1))
	if err == nil && len(b) > maxObject {
		err = ErrTooBig
	}
	if err != nil {
		err = fmt.Errorf("read %s: %w", path, err)
	}
	return b, at, err
}

// Version reads the server's version, and selects paging if that version would build a
// whole list in memory.
func (c *Client) Version(ctx context.Context) (string, error) {
	b, _, err := c.Get(ctx, "/version")
	if err != nil {
		return "", err
	}
	var v struct{ Major, Minor, GitVersion string }
	if err := json.Unmarshal(b, &v); err != nil {
		return "", fmt.Errorf("read version: %w", err)
	}
	if !streams(v.GitVersion) {
		c.page.Store(pageSize)
	}
	return v.GitVersion, nil
}

// streams reports whether the server encodes lists incrementally: since 1.33.
func streams(version string) bool {
	var major, minor int
	if _, err := fmt.Sscanf(version, "v%d.%d", &major, &minor); err != nil {
		return false
	}
	return major > 1 || minor >= 33
}

// Resources lists the resources of an API group; none if the group does not exist.
func (c *Client) Resources(ctx context.Context, group string) ([]string, error) {
	b, _, err := c.Get(ctx, "/apis/"+group)
	if err != nil {
		return nil, err
	}
	var l struct{ Resources []struct{ Name string } }
	if err := json.Unmarshal(b, &l); err != nil {
		return nil, fmt.Errorf("read /apis/%s: %w", group, err)
	}
	var out []string
	for _, r := range l.Resources {
		out = append(out, r.Name)
	}
	return out, nil
}
