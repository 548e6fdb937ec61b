package agent

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/iotest"
)

// answered is what a server that signs with key answers to a request of c, and how it was asked.
func answered(t *testing.T, key ed25519.PrivateKey, status int, kind, body string) ([]byte, Expected) {
	t.Helper()
	query := url.Values{"table": {"links"}, "x": {"ä b"}}
	head := NewCaller().Headers("token", "n1", http.MethodGet, PathTables, query, nil)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/"+PathTables+"?"+query.Encode(), nil)
	r.Header = head
	w := httptest.NewRecorder()
	SignAnswers(key, "n1", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		for len(body) > 0 { // in pieces, as handlers write
			n := min(len(body), 7000)
			_, _ = io.WriteString(w, body[:n])
			body = body[n:]
		}
	})).ServeHTTP(w, r)
	public, _ := key.Public().(ed25519.PublicKey)
	return w.Body.Bytes(), Expected{Of: "n1", Path: PathTables, Query: query, Header: head, Status: status, Key: func(bool) (ed25519.PublicKey, error) { return public, nil }}
}

func newKey(t *testing.T) ed25519.PrivateKey {
	t.Helper()
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func bodyOf(r io.Reader) io.ReadCloser { return io.NopCloser(r) }

func TestAnswersAreRead(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	for _, size := range []int{0, 1, answerEndLen - 1, answerEndLen, answerEndLen + 1, 7000, answerChunk, answerChunk + 1, 300_000} {
		text := strings.Repeat("0123456789", size/10+1)[:size]
		wire, want := answered(t, key, http.StatusOK, "application/json", text)
		for name, r := range map[string]io.Reader{"at once": bytes.NewReader(wire), "byte by byte": iotest.OneByteReader(bytes.NewReader(wire)), "end with data": iotest.DataErrReader(bytes.NewReader(wire))} {
			b := Verified(bodyOf(r), want)
			got, err := io.ReadAll(b)
			if err = errors.Join(err, b.Close()); err != nil || string(got) != text {
				t.Errorf("%d bytes, %s: got %d, %v", size, name, len(got), err)
			}
		}
		// Who reads only a part learns at the end whether it was signed.
		b := Verified(bodyOf(bytes.NewReader(wire)), want)
		_, _ = b.Read(make([]byte, 1))
		if err := b.Close(); err != nil {
			t.Errorf("%d bytes, closed early: %v", size, err)
		}
	}
}

// Nothing is accepted that the holder of the key did not answer to this request.
func TestForgedAnswers(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	text := strings.Repeat("address 10.0.0.1 is not in use\n", 3000)
	wire, want := answered(t, key, http.StatusOK, "text/plain", text)
	other, _ := answered(t, newKey(t), http.StatusOK, "text/plain", text)
	earlier, _ := answered(t, key, http.StatusOK, "text/plain", text)
	gone, _ := answered(t, key, http.StatusNotFound, "text/plain", text)
	refused, _ := answered(t, key, http.StatusForbidden, "text/plain", text)
	change := func(at int) []byte {
		b := bytes.Clone(wire)
		b[at] ^= 1
		return b
	}
	with := func(f func(*Expected)) Expected { w := want; f(&w); return w }
	for name, c := range map[string]struct {
		wire []byte
		want Expected
	}{
		"nothing":             {nil, want},
		"unsigned":            {[]byte(text), want},
		"refused":             {refused, want},
		"only the end":        {wire[len(text):], want},
		"cut off":             {wire[:len(text)/2], want},
		"signature cut off":   {wire[:len(wire)-1], want},
		"more after it":       {append(bytes.Clone(wire), "x"...), want},
		"first byte changed":  {change(0), want},
		"last byte changed":   {change(len(text) - 1), want},
		"signature changed":   {change(len(wire) - 20), want},
		"two of them":         {append(bytes.Clone(wire), wire...), want},
		"another key":         {other, want},
		"to another request":  {earlier, want},
		"another status":      {gone, want},
		"of another node":     {wire, with(func(e *Expected) { e.Of = "n2" })},
		"of another path":     {wire, with(func(e *Expected) { e.Path = PathDigest })},
		"to another question": {wire, with(func(e *Expected) { e.Query = url.Values{"table": {"routes"}} })},
		"no key":              {wire, with(func(e *Expected) { e.Key = func(bool) (ed25519.PublicKey, error) { return nil, ErrUnsignedAnswer } })},
	} {
		b := Verified(bodyOf(bytes.NewReader(c.wire)), c.want)
		if _, err := io.ReadAll(b); !errors.Is(err, ErrUnsignedAnswer) || b.Close() == nil {
			t.Errorf("%s: %v", name, err)
		}
		b = Verified(bodyOf(bytes.NewReader(c.wire)), c.want)
		_, _ = b.Read(make([]byte, 10))
		if err := b.Close(); !errors.Is(err, ErrUnsignedAnswer) {
			t.Errorf("%s, closed early: %v", name, err)
		}
	}
}

// A program that started again has another key: it is read again once.
func TestAnswerOfANewKey(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	wire, want := answered(t, key, http.StatusOK, "text/plain", "x")
	public, reads := want.Key, 0
	want.Key = func(fresh bool) (ed25519.PublicKey, error) {
		reads++
		if !fresh {
			old, _ := newKey(t).Public().(ed25519.PublicKey)
			return old, nil
		}
		return public(fresh)
	}
	if got, err := io.ReadAll(Verified(bodyOf(bytes.NewReader(wire)), want)); err != nil || string(got) != "x" || reads != 2 {
		t.Errorf("%q, %v, %d reads", got, err, reads)
	}
	want.Key = nil // none can be known
	if got, err := io.ReadAll(Verified(bodyOf(bytes.NewReader(wire)), want)); err != nil || string(got) != "x" {
		t.Errorf("without a key: %q, %v", got, err)
	}
}

// A stream of events does not end, and is not signed.
func TestEventsAreNotSigned(t *testing.T) {
	t.Parallel()
	if wire, _ := answered(t, newKey(t), http.StatusOK, "text/event-stream; charset=utf-8", "data: 1\n\n"); string(wire) != "data: 1\n\n" {
		t.Errorf("%q", wire)
	}
}

func FuzzVerified(f *testing.F) {
	_, key, _ := ed25519.GenerateKey(nil)
	public, _ := key.Public().(ed25519.PublicKey)
	f.Add([]byte(answerEnd), 3)
	f.Fuzz(func(t *testing.T, wire []byte, first int) {
		b := Verified(bodyOf(bytes.NewReader(wire)), Expected{Key: func(bool) (ed25519.PublicKey, error) { return public, nil }})
		_, _ = b.Read(make([]byte, max(0, min(first, 1000))))
		if b.Close() == nil {
			t.Error("accepted")
		}
	})
}
