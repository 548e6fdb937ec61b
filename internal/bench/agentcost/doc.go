// Package agentcost measures the agent on a full node of the lab, beside the bare engines:
// what it takes, how fast it answers, how soon it sees a change. It holds tests only and
// is built with the tag e2e.
package agentcost
