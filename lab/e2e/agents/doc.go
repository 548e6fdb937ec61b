// Package agents kills the agents of a churning cluster repeatedly: nothing of them may
// remain, and restarted agents must work as before. It needs the lab and is built with
// the tag e2e.
package agents
