package detect

import (
	"fmt"
	"time"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// renewedIn is the part of its life after which calico-node renews the plugin's token: a quarter.
// With a quarter left, three renewals have failed.
const renewedIn = 4

// lateToken is how much of a token's life may be left without a word.
const lateToken = 6 * time.Hour

// pluginToken reports a token of Calico's plugin that has ended, or that nobody renews.
func pluginToken(p *Pass, n *model.Node) *finding.Finding {
	if !p.Sees(n.Name, model.CNIConfigs) {
		return nil
	}
	c := p.CNISetupOn(n.Name).Calicos
	if c == nil || c.Expires.IsZero() {
		return nil
	}
	left, life := int64(c.Expires-p.Now), int64(c.Expires-c.Issued) // in seconds; a duration would overflow
	f := &finding.Finding{
		Subject: n.Ref(), Node: n.Name,
		Evidence: []finding.Evidence{{Ref: c.Ref(), Says: fmt.Sprintf("the plugin's token was issued at %s and ends at %s", c.Issued, c.Expires)}},
	}
	switch {
	case left <= 0:
		f.Summary = fmt.Sprintf("the CNI plugin's token ended at %s: no pod starts or ends there", c.Expires)
	case left < int64(lateToken.Seconds()) && left < life/renewedIn:
		f.Severity = finding.Warning
		f.Summary = fmt.Sprintf("the CNI plugin's token ends at %s, and calico-node has not renewed it: then no pod starts or ends there", c.Expires)
	default:
		return nil
	}
	return f
}
