//go:build e2e

package guard

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/stage"
)

// writes starts and ends pods one after the other, and counts the writes of IPAM
// records meanwhile. Accounts of ours may write nothing but their own leases and reviews.
func writes(ctx context.Context, s *stage.Stage, count map[string]int) error {
	const pods = 3
	before, err := os.ReadFile(s.AuditLog())
	if err != nil {
		return err
	}
	files, err := nodeFiles(ctx, s)
	if err != nil {
		return err
	}
	for i := range pods {
		name := fmt.Sprintf("plain-%d", i)
		if _, err := s.Run(ctx, stage.PodSpec{Name: name, Node: "node2"}); err != nil {
			return err
		}
		if err := s.Delete(ctx, name); err != nil {
			return err
		}
	}
	time.Sleep(2 * time.Second)
	after, err := os.ReadFile(s.AuditLog())
	if err != nil {
		return err
	}
	if err := stage.Expect(bytes.HasPrefix(after, before), "the audit log to have grown only"); err != nil {
		return err
	}
	for line := range bytes.Lines(after[len(before):]) {
		if w, ok := writeOf(line); ok && w.foreign() {
			return fmt.Errorf("the guard wrote: %s", line)
		} else if ok && strings.HasPrefix(w.ObjectRef.Resource, "ipam") {
			count[w.Verb+" "+w.ObjectRef.Resource]++
		}
	}
	now, err := nodeFiles(ctx, s)
	if err != nil {
		return err
	}
	return stage.Expect(slices.Equal(files, now), "the same files as before, got %q, before %q", now, files)
}

// A write has the fields of an entry in the audit log that are used here.
type write struct {
	Verb      string
	UserAgent string
	User      struct{ Username string }
	ObjectRef struct{ Resource, Subresource, Namespace, APIGroup string }
}

func writeOf(line []byte) (w write, ok bool) {
	if json.Unmarshal(line, &w) != nil {
		return w, false // the last line may be incomplete
	}
	return w, slices.Contains([]string{"create", "update", "patch", "delete", "deletecollection"}, w.Verb)
}

// foreign reports whether a program of ours wrote an object that is not its own.
func (w write) foreign() bool {
	ours := strings.HasPrefix(w.User.Username, "system:serviceaccount:"+lab.AgentNamespace+":") || strings.HasPrefix(w.UserAgent, "plumbline")
	own := w.ObjectRef.Resource == "leases" && w.ObjectRef.Namespace == lab.AgentNamespace || w.ObjectRef.Resource == "tokenreviews" || w.ObjectRef.Resource == "subjectaccessreviews"
	return ours && !own
}

// nodeFiles lists the files of CNI and Calico on a node, without those of running pods.
func nodeFiles(ctx context.Context, s *stage.Stage) ([]string, error) {
	n, err := s.Node(ctx, 2)
	if err != nil {
		return nil, err
	}
	out, err := n.Exec(ctx, "sh", "-c", "find /etc/cni /opt/cni /var/lib/cni /var/lib/calico /etc/calico -type f -exec sha256sum {} + | grep -v '\\.lock$' | grep -v /plumbline-cni | sort")
	return strings.Fields(out), err
}
