// Package agents measures check with thousands of agents, which one process simulates,
// through the API server's real proxy and with real tokens, compared with bare requests
// for the same bodies. It has tests only; they need the lab and are built with the tag
// e2e.
package agents
