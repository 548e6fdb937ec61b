//go:build e2e

package server_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"flag"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/lab"
)

var floodFor = flag.Duration("flood", 5*time.Second, "how long forged requests are sent")

// flood: a hundred forged requests a second keep no good caller out, and cost the API server next
// to nothing.
func flood(t *testing.T, l *lab.Lab, a *asker) {
	ctx, cancel := context.WithTimeout(t.Context(), *floodFor)
	defer cancel()
	stranger := agent.NewCaller()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	kid := kidOf(t, token(t, l, "plumbline-system", "plumbline-reader", stranger.Audience()))
	before := reviews(t, l)
	var wg sync.WaitGroup
	var forged, in atomic.Int64
	wg.Go(func() {
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for n := 0; ; n++ {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			name := kid
			if n%10 == 0 {
				name = rand.Text() // now and then a key that nobody has
			}
			text := forge(key, name, stranger.Audience())
			wg.Go(func() {
				forged.Add(1)
				if code, _ := a.sent(context.WithoutCancel(ctx), http.MethodGet, agent.PathDigest, stranger.Headers(text, "node1", http.MethodGet, agent.PathDigest, nil, nil)); code == http.StatusOK {
					in.Add(1)
				}
			})
		}
	})
	good, bad := 0, 0
	for ctx.Err() == nil { // a new good caller each second, from the same address
		caller := askAs(t, l, "plumbline-reader")
		body, err := caller.Open(context.WithoutCancel(ctx), "node1", agent.PathDigest, nil)
		if err != nil {
			t.Logf("a good caller: %v", err)
			bad++
		} else {
			_ = body.Close()
			good++
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
	wg.Wait()
	asked := reviews(t, l) - before
	t.Logf("%d forged requests in %s: %d let in; good callers: %d answered, %d not; the API server was asked %d times", forged.Load(), *floodFor, in.Load(), good, bad, asked)
	if limit := int(floodFor.Seconds()) + good + 1; in.Load() > 0 || bad > 0 || good == 0 || asked > limit || forged.Load() < int64(floodFor.Seconds()*20) {
		t.Errorf("want at most %d reviews", limit)
	}
}

func kidOf(t *testing.T, token string) string {
	t.Helper()
	head, _, _ := strings.Cut(token, ".")
	b, err := base64.RawURLEncoding.DecodeString(head)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), `"kid":"`)
	kid, _, _ := strings.Cut(rest, `"`)
	return kid
}

// forge makes a token like the API server's, signed with another key.
func forge(key *ecdsa.PrivateKey, kid, audience string) string {
	b64 := base64.RawURLEncoding.EncodeToString
	text := b64(fmt.Appendf(nil, `{"alg":"ES256","kid":%q}`, kid)) + "." +
		b64(fmt.Appendf(nil, `{"aud":[%q],"exp":%d,"sub":"system:serviceaccount:plumbline-system:plumbline-reader","jti":%q}`, audience, time.Now().Add(time.Hour).Unix(), rand.Text()))
	sum := sha256.Sum256([]byte(text))
	r, s, _ := ecdsa.Sign(rand.Reader, key, sum[:])
	sig := make([]byte, 64)
	r.FillBytes(sig[:32])
	s.FillBytes(sig[32:])
	return text + "." + b64(sig)
}

// reviews counts the token reviews that the API server answered.
func reviews(t *testing.T, l *lab.Lab) (n int) {
	t.Helper()
	b, err := l.Do(t.Context(), http.MethodGet, "/metrics", "")
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(bytes.NewReader(b))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		if !strings.HasPrefix(line, "apiserver_request_total{") || !strings.Contains(line, `resource="tokenreviews"`) {
			continue
		}
		v, err := strconv.ParseFloat(line[strings.LastIndexByte(line, ' ')+1:], 64)
		if err != nil {
			t.Fatal(err)
		}
		n += int(v)
	}
	return n
}
