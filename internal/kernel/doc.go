// Package kernel reads the node's kernel state of the pod network: interfaces, routes,
// rules, neighbours, sysctls, and the inside of the pods' network namespaces. It runs in
// the host's network namespace and uses netlink and procfs. It can change a few of them,
// one at a time; each change verifies the object immediately before.
package kernel
