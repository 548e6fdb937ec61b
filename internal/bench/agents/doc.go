// Package agents has the program that people run ask thousands of agents, which one process
// answers for, through the API server's real proxy and with real tokens, and measures it
// beside bare requests for the same bodies. It holds tests only; they need the lab and are
// built with the tag e2e.
package agents
