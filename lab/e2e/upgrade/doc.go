// Package upgrade tests on the lab what Plumbline says and does while Calico is upgraded node by
// node under churn. It needs the lab and is built with the tag e2e.
package upgrade
