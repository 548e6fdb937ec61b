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
func aNode() InUse {
	var a InUse
	for i := range 10 {
		o := *of(fmt.Sprint("c", i), uint64(i), Added)
		a.Recorded = append(a.Recorded, RecordedOwner{Owner: o, Gone: true})
		a.Sandboxes = append(a.Sandboxes, o.Container)
	}
	a.Recorded = append(a.Recorded, RecordedOwner{Owner: *of("dead", 11, Added), Gone: true})
	return a
}

func TestCollectable(t *testing.T) {
	dead := []Key{{"net", "dead", "eth0"}}
	for name, test := range map[string]struct {
		spoil   func(*InUse)
		want    []Key
		refused string
	}{
		"one is dead":             {func(*InUse) {}, dead, ""},
		"its namespace may live":  {func(a *InUse) { a.Recorded[10].Gone = false }, nil, ""},
		"its ADD may run":         {func(a *InUse) { a.Recorded[10].Gone, a.Recorded[10].State = false, Adding }, nil, ""},
		"its ADD failed":          {func(a *InUse) { a.Recorded[10].Gone, a.Recorded[10].State = false, Failed }, dead, ""},
		"it is deleted":           {func(a *InUse) { a.Recorded[10].State = Deleted }, nil, ""},
		"the runtime has it":      {func(a *InUse) { a.Sandboxes = append(a.Sandboxes, "dead") }, nil, ""},
		"a call is running":       {func(a *InUse) { a.Calls = []string{"dead"} }, nil, ""},
		"its result is young":     {func(a *InUse) { a.Cached = []Cached{{dead[0], 10*time.Minute - 1}} }, nil, ""},
		"its result is old":       {func(a *InUse) { a.Cached = []Cached{{dead[0], 10 * time.Minute}} }, dead, ""},
		"only a result, and old":  {func(a *InUse) { a.Recorded = a.Recorded[:10]; a.Cached = []Cached{{dead[0], time.Hour}} }, dead, ""},
		"it has no container":     {func(a *InUse) { a.Recorded[10].Container = "" }, nil, ""},
		"the runtime fails":       {func(a *InUse) { a.Failed = errors.New("no socket") }, nil, "no socket"},
		"the runtime has nothing": {func(a *InUse) { a.Sandboxes = nil }, nil, "no sandbox at all"},
		"the runtime forgot two":  {func(a *InUse) { a.Sandboxes = a.Sandboxes[2:] }, nil, "3 of 11"},
		"two of ten are just a fifth": {
			func(a *InUse) { a.Sandboxes = a.Sandboxes[1:]; a.Recorded = append(a.Recorded[:1], a.Recorded[2:]...) },
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
