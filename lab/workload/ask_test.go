package main

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestAskCountsLostRequests: a server that does not answer for a while loses requests,
// one that answers loses none.
func TestAskCountsLostRequests(t *testing.T) {
	t.Parallel()
	for try := 1; ; try++ {
		if wrong, stalled := lostRequests(t); wrong == "" || !stalled || try == 5 { // a machine that stands still measures nothing
			if wrong != "" {
				t.Error(wrong)
			}
			break
		}
	}
	var a asking
	if err := a.start(nil, ""); err == nil {
		t.Error("a measurement without targets was accepted")
	}
}

func lostRequests(t *testing.T) (wrong string, stalled bool) {
	t.Helper()
	var silent atomic.Bool
	gone := make(chan struct{})
	serve := func(name string, may func() bool) *httptest.Server {
		return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if !may() {
				<-gone
				return
			}
			_, _ = w.Write([]byte("host=" + name + " local\n"))
		}))
	}
	good := serve("good", func() bool { return true })
	bad := serve("bad", func() bool { return !silent.Load() })
	defer good.Close()
	defer bad.Close()
	var a asking
	if err := a.start([]string{good.URL, bad.URL}, ""); err != nil {
		t.Fatal(err)
	}
	time.Sleep(500 * time.Millisecond)
	silent.Store(true)
	time.Sleep(patience + 500*time.Millisecond)
	a.end()
	close(gone)
	g, b := a.targets[0], a.targets[1]
	if g.Lost != 0 || g.Broken != 0 || g.Host != "good" || g.Asked < 20 {
		wrong = fmt.Sprintf("good: %+v", g)
	}
	if b.Lost < 5 || b.Broken == 0 || b.First == "" || b.Host != "bad" {
		wrong += fmt.Sprintf(" bad: %+v", b)
	}
	a.end() // a second call does nothing
	return wrong, g.Stalled+b.Stalled > 0
}

// TestAskChecksWhichPodAnswers: an answer of another pod does not count.
func TestAskChecksWhichPodAnswers(t *testing.T) {
	t.Parallel()
	var x target
	x.note(time.Now(), "a", false, nil)
	x.note(time.Now(), "b", false, nil)
	x.settle(&stalls{all: []span{{time.Now().Add(-time.Hour), time.Now()}}})
	if x.Asked != 2 || x.Lost != 1 || !strings.Contains(x.First, "b answered, not a") {
		t.Errorf("%+v", &x)
	}
}

// TestAskDoesNotJudgeAStandstill: what is lost while the machine stands still does not
// count; what is lost before or after does.
func TestAskDoesNotJudgeAStandstill(t *testing.T) {
	t.Parallel()
	at := func(ms int) time.Time { return time.UnixMilli(int64(ms)) }
	var s stalls
	s.note(at(0), at(20))      // nothing
	s.note(at(5000), at(6000)) // a second
	x := target{slow: 1, losses: []loss{
		{span: span{at(0), at(2000)}, err: errors.New("before")},
		{span: span{at(3600), at(5400)}, err: errors.New("too little of it")},
		{span: span{at(4000), at(6000)}, err: errors.New("within"), kept: true},
		{span: span{at(5500), at(7500)}, err: errors.New("its end")},
		{span: span{at(5600), at(7600)}, err: errors.New("after"), kept: true},
	}}
	x.settle(&s)
	if x.Lost != 3 || x.Stalled != 2 || x.Broken != 1 || !strings.Contains(x.First, "before") {
		t.Errorf("%+v", &x)
	}
}

func TestResent(t *testing.T) {
	t.Parallel()
	const snmp = "Ip: Forwarding\nIp: 1\nTcp: RtoAlgorithm InSegs RetransSegs InErrs\nTcp: 1 900 17 0\nUdp: x\n"
	if got := resentOf(snmp); got != 17 {
		t.Errorf("got %d", got)
	}
	for _, s := range []string{"", "Tcp:", "Tcp: RetransSegs\nTcp:", "Tcp: RetransSegs\nTcp: x"} {
		if got := resentOf(s); got != 0 {
			t.Errorf("%q: got %d", s, got)
		}
	}
}
