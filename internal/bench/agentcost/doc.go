// Package agentcost measures the agent on a full node of the lab, compared with bare
// calls of netlink and the CRI: its cost, the duration of its answers, and how soon it
// reports a change. It has tests only and is built with the tag e2e.
package agentcost
