package controller

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"sync"
	"time"

	"plumbline.dev/plumbline/api/v1alpha1"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/controller/objects"
	"plumbline.dev/plumbline/internal/controller/shadow"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/kube/own"
	"plumbline.dev/plumbline/internal/metrics"
	"plumbline.dev/plumbline/internal/observe"
)

var shadowDecisions = metrics.NewGauge("shadow_decisions", "What the controller would have repaired, and how it turned out: open, right or wrong.", "code", "outcome")

// How often policies are read and followed, and how long to plan for one may take.
const (
	followEvery = 15 * time.Second
	planWithin  = 20 * time.Second
)

// policies follows the repair policies: decides, sees what became of it, and writes nothing but their status.
type policies struct {
	store *own.Store
	log   *slog.Logger
	tell  func([]metrics.Number)

	mu     sync.Mutex
	pass   *cluster.Pass                     // the last judgement; nil: none
	answer map[string]*v1alpha1.RepairPolicy // whose status is to be written, by name
	wrote  map[string]time.Duration          // when one was last written

	kept map[string]*kept // by UID; of run alone
	said string           // likewise: why they could not be read
	more int              // likewise: how many were not read
}

// kept is what is known of one policy.
type kept struct {
	spec   v1alpha1.RepairPolicySpec
	book   *shadow.Book
	status v1alpha1.RepairPolicyStatus
}

func newPolicies(store *own.Store, log *slog.Logger, tell func([]metrics.Number)) *policies {
	return &policies{store: store, log: log, tell: tell, answer: map[string]*v1alpha1.RepairPolicy{}, wrote: map[string]time.Duration{}, kept: map[string]*kept{}}
}

// judged takes the last judgement.
func (p *policies) judged(pass cluster.Pass) {
	r := *pass.Report
	r.View = r.View.Aside() // it is read beside others who read it
	pass.Report = &r
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pass = &pass
}

// run follows the policies until ctx ends.
func (p *policies) run(ctx context.Context) {
	for observe.Wait(ctx, followEvery) == nil {
		p.mu.Lock()
		pass := p.pass
		p.pass = nil // each judgement counts once
		p.mu.Unlock()
		if pass == nil {
			continue
		}
		all, more, err := p.store.Policies(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, observe.ErrNotThere): // the CRD is not installed
			all = nil
		case err != nil:
			if err.Error() != p.said { // once, not every time
				p.said = err.Error()
				p.log.Warn("repair policies not read", "error", err)
			}
			continue
		}
		p.said = ""
		if more != p.more {
			p.more = more
			p.log.Warn("repair policies not read: there are too many, or they are not understood", "count", more)
		}
		p.follow(ctx, all, pass)
	}
}

// follow takes one judgement for all policies.
func (p *policies) follow(ctx context.Context, all []v1alpha1.RepairPolicy, pass *cluster.Pass) {
	there := map[string]bool{}
	answer := map[string]*v1alpha1.RepairPolicy{}
	for i := range all {
		one := &all[i]
		there[string(one.UID)] = true
		k := p.of(one)
		switch {
		case i >= v1alpha1.MaxPolicies:
			k.book = newBook(one.Spec)
			k.status.State, k.status.Message = v1alpha1.PolicyRefused, fmt.Sprintf("only the first %d by name hold", v1alpha1.MaxPolicies)
		case one.Spec.Mode == v1alpha1.ModeOff:
			k.book = newBook(one.Spec)
			k.status.State, k.status.Message = v1alpha1.ModeOff, ""
		default:
			k.take(ctx, pass)
		}
		k.count()
		if !sameStatus(one.Status, k.status) {
			one.Status = k.status
			one.Status.Codes = slices.Clone(k.status.Codes)
			answer[one.Name] = one
		}
	}
	for uid := range p.kept {
		if !there[uid] {
			delete(p.kept, uid)
		}
	}
	p.mu.Lock()
	for name, at := range p.wrote {
		if observe.Uptime()-at >= betweenUpdates {
			delete(p.wrote, name)
		}
	}
	p.answer = answer
	p.mu.Unlock()
	p.tell(p.numbers())
}

// of gives what is known of a policy; scores of earlier leaders count on.
func (p *policies) of(one *v1alpha1.RepairPolicy) *kept {
	k := p.kept[string(one.UID)]
	if k == nil {
		k = &kept{spec: one.Spec, book: newBook(one.Spec), status: one.Status}
		p.kept[string(one.UID)] = k
	}
	if !reflect.DeepEqual(k.spec, one.Spec) { // what was decided by other rules is not scored
		k.spec, k.book = one.Spec, newBook(one.Spec)
	}
	return k
}

