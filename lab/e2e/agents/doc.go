// Package agents kills the agents of a churning cluster again and again: nothing may be
// left of them, and whatever comes back must be as good as new. It needs the lab and is
// built with the tag e2e.
package agents
