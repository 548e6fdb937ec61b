// Package watch tests on the lab that check --watch reports which findings appear and
// disappear, and measures its delay and cost, on clusters of up to 300,000 pods. It
// needs the lab and is built with the tag e2e.
package watch