func newBook(spec v1alpha1.RepairPolicySpec) *shadow.Book {
	var codes []finding.Code
	for _, c := range spec.Codes {
		codes = append(codes, finding.Code(c))
	}
	return shadow.NewBook(codes, time.Duration(spec.MinAgeSeconds)*time.Second)
}

// take scores and decides.
func (k *kept) take(ctx context.Context, pass *cluster.Pass) {
	for _, o := range k.book.Score(pass.Report) {
		k.scored(o)
	}
	k.status.State, k.status.Message = v1alpha1.ModeShadow, ""
	if why := shadow.Blocked(pass.Report); why != "" {
		k.status.State, k.status.Message = v1alpha1.PolicyWaits, objects.Bounded(why, v1alpha1.MaxMessage)
		return
	}
	wants := k.book.Wants(pass.Report)
	if len(wants) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, planWithin)
	defer cancel()
	if refused := k.book.Decide(pass.Report, wants, pass.Plan(ctx, pass.Report, wants)); refused != "" {
		k.status.Message = objects.Bounded("not everything would be repaired: "+refused, v1alpha1.MaxMessage)
	}
}

// scored counts an outcome.
func (k *kept) scored(o shadow.Outcome) {
	d := v1alpha1.ShadowDecision{
		Finding: objects.Bounded(o.Finding, v1alpha1.MaxName), Outcome: v1alpha1.OutcomeWrong, Why: objects.Bounded(o.Why, v1alpha1.MaxMessage),
		Decided: v1alpha1.TimeOf(o.Decided.Time()), Scored: v1alpha1.TimeOf(o.Scored.Time()),
	}
	score := k.score(string(o.Code))
	if o.Right {
		d.Outcome = v1alpha1.OutcomeRight
		score.Right++
	} else {
		score.Wrong++
	}
	k.status.Recent = append([]v1alpha1.ShadowDecision{d}, k.status.Recent...)
	k.status.Recent = k.status.Recent[:min(len(k.status.Recent), v1alpha1.MaxDecisions)]
}

func (k *kept) score(code string) *v1alpha1.ShadowScore {
	for i := range k.status.Codes {
		if k.status.Codes[i].Code == code {
			return &k.status.Codes[i]
		}
	}
	k.status.Codes = append(slices.Clone(k.status.Codes), v1alpha1.ShadowScore{Code: code})
	return &k.status.Codes[len(k.status.Codes)-1]
}

// count completes the sums.
func (k *kept) count() {
	open := k.book.Open()
	for _, c := range k.spec.Codes {
		k.score(c)
	}
	k.status.Open, k.status.Right, k.status.Wrong = 0, 0, 0
	for i := range k.status.Codes {
		c := &k.status.Codes[i]
		c.Open = open[finding.Code(c.Code)]
		k.status.Open, k.status.Right, k.status.Wrong = k.status.Open+c.Open, k.status.Right+c.Right, k.status.Wrong+c.Wrong
	}
}

// numbers sums over all policies.
func (p *policies) numbers() (out []metrics.Number) {
	type row struct{ code, outcome string }
	sum := map[row]float64{}
	for _, k := range p.kept {
		for _, c := range k.status.Codes {
			sum[row{c.Code, "open"}] += float64(c.Open)
			sum[row{c.Code, "right"}] += float64(c.Right)
			sum[row{c.Code, "wrong"}] += float64(c.Wrong)
		}
	}
	for k, n := range sum {
		out = append(out, shadowDecisions.Is(n, k.code, k.outcome))
	}
	return out
}

// sameStatus compares them as they are stored: times have other zones when they are read.
func sameStatus(a, b v1alpha1.RepairPolicyStatus) bool {
	utc := func(s v1alpha1.RepairPolicyStatus) v1alpha1.RepairPolicyStatus {
		s.Recent, s.Codes = slices.Clone(s.Recent), slices.Clone(s.Codes)
		for i := range s.Recent {
			s.Recent[i].Decided.Time, s.Recent[i].Scored.Time = s.Recent[i].Decided.UTC(), s.Recent[i].Scored.UTC()
		}
		return s
	}
	return reflect.DeepEqual(utc(a), utc(b))
}

// answerNext writes the status of one policy, and reports whether there was one. Each is written once a minute at most;
// what fails is written when they are read again.
func (p *policies) answerNext(ctx context.Context) bool {
	now := observe.Uptime()
	p.mu.Lock()
	var one *v1alpha1.RepairPolicy
	for name, o := range p.answer {
		if at, wrote := p.wrote[name]; !wrote || now-at >= betweenUpdates {
			one = o
			delete(p.answer, name)
			p.wrote[name] = now
			break
		}
	}
	p.mu.Unlock()
	if one == nil {
		return false
	}
	if err := p.store.SetPolicyStatus(ctx, one); err != nil && ctx.Err() == nil {
		p.log.Warn("status of a repair policy not written", "policy", one.Name, "error", err)
	}
	return true
}
