package write

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"time"

	"plumbline.dev/plumbline/internal/execute"
	"plumbline.dev/plumbline/internal/kube"
)

// maxPruned is how many ConfigMaps one run removes, at most.
const maxPruned = 100

var journalOK = regexp.MustCompile(`^` + journalPrefix + planName + `-[0-9]{1,4}$`)

// Prune removes the copies of journals that were created before a time of the API server's
// clock. All parts of a journal go in one run or in the next.
func (j JournalMaps) Prune(ctx context.Context, before time.Time) (n int, err error) {
	var old []identity
	_, err = j.Writer.client.List(ctx, j.at(), url.Values{"labelSelector": {journalLabel}, "limit": {"10"}}, func(item []byte) error {
		var o struct {
			Metadata struct {
				identity
				CreationTimestamp time.Time `json:"creationTimestamp"`
			} `json:"metadata"`
		}
		if err := json.Unmarshal(item, &o); err != nil {
			return err
		}
		m := &o.Metadata
		if journalOK.MatchString(m.Name) && !m.CreationTimestamp.IsZero() && m.CreationTimestamp.Before(before) && len(old) < maxPruned {
			old = append(old, m.identity)
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("list the copies of journals: %w", err)
	}
	for _, o := range old {
		body := fmt.Sprintf(`{"apiVersion":"v1","kind":"DeleteOptions","preconditions":{"uid":%q,"resourceVersion":%q}}`, o.UID, o.ResourceVersion)
		_, err := j.Writer.Write(ctx, http.MethodDelete, j.at()+"/"+o.Name, kube.AcceptJSON, nil, []byte(body))
		if errors.Is(err, execute.ErrStale) { // another run removes it, or writes to it
			continue
		}
		if err != nil {
			return n, fmt.Errorf("remove an old journal: %w", err)
		}
		n++
	}
	return n, nil
}
