package agent

import (
	"bytes"
	"cmp"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"hash"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
)

// An answer ends with a signature of all of it. Between a caller and an agent or the controller are the API server, which
// verifies no certificate, and the network, which may be what is broken: another pod with the same address could answer.
const (
	answerEnd    = "\nplumbline-signature "
	answerEndLen = len(answerEnd) + 88 + 1 // base64 of the signature, and a newline
)

// ErrUnsignedAnswer means that whoever answered is not who published the key, or that the answer was changed or cut off.
var ErrUnsignedAnswer = errors.New("the answer is not signed with the key that was published: it is cut off, or somebody else answered")

// answerText is what a signature covers: the request, by its nonce, and the answer.
func answerText(of, path, nonce string, query url.Values, status int, sum []byte) []byte {
	return fmt.Appendf(nil, "plumbline answer v1\n%q %q %q %q %d %x", of, "/"+strings.TrimPrefix(path, "/"), query.Encode(), nonce, status, sum)
}

// SignAnswers signs the answers of h, which answers for a node or for the controller: those that succeed, and those that there is
// nothing of a name. Streams of events, which do not end, are not signed.
func SignAnswers(key ed25519.PrivateKey, of string, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := &signingWriter{ResponseWriter: w, sum: sha256.New()}
		path, query := r.URL.Path, r.URL.Query()
		h.ServeHTTP(s, r)
		if s.status == 0 {
			s.WriteHeader(http.StatusOK)
		}
		if !s.signs {
			return
		}
		signature := ed25519.Sign(key, answerText(of, path, NonceOf(r), query, s.status, s.sum.Sum(nil)))
		_, _ = io.WriteString(w, answerEnd+base64.StdEncoding.EncodeToString(signature)+"\n") // the caller may have gone
	})
}

// A signingWriter sums up what is written.
type signingWriter struct {
	http.ResponseWriter
	sum    hash.Hash
	status int
	signs  bool
}

func (s *signingWriter) WriteHeader(status int) {
	if s.status == 0 {
		s.status = status
		kind, _, _ := mime.ParseMediaType(s.Header().Get("Content-Type"))
		s.signs = (status == http.StatusOK || status == http.StatusNotFound) && kind != "text/event-stream"
		s.Header().Del("Content-Length")
	}
	s.ResponseWriter.WriteHeader(status)
}

func (s *signingWriter) Write(b []byte) (int, error) {
	if s.status == 0 {
		s.WriteHeader(http.StatusOK)
	}
	n, err := s.ResponseWriter.Write(b)
	s.sum.Write(b[:n])
	return n, err
}

// Unwrap lets http.ResponseController flush and set deadlines.
func (s *signingWriter) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// An Expected says what an answer must be signed for, and with which key.
type Expected struct {
	Of, Path string
	Query    url.Values
	Header   http.Header // of the request
	Status   int         // of the answer; 0 means http.StatusOK
	// Key returns the published key; with fresh it is read again, because a program has a new key after each start. nil means
	// that none can be known: the signature is removed and not verified, and the caller reports so.
	Key func(fresh bool) (ed25519.PublicKey, error)
}

// Verified returns the body without its signature. Reading its end, or closing it earlier, is an error if the signature is
// not what was expected: nothing of it may be used then.
func Verified(body io.ReadCloser, want Expected) io.ReadCloser {
	return &verifiedBody{body: body, want: want, sum: sha256.New()}
}

type verifiedBody struct {
	body io.ReadCloser
	want Expected
	sum  hash.Hash
	held []byte // what may be the signature, and what was not given out yet before it
	err  error  // set at the end
}

const answerChunk = 32 << 10

func (v *verifiedBody) Read(p []byte) (int, error) {
	for len(v.held) <= answerEndLen && v.err == nil {
		at := len(v.held)
		v.held = append(v.held, make([]byte, answerChunk)...)
		n, err := v.body.Read(v.held[at:])
		v.held = v.held[:at+n]
		if errors.Is(err, io.EOF) {
			err = v.verify()
		}
		v.err = err
	}
	n := copy(p, v.held[:max(0, len(v.held)-answerEndLen)])
	if n == 0 && v.err != nil {
		return 0, v.err
	}
	if v.err == nil {
		v.sum.Write(p[:n])
	}
	v.held = v.held[n:]
	return n, nil
}

// verify returns io.EOF if the signature is right.
func (v *verifiedBody) verify() error {
	at := len(v.held) - answerEndLen
	if at < 0 || !bytes.HasPrefix(v.held[at:], []byte(answerEnd)) {
		return ErrUnsignedAnswer
	}
	signature, err := base64.StdEncoding.DecodeString(string(bytes.TrimSuffix(v.held[at+len(answerEnd):], []byte("\n"))))
	if err != nil {
		return ErrUnsignedAnswer
	}
	if v.want.Key == nil {
		return io.EOF
	}
	v.sum.Write(v.held[:at])
	text := answerText(v.want.Of, v.want.Path, v.want.Header.Get(headerNonce), v.want.Query, cmp.Or(v.want.Status, http.StatusOK), v.sum.Sum(nil))
	for _, fresh := range []bool{false, true} {
		key, err := v.want.Key(fresh)
		if err != nil {
			return err
		}
		if len(key) == ed25519.PublicKeySize && ed25519.Verify(key, text, signature) {
			return io.EOF
		}
	}
	return ErrUnsignedAnswer
}

// mostUnread bounds what is read of an answer after its reader has what it needs.
const mostUnread = 1 << 20

// Close reads what is left, within bounds, so that the signature is verified whatever was read before.
func (v *verifiedBody) Close() error {
	if v.err == nil {
		_, err := io.CopyN(io.Discard, v, mostUnread)
		if err == nil {
			err = ErrUnsignedAnswer
		}
		if !errors.Is(err, io.EOF) {
			return errors.Join(err, v.body.Close())
		}
	} else if !errors.Is(v.err, io.EOF) {
		return errors.Join(v.err, v.body.Close())
	}
	return v.body.Close()
}
