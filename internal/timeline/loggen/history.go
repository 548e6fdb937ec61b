package loggen

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"time"
)

// A Plan configures a history.
type Plan struct {
	Seed      uint64
	Nodes     int
	Incidents int           // number of incidents
	Pods      int           // number of ordinary pod names, of which some return
	Lasts     time.Duration // from its first line to its last
	Noise     float64       // the least share of lines that are of no incident
	Lines     int           // the least number of lines
	Drop      float64       // the share of lines that are dropped
	Begin     time.Time
}

// Default is the plan of a small history.
func Default(seed uint64, nodes int) Plan {
	return Plan{
		Seed: seed, Nodes: nodes, Incidents: max(2, nodes/5), Pods: nodes, Lasts: 40 * time.Minute, Noise: 0.95, Drop: 0.01,
		Begin: time.Date(2018+int(seed%9), time.Month(1+seed%12), 1+int(seed%27), 9, 0, 0, 0, time.UTC),
	}
}

// A Node has its own files and its own clock.
type Node struct {
	Name    string
	Old     bool // its kubelet and CNI plugin are of 2017 and log to one file
	skew    int64
	block   string // first address of its block
	spare   string // an address that no pod of a scene has
	kubelet string // PID
	taken   map[string][]stay
	busy    bool // reserved by an incident
}

// stay is how long a pod has an address.
type stay struct{ from, to time.Duration }

// A History is the logs of a cluster and the verdicts that must be found in them.
type History struct {
	Plan
	namer
	Nodes     []*Node
	Truth     []Truth
	templates map[string][]*template // by kind
	begin     int64
	skew      int64 // of the control plane
	signal    bool
	lines     []written
	files     []string
	numbers   map[string]int
}

// Make generates a history.
func Make(p Plan) (*History, error) {
	all, err := templates()
	if err != nil {
		return nil, err
	}
	r := rand.New(rand.NewPCG(p.Seed, 2017)) // a history must be reproducible
	h := &History{
		Plan: p, namer: namer{Rand: r, pods: map[string]bool{}, pid: 300}, templates: map[string][]*template{},
		begin: p.Begin.UnixNano(), numbers: map[string]int{},
	}
	for _, t := range all {
		h.templates[t.Kind] = append(h.templates[t.Kind], t)
	}
	for _, of := range h.templates { // the order of a map is random
		slices.SortFunc(of, func(a, b *template) int { return cmp.Compare(a.Name, b.Name) })
	}
	h.skew = h.anySkew()
	for i := range p.Nodes {
		h.Nodes = append(h.Nodes, &Node{
			Name: fmt.Sprintf("rack%d-n%03d", i%7, i), Old: i%4 == 3, skew: h.anySkew(), kubelet: fmt.Sprint(1000 + r.IntN(30000)),
			block: fmt.Sprintf("10.%d.%d.64", 64+i/200, i%200), spare: fmt.Sprintf("10.%d.%d.127", 64+i/200, i%200), taken: map[string][]stay{},
		})
	}
	h.incidents()
	h.ordinary()
	h.noise()
	h.lose()
	return h, nil
}

// maxSkew is the largest error of a clock.
const maxSkew = 2 * time.Second

func (h *History) anySkew() int64 { return h.Int64N(2*int64(maxSkew)+1) - int64(maxSkew) }

// file gives the number of a node's or the control plane's file, and its owner's skew.
func (h *History) file(n *Node, name string) (number int, skew int64) {
	dir := n.Name
	skew = n.skew
	switch name {
	case "audit.log", "kube-controllers.log", "kube-controller-manager.log", "kube-apiserver.log":
		dir, skew = "control-plane", h.skew
	}
	p := path.Join(dir, name)
	number, ok := h.numbers[p]
	if !ok {
		number = len(h.files)
		h.numbers[p] = number
		h.files = append(h.files, p)
	}
	return number, skew
}

// lose drops some lines.
func (h *History) lose() {
	for i := range h.lines {
		h.lines[i].dropped = h.Float64() < h.Drop
	}
}

// Files gives the files, each in the order of its clock.
func (h *History) Files() map[string][]byte {
	order := make([]int, len(h.lines))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(h.lines[a].at, h.lines[b].at) })
	out := make([]bytes.Buffer, len(h.files))
	for _, i := range order {
		if l := &h.lines[i]; !l.dropped {
			out[l.file].WriteString(l.text)
			out[l.file].WriteByte('\n')
		}
	}
	files := map[string][]byte{}
	for i, name := range h.files {
		files[name] = out[i].Bytes()
	}
	return files
}
