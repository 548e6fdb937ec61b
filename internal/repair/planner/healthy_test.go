package planner

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// Where pods come and go, the one that shows how Calico writes endpoints may just have gone:
// the next one will do.
func TestAnotherEndpointShowsHowItIsWritten(t *testing.T) {
	t.Parallel()
	c := rescueCase{path: "gone", world: "etcd", edits: "endpoints.jsonl name=n1-k8s-web-eth0 -\n", asks: "PL2001/shop/web\n"}
	v := c.view(t)
	fs := c.findings(t, v)
	for gone, planned := range map[int]bool{0: true, 1: true, 1000: false} {
		o := rescueOptions()
		read, asked := o.EndpointJSON, 0
		o.EndpointJSON = func(ns, name string) (json.RawMessage, error) {
			if asked++; asked <= gone {
				return nil, errors.New("no such endpoint")
			}
			return read(ns, name)
		}
		p := Make(v, fs, o)
		if (len(p.Steps) > 0) != planned || asked > maxHealthy {
			t.Errorf("%d gone: %d steps after %d asked, refused %v", gone, len(p.Steps), asked, p.Refused)
		}
		if !planned && (len(p.Refused) == 0 || !strings.Contains(p.Refused[0].Why, "no such endpoint")) {
			t.Errorf("refused %v", p.Refused)
		}
	}
}
