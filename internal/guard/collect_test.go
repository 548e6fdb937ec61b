package guard

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// aNode has ten attachments that live, and one, "dead", for which nothing speaks.
func aNode() Alive {
	var a Alive
	for i := range 10 {
		o := *of(fmt.Sprint("c", i), uint64(i), Added)
		a.Recorded = append(a.Recorded, Lived{Owner: o, Gone: true})
		a.Sandboxes = append(a.Sandboxes, o.Container)
	}
	a.Recorded = append(a.Recorded, Lived{Owner: *of("dead", 11, Added), Gone: true})
	return a
}

func TestCollectable(t *testing.T) {
	dead := []Key{{"net", "dead", "eth0"}}
	for name, test := range map[string]struct {
		spoil   func(*Alive)
		want    []Key
		refused string
	}{
		"one is dead":             {func(*Alive) {}, dead, ""},
		"its namespace may live":  {func(a *Alive) { a.Recorded[10].Gone = false }, nil, ""},
		"its ADD may run":         {func(a *Alive) { a.Recorded[10].Gone, a.Recorded[10].State = false, Adding }, nil, ""},
		"its ADD failed":          {func(a *Alive) { a.Recorded[10].Gone, a.Recorded[10].State = false, Failed }, dead, ""},
		"it is deleted":           {func(a *Alive) { a.Recorded[10].State = Deleted }, nil, ""},
		"the runtime has it":      {func(a *Alive) { a.Sandboxes = append(a.Sandboxes, "dead") }, nil, ""},
		"a call is running":       {func(a *Alive) { a.Calls = []string{"dead"} }, nil, ""},
		"its result is young":     {func(a *Alive) { a.Cached = []Cached{{dead[0], 10*time.Minute - 1}} }, nil, ""},
		"its result is old":       {func(a *Alive) { a.Cached = []Cached{{dead[0], 10 * time.Minute}} }, dead, ""},
		"only a result, and old":  {func(a *Alive) { a.Recorded = a.Recorded[:10]; a.Cached = []Cached{{dead[0], time.Hour}} }, dead, ""},
		"it has no container":     {func(a *Alive) { a.Recorded[10].Container = "" }, nil, ""},
		"the runtime fails":       {func(a *Alive) { a.Failed = errors.New("no socket") }, nil, "no socket"},
		"the runtime has nothing": {func(a *Alive) { a.Sandboxes = nil }, nil, "no sandbox at all"},
		"the runtime forgot two":  {func(a *Alive) { a.Sandboxes = a.Sandboxes[2:] }, nil, "3 of 11"},
		"two of ten are just a fifth": {
			func(a *Alive) { a.Sandboxes = a.Sandboxes[1:]; a.Recorded = append(a.Recorded[:1], a.Recorded[2:]...) },
			[]Key{{"net", "c0", "eth0"}, dead[0]},
			"",
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := aNode()
			test.spoil(&a)
			got, refused := Collectable(a)
			if !slices.Equal(got, test.want) || (refused == "") != (test.refused == "") || !strings.Contains(refused, test.refused) {
				t.Errorf("%v, %q", got, refused)
			}
		})
	}
}
