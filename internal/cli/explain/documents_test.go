package explain

import (
	"testing"

	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/cli/term/termtest"
)

// What is read of a live cluster only is made of a bundle here: its documents are what their schemas say.
func TestDocumentsOfLiveCluster(t *testing.T) {
	t.Parallel()
	show := func(sess *term.Session, kind string) error {
		sess.Bundle = "../demo/bundle.tar.gz"
		f := flags{output: "json"}
		e, done, err := endIn(t.Context(), sess, "late-del", "etcd1-0", f)
		if err != nil {
			return err
		}
		defer done()
		if kind == "WayExplanation" {
			peer, done, err := endIn(t.Context(), sess, "late-del", "peer", f)
			if err != nil {
				return err
			}
			defer done()
			return showWay(t.Context(), sess, e, peer, "json")
		}
		return printReport(sess, e.r, kind, "json")
	}
	for _, kind := range []string{"AddressExplanation", "HandleExplanation", "PodExplanation", "WayExplanation"} {
		termtest.Conforms(t, kind, func(sess *term.Session) {
			if err := show(sess, kind); err != nil {
				t.Errorf("%s: %v", kind, err)
			}
		})
	}
}
